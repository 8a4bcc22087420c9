#!/usr/bin/env python3
"""How good are the tests of a kernel? Makes one-line mutants of .metal files, builds each, and says which ones the tests
of a ctest label notice.

  mutate.py --build build --target kernels_checked --label kernels [--count 200] [--seconds 3600] kernels/*.metal

A mutant is killed if a test fails or takes too long; the first failure ends its tests. One that does not compile is
replaced by the next. Mutants are drawn with a seed; those for which there was no time count as survivors. Equivalent ones
can be excused, with a reason, in a file of lines `before => after # reason` (--excuses); at most a tenth may be. The exit
code is 0 if the share of killed mutants reaches --least.

A build folder of Ninja and its sources stay as they are. With --build-command and --test-command instead, for other ways
to build, the sources are changed in place and restored at the end, also after an interruption.
"""
import argparse
import json
import pathlib
import random
import sys
import threading
import time

from mutants import mutants_of
from runners import CommandRunner, NinjaRunner, Tests

MOST_EXCUSED = 0.1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, help="build folder of CMake")
    parser.add_argument("--target", action="append", default=[],
                        help="name of a test program, to run it alone of the label's; may be repeated")
    parser.add_argument("--label", help="ctest label of the tests that should notice")
    parser.add_argument("--build-command", help="instead of --build: a shell command that builds in place")
    parser.add_argument("--test-command", help="and one that tests")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time, with --build")
    parser.add_argument("--test-argument", action="append", default=[], help="for the test programs, such as --abort-after=1")
    parser.add_argument("--count", type=int, default=200, help="mutants to draw (default 200)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3600, help="time budget (default 3600)")
    parser.add_argument("--test-seconds", type=int, default=10,
                        help="a test that takes more processor time has failed (default 10)")
    parser.add_argument("--results", type=pathlib.Path,
                        help="keeps results in this file, for runs in steps: what was killed stays so, survivors are tried again")
    parser.add_argument("--least", type=float, default=90, help="per cent of mutants that must be killed (default 90)")
    parser.add_argument("--excuses", type=pathlib.Path)
    options = parser.parse_args()
    if not (options.build and options.label) and not (options.build_command and options.test_command):
        parser.error("give --build and --label, or --build-command and --test-command")
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


def describe(mutant):
    return f"{mutant.path}:{mutant.line}: {mutant.kind}\n  - {mutant.before.strip()}\n  + {mutant.after.strip()}"


def place_of(mutant):
    return (pathlib.Path(mutant.path).name, mutant.line, mutant.after)


def read_results(path):
    """What an earlier run found, survivors left out."""
    lines = path.read_text().splitlines() if path and path.exists() else []
    return {tuple(place): result for *place, result in map(json.loads, lines)}


class Run:
    """Draws mutants until as many as asked for have a result, or time is up."""

    def __init__(self, options):
        self.options = options
        self.excuses = read_excuses(options.excuses)
        self.originals = {str(path): path.read_text() for path in options.sources}
        drawn = [mutant for path, text in self.originals.items() for mutant in mutants_of(path, text)]
        random.Random(options.seed).shuffle(drawn)
        self.drawn = iter(drawn)
        self.known = read_results(options.results)
        self.results = {"killed": [], "survived": [], "excused": [], "not run": []}
        self.uncompiled = self.open = 0
        self.lock = threading.Lock()
        self.begin = time.monotonic()

    def seconds(self):
        return time.monotonic() - self.begin

    def next(self):
        """A mutant to try, or None. Those that need no trial are entered on the way."""
        with self.lock:
            while sum(map(len, self.results.values())) + self.open < self.options.count:
                mutant = next(self.drawn, None)
                if not mutant:
                    return None
                if mutant.key() in self.excuses:
                    self.results["excused"].append(mutant)
                elif place_of(mutant) in self.known:
                    self.count(mutant, self.known[place_of(mutant)])
                elif self.seconds() > self.options.seconds:
                    self.results["not run"].append(mutant)
                else:
                    self.open += 1
                    return mutant
        return None

    def count(self, mutant, result):
        if result == "does not compile":
            self.uncompiled += 1
        else:
            self.results[result].append(mutant)

    def enter(self, mutant, result):
        with self.lock:
            self.open -= 1
            self.count(mutant, result)
            if result == "survived":
                print(f"survived: {describe(mutant)}", flush=True)
            elif self.options.results:
                with self.options.results.open("a") as file:
                    print(json.dumps([*place_of(mutant), result]), file=file)

    def work(self, runner):
        try:
            while mutant := self.next():
                lines = self.originals[mutant.path].split("\n")
                lines[mutant.line - 1] = mutant.after
                self.enter(mutant, runner.try_mutant(mutant, "\n".join(lines)))
        finally:
            runner.close()


def main():
    options = arguments()
    mutation = Run(options)
    if options.build_command:
        runner = CommandRunner(options.build_command, options.test_command, options.test_seconds)
        works, runners = runner.works(), [runner]
    else:
        tests = Tests(options.build, options.label, options.target, options.test_seconds)
        works, runners = tests.work(), [NinjaRunner(tests, options.test_argument) for _ in range(options.jobs)]
    if not works:
        sys.exit("mutate: the tests must build and pass before anything is changed")
    mutation.begin = time.monotonic()
    threads = [threading.Thread(target=mutation.work, args=(runner,)) for runner in runners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return summary(options, mutation.results, mutation.excuses, mutation.uncompiled, mutation.seconds())


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
        print("mutate: more than a tenth of the mutants is excused")
        return 1
    return 0 if share >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
