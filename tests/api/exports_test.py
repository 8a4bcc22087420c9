"""The shared library exports exactly the functions that minfer.h declares, and says which ABI it is."""
import os
import re
import subprocess
import unittest

LIBRARY, HEADER = os.environ["MINFER_LIBRARY"], os.environ["MINFER_HEADER"]


class Exports(unittest.TestCase):
    def setUp(self):
        with open(HEADER) as file:
            self.header = file.read()

    def test_exports_are_the_declared_functions(self):
        declared = re.findall(r"^MINFER_API [^;(]*?(\w+)\(", self.header, re.M)
        self.assertGreater(len(declared), 30)
        self.assertEqual(len(declared), len(set(declared)))
        symbols = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True)
        exported = [line.split()[-1] for line in symbols.stdout.splitlines()]
        self.assertEqual(sorted(exported), sorted(declared))

    def test_the_soname_carries_the_abi_version(self):
        abi = re.search(r"^#define MINFER_ABI_VERSION (\d+)$", self.header, re.M).group(1)
        dynamic = subprocess.run(["readelf", "-d", LIBRARY], check=True, capture_output=True, text=True).stdout
        self.assertIn(f"Library soname: [libminfer.so.{abi}]", dynamic)


if __name__ == "__main__":
    unittest.main()
