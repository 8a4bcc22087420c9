#!/usr/bin/env python3
"""Compares the public names of metalsim's metal-cpp subset with Apple's own headers.

    check_apple_signatures.py [METAL_CPP_DIR] [--host SOURCE ...]

Reads metalsim/apple and writes a C++ file that states each declaration once more: methods as casts of member pointers to
their exact type, enumerators with their values, aliases, bases, fields of structures. The file is compiled against our
headers, which proves that it was read correctly, and then against the real ones. A name whose signature differs does not
compile, and is listed.

The folder of the real headers (the one with Metal/Metal.hpp) is the argument or the environment's METAL_CPP_DIR. Where there
is none the script says `unverified` and succeeds. --host also compiles host sources against both, syntax only.
"""
import argparse
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = ROOT / "apple"


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def preprocessed(text):
    """Keeps what a compiler with blocks sees; drops directives."""
    kept, skipping = [], [False]
    for line in text.split("\n"):
        word = line.strip()
        if word.startswith("#if"):
            skipping.append(False)
        elif word.startswith("#else"):
            skipping[-1] = True
        elif word.startswith("#endif"):
            skipping.pop()
        elif not word.startswith("#") and not any(skipping):
            kept.append(line)
    return "\n".join(kept)


def matching(text, at, opening="{", closing="}"):
    """The index after the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == opening) - (text[i] == closing)
        if depth == 0:
            return i + 1
    raise ValueError("unbalanced brackets")


def one_line(text):
    return re.sub(r"\s+", " ", text).strip()


def members(body):
    """The public declarations of a class body, each without its function body."""
    body = re.split(r"\bprivate:", body)[0].replace("public:", "")
    at, start = 0, 0
    while at < len(body):
        if body[at] == "(":
            at = matching(body, at, "(", ")")
        elif body[at] == "{":
            end = matching(body, at)
            yield one_line(body[start:at])
            at = start = end
        elif body[at] == ";":
            yield one_line(body[start:at])
            at = start = at + 1
        else:
            at += 1


class Checks:
    """Lines of the C++ file, with what each one is about."""

    def __init__(self):
        self.lines = []

    def add(self, namespace, name, code):
        self.lines.append((namespace, name, code))

    def source(self):
        text = ["#include <Foundation/Foundation.hpp>", "#include <Metal/Metal.hpp>", "#include <type_traits>"]
        names = {}
        for namespace, name, code in self.lines:
            text.append(f"namespace {namespace} {{ namespace signature_check {{ {code} }} }}")
            names[len(text)] = name
        return "\n".join(text) + "\n", names


def check_method(checks, namespace, cls, declaration, number):
    match = re.match(r"(template <class (\w+) = (\w+)> )?(static )?(.+?)\b(\w+)\((.*)\)( const)?$", declaration)
    if not match:
        return
    template, parameter, default, static, result, name, arguments, const = match.groups()
    if not result.strip() or name == cls or result.strip() in ("explicit", "~"):
        return  # constructors are checked by use
    target = f"&{cls}::{name}"
    result = result.strip()
    if template:
        result = result.replace(parameter, default)
        target += f"<{default}>"
    kind = "(*)" if static else f"({cls}::*)"
    signature = f"{result} {kind}({arguments}){const or ''}"
    checks.add(namespace, f"{namespace}::{cls}::{declaration}",
               f"constexpr auto check_{number} = static_cast<{signature}>({target});")


def check_struct(checks, namespace, name, body):
    fields = []
    for declaration in members(body):
        match = re.match(r"([\w:]+) (\w+)(\[\d+\])?$", declaration)
        if not match:
            continue
        kind, field, extent = match.groups()
        fields.append(field)
        checks.add(namespace, f"{namespace}::{name}::{field}",
                   f"static_assert(std::is_same_v<decltype({name}::{field}), {kind}{extent or ''}>);")
    total = " + ".join(f"sizeof({name}::{field})" for field in fields)
    if fields:
        checks.add(namespace, f"sizeof {namespace}::{name}", f"static_assert(sizeof({name}) == {total});")


def check_enum(checks, namespace, name, underlying, body):
    if name:
        checks.add(namespace, f"{namespace}::{name}",
                   f"static_assert(std::is_same_v<std::underlying_type_t<{name}>, {underlying}>);")
    for entry in body.split(","):
        match = re.match(r"\s*(\w+)\s*=\s*(.+?)\s*$", entry, flags=re.S)
        if match:
            checks.add(namespace, f"{namespace}::{match.group(1)}",
                       f"static_assert(static_cast<unsigned long long>({match.group(1)}) == "
                       f"static_cast<unsigned long long>({one_line(match.group(2))}));")


# Class templates: their methods are checked on one instance.
TEMPLATE_CHECKS = [
    ("Referencing::retain", "static_cast<String* (Referencing<String, Object>::*)()>(&Referencing<String>::retain)"),
    ("Referencing::release", "static_cast<void (Referencing<String, Object>::*)()>(&Referencing<String>::release)"),
    ("Referencing::autorelease", "static_cast<String* (Referencing<String, Object>::*)()>(&Referencing<String>::autorelease)"),
    ("Referencing::retainCount",
     "static_cast<UInteger (Referencing<String, Object>::*)() const>(&Referencing<String>::retainCount)"),
    ("Copying::copy", "static_cast<String* (Copying<String, Object>::*)() const>(&Copying<String>::copy)"),
    ("Enumerator::nextObject", "static_cast<String* (Enumerator<String>::*)()>(&Enumerator<String>::nextObject)"),
    ("Enumerator::allObjects", "static_cast<Array* (Enumerator<String>::*)()>(&Enumerator<String>::allObjects)"),
    ("SharedPtr::get", "static_cast<String* (SharedPtr<String>::*)() const>(&SharedPtr<String>::get)"),
    ("SharedPtr::operator->", "static_cast<String* (SharedPtr<String>::*)() const>(&SharedPtr<String>::operator->)"),
    ("SharedPtr::reset", "static_cast<void (SharedPtr<String>::*)()>(&SharedPtr<String>::reset)"),
    ("SharedPtr::detach", "static_cast<void (SharedPtr<String>::*)()>(&SharedPtr<String>::detach)"),
    ("TransferPtr", "static_cast<SharedPtr<String> (*)(String*)>(&TransferPtr<String>)"),
    ("RetainPtr", "static_cast<SharedPtr<String> (*)(String*)>(&RetainPtr<String>)"),
]


def read_header(checks, path):
    text = preprocessed(without_comments(path.read_text()))
    for opening in re.finditer(r"namespace (NS|MTL) \{", text):
        namespace = opening.group(1)
        body = text[opening.end():matching(text, opening.end() - 1) - 1]
        body = re.sub(r"template <[^>]*>\s*(class|bool|SharedPtr)", r"TEMPLATE \1", body)
        for match in re.finditer(r"(?<!TEMPLATE )\bclass (\w+) : public ([^{;]+?) \{", body):
            cls, base = match.groups()
            checks.add(namespace, f"base of {namespace}::{cls}", f"static_assert(std::is_convertible_v<{cls}*, {base}*>);")
            raw = text[text.index(match.group(0)):]
            raw = raw[raw.index("{") + 1:matching(raw, raw.index("{")) - 1]
            for declaration in members(raw):
                check_method(checks, namespace, cls, declaration, len(checks.lines))
        for match in re.finditer(r"\bstruct (\w+) \{", body):
            check_struct(checks, namespace, match.group(1), body[match.end():matching(body, match.end() - 1) - 1])
        for match in re.finditer(r"\benum (?:(\w+) )?: ([\w:]+) \{(.*?)\}", body, flags=re.S):
            check_enum(checks, namespace, match.group(1), match.group(2), match.group(3))
        for match in re.finditer(r"^using (\w+) =\s*([^;]+);", body, flags=re.M):
            checks.add(namespace, f"{namespace}::{match.group(1)}",
                       f"static_assert(std::is_same_v<{match.group(1)}, {one_line(match.group(2))}>);")
        for match in re.finditer(r"^([\w:*]+) (\w+)\(\);", body, flags=re.M):
            checks.add(namespace, f"{namespace}::{match.group(2)}",
                       f"constexpr auto check_{len(checks.lines)} = static_cast<{match.group(1)} (*)()>(&{match.group(2)});")


def read_headers():
    checks = Checks()
    skipped = {"NSPrivate.hpp", "NSBlock.hpp", "NSSharedPtr.hpp"}  # ours alone, or templates
    for path in sorted(OURS.glob("Foundation/*.hpp")) + sorted(OURS.glob("Metal/*.hpp")):
        if path.name not in skipped:
            read_header(checks, path)
    for name, expression in TEMPLATE_CHECKS:
        checks.add("NS", f"NS::{name}", f"auto check_{len(checks.lines)} = {expression};")
    return checks


def find_compiler():
    for name in ("clang++-19", "clang++-20", "clang++-21", "clang++"):
        if shutil.which(name):
            return name
    sys.exit("no clang++ found: the headers use blocks (Debian: apt-get install clang-19)")


def flags_for(headers):
    flags = ["-std=c++20", "-fblocks", "-fsyntax-only", "-w", "-ferror-limit=0", f"-I{headers}", f"-I{ROOT / 'include'}"]
    if platform.system() != "Darwin":
        # Headers of Apple's systems that metal-cpp includes, as far as it uses them.
        flags += ["-include", "cmath", f"-I{OURS / 'compat'}", f"-I{ROOT / 'objc' / 'include'}"]
    if platform.machine() in ("aarch64", "arm64"):
        flags.append("-D__arm64__=1")  # Apple's name of the architecture
    return flags


def compile_checks(source, names, headers):
    """The declarations that do not hold for these headers, with the compiler's first words on each."""
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as file:
        file.write(source)
        file.flush()
        done = subprocess.run([find_compiler(), *flags_for(headers), file.name], capture_output=True, text=True)
        wrong = {}
        for match in re.finditer(rf"^{re.escape(file.name)}:(\d+):\d+: error: (.*)$", done.stderr, flags=re.M):
            wrong.setdefault(names.get(int(match.group(1)), "?"), match.group(2))
    if done.returncode != 0 and not wrong:
        sys.exit(f"{headers} do not compile:\n{done.stderr[:4000]}")
    return wrong


def compile_host(paths, headers):
    for path in paths:
        done = subprocess.run([find_compiler(), *flags_for(headers), path], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{path} does not compile against {headers}:\n{done.stderr[:4000]}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("metal_cpp", nargs="?", default=os.environ.get("METAL_CPP_DIR"))
    arguments.add_argument("--host", nargs="*", default=[], help="host sources to compile, syntax only")
    given = arguments.parse_args()

    checks = read_headers()
    source, names = checks.source()
    for headers in [OURS] + ([pathlib.Path(given.metal_cpp)] if given.metal_cpp else []):
        wrong = compile_checks(source, names, headers)
        for name, reason in wrong.items():
            print(f"differs in {headers}: {name}\n    {reason}")
        if wrong:
            sys.exit(f"{len(wrong)} of {len(names)} declarations differ")
        compile_host(given.host, headers)
    if given.metal_cpp:
        print(f"verified: {len(names)} declarations are the same in {given.metal_cpp}"
              + (f"; {len(given.host)} host sources compile against it" if given.host else ""))
    else:
        print(f"unverified: {len(names)} declarations read, Apple's metal-cpp is not here (pass its folder, or set METAL_CPP_DIR)")


if __name__ == "__main__":
    main()
