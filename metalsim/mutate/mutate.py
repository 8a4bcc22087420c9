#!/usr/bin/env python3
"""How good are the tests of a kernel? Makes one-line mutants of .metal files, builds each, and says which ones the tests
of a ctest label notice.

  mutate.py --build build --target kernels_test --label kernels [--count 200] [--seconds 3600] kernels/*.metal

A mutant is killed if a test fails or takes too long. One that does not compile is replaced by the next. Mutants are drawn
with a seed; those for which there was no time count as survivors. Equivalent ones can be excused, with a reason, in a file
of lines `before => after # reason` (--excuses); at most a tenth may be. The exit code is 0 if the share of killed mutants
reaches --least.

The sources are changed in place while it runs and restored at the end, also after an interruption.
"""
import argparse
import pathlib
import random
import subprocess
import sys
import time

from mutants import mutants_of

MOST_EXCUSED = 0.1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, help="build folder of CMake")
    parser.add_argument("--target", action="append", default=[], help="what to build; may be repeated")
    parser.add_argument("--label", help="ctest label of the tests that should notice")
    parser.add_argument("--build-command", help="instead of cmake --build: a shell command")
    parser.add_argument("--test-command", help="instead of ctest: a shell command")
    parser.add_argument("--count", type=int, default=200, help="mutants to draw (default 200)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3600, help="time budget (default 3600)")
    parser.add_argument("--test-seconds", type=float, default=60, help="a test that takes longer has failed")
    parser.add_argument("--least", type=float, default=90, help="per cent of mutants that must be killed (default 90)")
    parser.add_argument("--excuses", type=pathlib.Path)
    options = parser.parse_args()
    if not options.build_command and not (options.build and options.target):
        parser.error("give --build and --target, or --build-command")
    if not options.test_command and not (options.build and options.label):
        parser.error("give --build and --label, or --test-command")
    return options


def read_excuses(path):
    """From (before, after) to the reason."""
    excuses = {}
    for number, line in enumerate(path.read_text().splitlines() if path else [], 1):
        if not line.strip() or line.startswith("#"):
            continue
        change, _, reason = line.rpartition(" # ")
        before, arrow, after = change.partition(" => ")
        if not arrow or not reason.strip():
            sys.exit(f"{path}:{number}: expected `before => after # reason`")
        excuses[(before.strip(), after.strip())] = reason.strip()
    return excuses


class Runner:
    def __init__(self, options):
        self.options = options

    def run(self, command, seconds):
        """True, False, or None if it took too long."""
        shell = isinstance(command, str)
        try:
            done = subprocess.run(command, shell=shell, timeout=seconds, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, check=False)
        except subprocess.TimeoutExpired:
            return None
        return done.returncode == 0

    def builds(self):
        command = self.options.build_command
        if not command:
            command = ["cmake", "--build", str(self.options.build), "--target", *self.options.target]
        return self.run(command, 600)

    def passes(self):
        command = self.options.test_command
        if not command:
            command = ["ctest", "--test-dir", str(self.options.build), "-L", f"^{self.options.label}$",
                       "--timeout", str(self.options.test_seconds), "--stop-on-failure", "--no-tests=error"]
        return self.run(command, self.options.test_seconds * 4) is True


def try_mutant(mutant, original, runner):
    """'killed', 'survived' or 'does not compile'. The source is restored."""
    path = pathlib.Path(mutant.path)
    lines = original.split("\n")
    lines[mutant.line - 1] = mutant.after
    path.write_text("\n".join(lines))
    try:
        if not runner.builds():
            return "does not compile"
        return "survived" if runner.passes() else "killed"
    finally:
        path.write_text(original)


def describe(mutant):
    return f"{mutant.path}:{mutant.line}: {mutant.kind}\n  - {mutant.before.strip()}\n  + {mutant.after.strip()}"


def main():
    options = arguments()
    excuses = read_excuses(options.excuses)
    originals = {str(path): path.read_text() for path in options.sources}
    drawn = [mutant for path, text in originals.items() for mutant in mutants_of(path, text)]
    random.Random(options.seed).shuffle(drawn)
    runner = Runner(options)
    if not runner.builds() or not runner.passes():
        sys.exit("mutate: the tests must build and pass before anything is changed")

    begin = time.monotonic()
    results = {"killed": [], "survived": [], "excused": [], "not run": []}
    uncompiled = 0
    for mutant in drawn:
        if sum(map(len, results.values())) == options.count:
            break
        if mutant.key() in excuses:
            result = "excused"
        elif time.monotonic() - begin > options.seconds:
            result = "not run"
        else:
            result = try_mutant(mutant, originals[mutant.path], runner)
        if result == "does not compile":
            uncompiled += 1
            continue
        results[result].append(mutant)
        if result == "survived":
            print(f"survived: {describe(mutant)}", flush=True)
    runner.builds()  # the build folder holds the original again
    return summary(options, results, excuses, uncompiled, time.monotonic() - begin)


def summary(options, results, excuses, uncompiled, seconds):
    total = sum(map(len, results.values()))
    counted = total - len(results["excused"])
    if total == 0:
        sys.exit("mutate: no mutants in these sources")
    for mutant in results["excused"]:
        print(f"excused: {describe(mutant)}\n  {excuses[mutant.key()]}")
    share = 100 * len(results["killed"]) / max(counted, 1)
    print(f"{total} mutants (seed {options.seed}) in {seconds:.0f} s: {len(results['killed'])} killed, "
          f"{len(results['survived'])} survived, {len(results['not run'])} not run for want of time (counted as survivors), "
          f"{len(results['excused'])} excused; {uncompiled} more did not compile. Killed: {share:.1f} %")
    if len(results["excused"]) > MOST_EXCUSED * total:
        print(f"mutate: more than a tenth of the mutants is excused")
        return 1
    return 0 if share >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
