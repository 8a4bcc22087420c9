#!/bin/sh
# Installs what a target of the Makefile needs and this machine lacks: `install-deps.sh build`, `... test` or
# `... sanitize`.
# Does nothing, and asks for no rights, if everything is there.
set -eu

purpose=${1:-build}
case $purpose in build | test | sanitize) ;; *) echo "usage: $0 build|test|sanitize" >&2; exit 2 ;; esac

fail() { echo "install-deps: $1" >&2; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else fail "not root and no sudo; run as root: $*"; fi
}

install_debian() {
  packages="make cmake ninja-build g++ pkg-config libfmt-dev nlohmann-json3-dev libcli11-dev libpcre2-dev"
  packages="$packages libutf8proc-dev libssl-dev libcurl4-openssl-dev libedit-dev ca-certificates doctest-dev"
  packages="$packages python3 python3-pip"
  # The Arm kernels are tested under qemu, chat templates beside Jinja2. The software Metal device compiles kernels
  # with clang 19 and reads their debug information with libdw.
  case $purpose in
    test)
      packages="$packages qemu-user g++-aarch64-linux-gnu python3-jinja2"
      packages="$packages clang-19 libclang-rt-19-dev libblocksruntime-dev libdw-dev"
      ;;
    # llvm-19 has the symbolizer: without it a report names no function and no line.
    sanitize) packages="$packages clang-19 libclang-rt-19-dev llvm-19 python3-jinja2" ;;
  esac
  missing=
  for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  echo "install-deps: installing$missing" >&2
  as_root apt-get update -q
  # shellcheck disable=SC2086  # a list of names
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
}

install_macos() {
  command -v brew >/dev/null || fail "Homebrew was not found; see https://brew.sh"
  for package in cmake ninja pkg-config fmt nlohmann-json cli11 pcre2 utf8proc openssl@3 doctest python3; do
    brew list "$package" >/dev/null 2>&1 || brew install "$package"
  done
}

if [ "$(uname)" = Darwin ]; then install_macos
elif command -v apt-get >/dev/null; then install_debian
elif ! command -v cmake >/dev/null; then fail "this system has neither apt nor Homebrew; install cmake and what it then asks for"
fi
