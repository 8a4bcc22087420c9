"""How one mutant is built and tested. A runner has `try_mutant(mutant, text)`, where `text` is the whole mutated source,
and answers 'killed', 'survived' or 'does not compile'; and `works()`, whether the tests pass before anything is changed.
"""
import functools
import json
import os
import pathlib
import re
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


def kernels_in(folder, words):
    """The .metal files that a command reads."""
    return [(folder / word).resolve() for word in words if word.endswith(".metal")]


@functools.cache
def included_by(kernel):
    """Every file beside a kernel that it includes, also by way of others."""
    found, open_files = set(), [kernel]
    while open_files:
        for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', open_files.pop().read_text(), re.MULTILINE):
            header = (kernel.parent / name).resolve()
            if header.exists() and header not in found:
                found.add(header)
                open_files.append(header)
    return found


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
        self.recipes, self.preprocessed, self.last_noticed = {}, {}, {}
        for command in self.commands:
            target = str(pathlib.Path(command[0]).relative_to(self.build))
            subprocess.run(["ninja", "-C", str(build), target], stdout=subprocess.DEVNULL, check=True)
            lines = subprocess.run(["ninja", "-C", str(build), "-t", "commands", target], capture_output=True, text=True,
                                   check=True).stdout.splitlines()
            self.recipes[command[0]] = (target, lines)

    def preprocessing(self, program):
        """The commands that read .metal files for a program: their folder and words."""
        if program not in self.preprocessed:
            found = []
            for line in self.recipes[program][1]:
                words = shlex.split(line)
                if words[0] == "cd" and "-o" in words and kernels_in(pathlib.Path(words[1]), words):
                    found.append((pathlib.Path(words[1]), words))
            self.preprocessed[program] = found
        return self.preprocessed[program]

    def in_order(self, source):
        """The test that noticed the source's last mutant first: it is the likeliest to notice the next."""
        return sorted(self.commands, key=lambda command: command != self.last_noticed.get(source))

    def noticed(self, source, command):
        self.last_noticed[source] = command

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
        """The commands that lead from the source to `program`, with their paths in this runner's folder. Empty if it has no
        part in the program."""
        target, lines = self.tests.recipes[program]
        outputs = []
        for folder, words in self.tests.preprocessing(program):
            if any(source == kernel or source in included_by(kernel) for kernel in kernels_in(folder, words)):
                outputs.append((folder, words[words.index("-o") + 1]))
        if not outputs:
            return
        (folder,) = {folder for folder, _ in outputs}  # the one that called add_metal_library
        stems = {os.path.splitext(output)[0] for _, output in outputs}
        for line in lines:
            if not any(f"{form}." in line for stem in stems for form in self.forms(stem)):
                continue
            for stem in stems:
                for form in self.forms(stem):
                    line = line.replace(f"{form}.", f"{self.root}/out/{pathlib.Path(stem).name}.")
            line = line.replace(f"cd {folder} && ", f"cd {self.root}/source && ").replace(f"{folder}/", f"{self.root}/source/")
            yield line.replace(f"-o {target} ", f"-o {self.root}/test ")

    def forms(self, path):
        """A path as commands in and outside the build folder spell it."""
        return path, os.path.relpath(path, self.tests.build)

    def folder_of(self, source):
        """The folder whose kernels the source is one of, or is included by."""
        for program, *_ in self.tests.commands:
            for folder, words in self.tests.preprocessing(program):
                if any(source == kernel or source in included_by(kernel) for kernel in kernels_in(folder, words)):
                    return folder
        raise SystemExit(f"mutate: {source} is no part of any test of the label")

    def try_mutant(self, mutant, text):
        source = pathlib.Path(mutant.path).resolve()
        folder = self.folder_of(source)
        shutil.rmtree(self.root / "source", ignore_errors=True)
        shutil.copytree(folder, self.root / "source")  # a kernel may include what lies beside it
        (self.root / "source" / source.relative_to(folder)).write_text(text)
        (self.root / "out").mkdir(exist_ok=True)
        for command in self.tests.in_order(source):
            program, *arguments = command
            recipe = list(self.recipe(program, source))
            for step in recipe:
                if not run(step, BUILD_SECONDS, self.tests.build):
                    return "does not compile"
            if recipe and not self.tests.passes([f"{self.root}/test", *arguments, *self.test_arguments]):
                self.tests.noticed(source, command)
                return "killed"
        return "survived"

    def close(self):
        self.folder.cleanup()
