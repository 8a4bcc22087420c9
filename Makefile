# Two commands need nothing else: `make run PROMPT="..."` and `make test`. The rest is for those who work on minfer.
PROMPT ?= What is the capital of France?
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)

# So that a prompt may hold any character: make exports it, the shell quotes it.
export PROMPT

.PHONY: run build test long asan tsan fuzz clean

run:
	@scripts/install-deps.sh build
	@cmake --preset release -DMINFER_TESTS=OFF -DMINFER_BENCH=OFF >build.log 2>&1 || { cat build.log >&2; exit 1; }
	@cmake --build build --target minfer --parallel $(JOBS) >&2
	@build/bin/minfer run default --temp 0 --system "You are a helpful assistant." -- "$$PROMPT"

build:
	scripts/install-deps.sh build
	cmake --preset release -DMINFER_TESTS=ON -DMINFER_BENCH=ON
	cmake --build build --parallel $(JOBS)

# Every test. `ctest --test-dir build -L LABEL` runs one label of HACKING.md.
test:
	scripts/install-deps.sh test
	cmake --preset release -DMINFER_TESTS=ON -DMINFER_BENCH=ON
	cmake --build build --parallel $(JOBS)
	ctest --test-dir build --output-on-failure --no-tests=error

# Tests that take many minutes, beside those above.
long: build
	ctest --test-dir build --output-on-failure --no-tests=error -C long -L long

# Both with clang 19: it compiles the flattened integer kernels in a fraction of the time, and AddressSanitizer of g++ 13
# made an AVX-512 store crash that is right without it.
asan tsan:
	scripts/install-deps.sh sanitize
	cmake --preset $@
	cmake --build --preset $@ --parallel $(JOBS)
	ctest --test-dir build-$@ --output-on-failure --no-tests=error -LE qemu

# Needs clang++-19. Each target in build-fuzz/bin takes a corpus folder and libFuzzer's options.
fuzz:
	scripts/install-deps.sh build
	cmake --preset fuzz
	cmake --build --preset fuzz --parallel $(JOBS)

clean:
	rm -rf build build-* build.log
