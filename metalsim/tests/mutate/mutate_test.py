"""The mutation tool on a small source, with grep in place of compiler and tests."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TOOL = HERE.parent.parent / "mutate"
sys.path.insert(0, str(TOOL))

from mutants import mutants_of  # noqa: E402
from runners import included_by  # noqa: E402


class Mutants(unittest.TestCase):
    def setUp(self):
        self.mutants = mutants_of("sample.metal", (HERE / "sample.metal").read_text())

    def after(self, kind):
        return {m.after.strip() for m in self.mutants if m.kind == kind}

    def test_each_kind_is_made(self):
        self.assertEqual(self.after("barrier dropped"), {";"})
        self.assertEqual(self.after("barrier weakened"), {"simdgroup_barrier(mem_flags::mem_threadgroup);",
                                                          "threadgroup_barrier(mem_flags::mem_none);"})
        self.assertEqual(self.after("bound off by one"), {"if (i > n) return;"})
        self.assertEqual(self.after("operands swapped"), {"const uint last = 1 - n;"})
        self.assertIn("const uint last = n + 1;", self.after("operator replaced"))
        self.assertIn("s[i + 1] = i;", self.after("index wrong"))
        self.assertEqual(self.after("constant wrong"), {"const uint last = n - 2;",
                                                        "y[i] = s[min(last, i + 2)] + other[0];"})
        self.assertEqual(self.after("guard dropped"), {";"})
        self.assertEqual(self.after("clamp dropped"), {"y[i] = s[(last)] + other[0];"})

    def test_comments_attributes_and_sizes_are_left_alone(self):
        self.assertFalse([m for m in self.mutants if m.line in (1, 2, 4, 5, 6, 7)])


class Tool(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.source = pathlib.Path(self.folder.name) / "sample.metal"
        shutil.copy(HERE / "sample.metal", self.source)

    def tearDown(self):
        self.folder.cleanup()

    def run_tool(self, *more, test="true", build="true"):
        return subprocess.run([sys.executable, str(TOOL / "mutate.py"), str(self.source), "--build-command", build,
                               "--test-command", test, *more], capture_output=True, text=True, check=False)

    def test_kills_survivors_and_restored_source(self):
        original = self.source.read_text()
        barrier = f"grep -q '  threadgroup_barrier(mem_flags::mem_threadgroup)' {self.source}"
        done = self.run_tool(test=barrier)
        self.assertIn(" 3 killed", done.stdout)
        self.assertIn("sample.metal:8: bound off by one", done.stdout)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.source.read_text(), original)
        self.assertEqual(self.run_tool("--least", "10", test=barrier).returncode, 0)

    def test_mutants_that_do_not_compile_are_not_counted(self):
        done = self.run_tool(build=f"! grep -q simdgroup_barrier {self.source}", test="true")
        self.assertIn("1 more did not compile", done.stdout)

    def test_unrun_mutants_are_survivors(self):
        done = self.run_tool("--seconds", "0", test=f"cmp -s {self.source} {HERE / 'sample.metal'}")
        self.assertIn(" 0 killed", done.stdout)
        self.assertIn("Killed: 0.0 %", done.stdout)
        self.assertEqual(done.returncode, 1)

    def test_excuses_need_reasons_and_are_few(self):
        excuses = pathlib.Path(self.folder.name) / "excuses"
        excuses.write_text("if (i >= n) return; => if (i > n) return;\n")
        self.assertIn("expected", self.run_tool("--excuses", str(excuses)).stderr)
        excuses.write_text("if (i >= n) return; => if (i > n) return; # every grid of the test is full\n")
        done = self.run_tool("--excuses", str(excuses), test=f"cmp -s {self.source} {HERE / 'sample.metal'}")
        self.assertIn("1 excused", done.stdout)
        self.assertEqual(done.returncode, 0)

    def test_a_failing_start_is_refused(self):
        self.assertIn("before anything is changed", self.run_tool(test="false").stderr)


class Headers(unittest.TestCase):
    def test_a_kernel_depends_on_what_its_headers_include(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            (root / "k.metal").write_text('#include <metal_stdlib>\n#include "a.h"\n#include "gone.h"\n')
            (root / "a.h").write_text('  #  include "b.h"\n')
            (root / "b.h").write_text('#include "a.h"\n')
            self.assertEqual(included_by(root / "k.metal"), {root / "a.h", root / "b.h"})


class NinjaTool(unittest.TestCase):
    """A build folder of Ninja: the "compiler" copies, the "linker" makes a test that looks for the barrier."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name).resolve()
        self.build = self.root / "build"
        for folder in (self.root / "source", self.build / "bin"):
            folder.mkdir(parents=True)
        self.source = self.root / "source" / "sample.metal"
        shutil.copy(HERE / "sample.metal", self.source)
        (self.build / "compile.sh").write_text("cp $1 $3\n")
        (self.build / "link.sh").write_text(
            "{ echo '#!/bin/sh'; echo \"grep -q '  threadgroup_barrier(mem_flags::mem_threadgroup)' <<'END'\"\n"
            "cat $1; echo END; } > $3; chmod +x $3\n")
        (self.build / "build.ninja").write_text(
            f"rule compile\n  command = cd {self.root}/source && sh {self.build}/compile.sh sample.metal -o {self.build}/$out\n"
            "rule link\n  command = : && sh link.sh objects/sample.o -o $out && :\n"
            f"build objects/sample.o: compile {self.source}\nbuild bin/check: link objects/sample.o\n")
        (self.build / "CTestTestfile.cmake").write_text(
            f'add_test(check "{self.build}/bin/check")\nset_tests_properties(check PROPERTIES LABELS some)\n'
            f'add_test(other "{self.build}/bin/other")\nset_tests_properties(other PROPERTIES LABELS some)\n')
        subprocess.run(["ninja", "-C", str(self.build)], stdout=subprocess.DEVNULL, check=True)

    def tearDown(self):
        self.folder.cleanup()

    def run_tool(self, *more):
        return subprocess.run([sys.executable, str(TOOL / "mutate.py"), str(self.source), "--build", str(self.build),
                               "--label", "some", "--jobs", "2", *more], capture_output=True, text=True, check=False)

    def test_kills_and_survivors_without_a_change_of_source_or_build(self):
        original, program = self.source.read_text(), (self.build / "bin" / "check").read_text()
        done = self.run_tool()
        self.assertIn(" 3 killed", done.stdout, done.stderr)
        self.assertIn("sample.metal:8: bound off by one", done.stdout)
        self.assertEqual(self.source.read_text(), original)
        self.assertEqual((self.build / "bin" / "check").read_text(), program)

    def test_results_are_kept_for_the_next_run(self):
        results = self.root / "results"
        first = self.run_tool("--results", str(results))
        second = self.run_tool("--results", str(results), "--seconds", "0")
        self.assertIn(" 3 killed, ", second.stdout, second.stderr)
        self.assertIn(" 0 survived, ", second.stdout)  # tried again, were there time
        self.assertEqual(len(results.read_text().splitlines()), 3)
        self.assertNotIn(" 0 survived, ", first.stdout)

    def test_programs_and_sources_that_have_no_part_in_it_are_refused(self):
        self.assertIn("no test of these names is built", self.run_tool("--target", "nothing").stderr)


if __name__ == "__main__":
    unittest.main()
