"""`cmake --install` into an empty folder: a program outside this tree finds the library by CMake and by pkg-config,
builds without the source tree, and the installed Python package and program run."""
import os
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE, MODEL = os.environ["BUILD"], os.environ["SOURCE"], os.environ["MODEL"]

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(outside LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(minfer 0.1 REQUIRED)
add_executable(by_cmake {c})
target_link_libraries(by_cmake PRIVATE minfer::minfer)
add_executable(by_cmake_cpp {cpp})
target_link_libraries(by_cmake_cpp PRIVATE minfer::minfer)
"""


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.prefix = os.path.join(cls.folder.name, "prefix")
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def find(self, name):
        found = [folder for folder, _, files in os.walk(self.prefix) if name in files]
        self.assertEqual(len(found), 1, name)
        return found[0]

    def test_by_cmake(self):
        work = os.path.join(self.folder.name, "by_cmake")
        os.mkdir(work)
        with open(os.path.join(work, "CMakeLists.txt"), "w") as file:
            file.write(PROJECT.format(c=os.path.join(SOURCE, "examples", "generate.c"),
                                      cpp=os.path.join(SOURCE, "examples", "generate.cpp")))
        run("cmake", "-S", work, "-B", work + "/build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", work + "/build")
        self.assertTrue(run(work + "/build/by_cmake", MODEL, "the fox"))
        self.assertTrue(run(work + "/build/by_cmake_cpp", MODEL, "the fox"))

    def test_by_pkg_config(self):
        environment = dict(os.environ, PKG_CONFIG_PATH=self.find("minfer.pc"))
        flags = run("pkg-config", "--cflags", "--libs", "minfer", env=environment).split()
        program = os.path.join(self.folder.name, "by_pkg_config")
        run("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic",
            os.path.join(SOURCE, "examples", "generate.c"), "-o", program, *flags)
        library = self.find("libminfer.so")
        self.assertTrue(run(program, MODEL, "the fox", env=dict(os.environ, LD_LIBRARY_PATH=library)))

    def test_python_and_program(self):
        library = os.path.join(self.find("libminfer.so"), "libminfer.so")
        code = f"import minfer; print(minfer.Model({MODEL!r}).facts.architecture)"
        environment = dict(os.environ, MINFER_LIBRARY=library, PYTHONPATH=os.path.join(SOURCE, "python"))
        self.assertEqual(run(sys.executable, "-c", code, env=environment), "qwen3\n")
        program = os.path.join(self.find("minfer"), "minfer")
        self.assertIn("minfer", run(program, "--version"))


if __name__ == "__main__":
    unittest.main()
