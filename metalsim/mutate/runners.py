"""How one mutant is built and tested. A runner has `try_mutant(mutant, text)`, where `text` is the whole mutated source,
and answers 'killed', 'survived' or 'does not compile'; and `works()`, whether the tests pass before anything is changed.
"""
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile

BUILD_SECONDS = 600
WALL_FACTOR = 60  # a busy machine may take that much longer than the processor time of a test


def run(command, seconds, folder=None):
    """True, False, or None if it took too long. What it started is ended with it."""
    environment = dict(os.environ, CCACHE_DISABLE="1")  # mutants are built once
    process = subprocess.Popen(command, shell=isinstance(command, str), cwd=folder, env=environment,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        return process.wait(timeout=seconds) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        return None


class CommandRunner:
    """Changes the source in place and runs two shell commands. One mutant at a time."""

    def __init__(self, build, test, test_seconds):
        self.build, self.test, self.test_seconds = build, test, test_seconds

    def works(self):
        return run(self.build, BUILD_SECONDS) and run(self.test, self.test_seconds) is True

    def try_mutant(self, mutant, text):
        path = pathlib.Path(mutant.path)
        original = path.read_text()
        path.write_text(text)
        try:
            if not run(self.build, BUILD_SECONDS):
                return "does not compile"
            return "survived" if run(self.test, self.test_seconds) is True else "killed"
        finally:
            path.write_text(original)

    def close(self):
        run(self.build, BUILD_SECONDS)  # the build folder holds the original again


class Tests:
    """The test programs of a ctest label, and the commands with which Ninja would build them."""

    def __init__(self, build, label, programs, seconds):
        self.build, self.seconds = build.resolve(), seconds
        if not (self.build / "build.ninja").exists():
            raise SystemExit(f"mutate: {build} is no build folder of Ninja")
        listed = subprocess.run(["ctest", "--test-dir", str(build), "-L", f"^{label}$", "--show-only=json-v1"],
                                capture_output=True, text=True, check=True)
        # ctest knows no command of a test whose program was never built.
        known = [test["command"] for test in json.loads(listed.stdout)["tests"] if "command" in test]
        self.commands = [command for command in known
                         if not programs or pathlib.Path(command[0]).name in programs]
        if not self.commands:
            raise SystemExit(f"mutate: of the label {label} no test{' of these names' if programs else ''} is built")
        self.recipes = {}
        for command in self.commands:
            target = str(pathlib.Path(command[0]).relative_to(self.build))
            subprocess.run(["ninja", "-C", str(build), target], stdout=subprocess.DEVNULL, check=True)
            lines = subprocess.run(["ninja", "-C", str(build), "-t", "commands", target], capture_output=True, text=True,
                                   check=True).stdout.splitlines()
            self.recipes[command[0]] = (target, lines)

    def passes(self, command):
        """Within the limit of processor time: a test that hangs works, and a busy machine fails no test."""
        return run(["prlimit", f"--cpu={self.seconds}", *command], self.seconds * WALL_FACTOR) is True

    def work(self):
        return all(self.passes(command) for command in self.commands)


class NinjaRunner:
    """Builds in a folder of its own, so that sources and build folder stay as they are and several can work at once: takes
    Ninja's commands for a test program, and runs those that the mutated source has a part in, with its paths exchanged.
    """

    def __init__(self, tests, test_arguments):
        self.tests, self.test_arguments = tests, test_arguments
        self.folder = tempfile.TemporaryDirectory(prefix="mutate_")
        self.root = pathlib.Path(self.folder.name)

    def recipe(self, program, source):
        """The commands that lead from the source to `program`, with their paths in this runner's folder."""
        target, lines = self.tests.recipes[program]
        begin = f"cd {source.parent} && "
        words = [shlex.split(line) for line in lines]
        reads = [w for line, w in zip(lines, words) if line.startswith(begin) and source.name in w]
        if not reads:
            raise SystemExit(f"mutate: {source} is no part of {target}")
        outputs = [w[w.index("-o") + 1] for w in reads if "-o" in w]
        stems = {os.path.splitext(output)[0] for output in outputs}
        for line in lines:
            parts = [stem for stem in stems for form in (stem, os.path.relpath(stem, self.tests.build))
                     if f"{form}." in line]
            if not parts:
                continue
            for stem in stems:
                for form in (stem, os.path.relpath(stem, self.tests.build)):
                    line = line.replace(f"{form}.", f"{self.root}/out/{pathlib.Path(stem).name}.")
            line = line.replace(begin, f"cd {self.root}/source && ")
            yield line.replace(f"-o {target} ", f"-o {self.root}/test ")

    def try_mutant(self, mutant, text):
        source = pathlib.Path(mutant.path).resolve()
        shutil.rmtree(self.root / "source", ignore_errors=True)
        shutil.copytree(source.parent, self.root / "source")  # it may include what lies beside it
        (self.root / "source" / source.name).write_text(text)
        (self.root / "out").mkdir(exist_ok=True)
        for program, *arguments in self.tests.commands:
            for command in self.recipe(program, source):
                if not run(command, BUILD_SECONDS, self.tests.build):
                    return "does not compile"
            if not self.tests.passes([f"{self.root}/test", *arguments, *self.test_arguments]):
                return "killed"
        return "survived"

    def close(self):
        self.folder.cleanup()
