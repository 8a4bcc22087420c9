"""--help and `help TOPIC` say what there is: commands, options and environment variables are looked up."""
import os
import re
import unittest

from support import minfer

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def output(*arguments):
    done = minfer(*arguments)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout.decode()


def commands():
    """Heading of each command in --help."""
    found, heading = {}, None
    for line in output("--help").splitlines():
        if line.endswith(":") and not line.startswith(" "):
            heading = line[:-1]
        elif re.match(r"  [a-z]+  ", line) and heading != "Examples":
            found[line.split()[0]] = heading
    return found


def topics():
    return re.findall(r"^  (\w+)  ", output("help"), re.M)


def sources(folder, extensions):
    for place, _, names in os.walk(os.path.join(SOURCE, folder)):
        for name in names:
            if name.endswith(extensions):
                with open(os.path.join(place, name), encoding="utf-8") as file:
                    yield file.read()


def variables_read(text):
    """Names given to getenv, also through a function of the same file that takes the name."""
    names = set(re.findall(r'getenv\("(\w+)"\)', text))
    if re.search(r"getenv\([a-z]", text):
        names |= set(re.findall(r'\w\("([A-Z][A-Z0-9_]{2,})"', text))
    return names


class Help(unittest.TestCase):
    def test_every_command_has_a_heading(self):
        found = commands()
        self.assertGreater(len(found), 8)
        self.assertNotIn("Subcommands", found.values())  # CLI11's own heading: no group was chosen
        for name in found:
            self.assertIn("Usage:", output("help", name))

    def test_topics(self):
        names = topics()
        self.assertEqual(len(names), 7)
        self.assertFalse(set(names) & set(commands()))
        for name in names:
            for line in output("help", name).splitlines():
                self.assertLessEqual(len(line), 118, name)

    def test_an_unknown_topic(self):
        done = minfer("help", "weather")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"weather", done.stderr)
        self.assertIn(b"sampling", done.stderr)

    def test_options_and_commands_in_the_text_exist(self):
        known = commands()
        options = set(re.findall(r"(?<!\w)-{1,2}[a-z][\w-]*", "".join(output(name, "--help") for name in known)))
        for name in topics():
            text = output("help", name)
            self.assertFalse(set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", text)) - options, name)
            named = set(re.findall(r"(?:^  |`)minfer ([a-z]\w*)", text, re.M))
            self.assertFalse(named - set(known), name)

    def test_every_environment_variable_is_listed(self):
        listed = set(re.findall(r"^  ([A-Z][A-Z0-9_]+) ", output("help", "environment"), re.M))
        read = set()
        for text in sources("src", (".cpp", ".h")):
            read |= variables_read(text)
        for text in sources("python", ".py"):
            read |= set(re.findall(r'environ(?:\.get\(|\[)"(\w+)"', text))
        self.assertGreater(len(read), 8)
        self.assertEqual(read, listed)


if __name__ == "__main__":
    unittest.main()
