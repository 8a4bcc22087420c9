"""One-line mutants of Metal sources: the small mistakes that people make in kernels.

A mutant replaces a part of one line. Comments, preprocessor lines, attributes and declarations of array sizes are left
alone: changes there are no mistakes of a kernel, or do not compile.
"""
import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Mutant:
    path: str
    line: int  # from 1
    kind: str
    before: str  # the whole line
    after: str

    def key(self):
        """What an excuse names: line numbers change, texts stay."""
        return (self.before.strip(), self.after.strip())


def blank_comments(text):
    """The text with comments, strings and preprocessor lines as spaces, line by line of the same length."""
    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"', spaces, text, flags=re.S)
    return re.sub(r"^[ \t]*#[^\n]*", spaces, text, flags=re.M)


def find_closing(code, open_at):
    """Index of the bracket that closes the one at open_at, or -1 if it is on another line."""
    pairs = {"(": ")", "[": "]"}
    depth = 0
    for i in range(open_at, len(code)):
        if code[i] == code[open_at]:
            depth += 1
        elif code[i] == pairs[code[open_at]]:
            depth -= 1
            if depth == 0:
                return i
    return -1


def dropped_barriers(code):
    for match in re.finditer(r"\b(threadgroup_barrier|simdgroup_barrier)\s*\([^;]*\);", code):
        yield match.start(), match.end(), ";", "barrier dropped"


def weakened_barriers(code):
    for match in re.finditer(r"\bthreadgroup_barrier\b", code):
        yield match.start(), match.end(), "simdgroup_barrier", "barrier weakened"
    for match in re.finditer(r"\bmem_flags::(mem_threadgroup|mem_device)\b", code):
        yield match.start(), match.end(), "mem_flags::mem_none", "barrier weakened"


def off_by_one_bounds(code):
    other = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
    for match in re.finditer(r"(?<= )(<=|>=|<|>)(?= )", code):
        yield match.start(), match.end(), other[match.group()], "bound off by one"


def swapped_operands(code):
    operand = r"[A-Za-z_][\w.]*|\d+\.?\d*f?"
    for match in re.finditer(rf"(?<![\w.\])] )\b({operand}) ([-/%]|<<|>>) ({operand})(?![\w(\[.])", code):
        left, operator, right = match.groups()
        if left != right and left not in ("return", "case"):
            yield match.start(), match.end(), f"{right} {operator} {left}", "operands swapped"


def wrong_operators(code):
    other = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "&": "|", "|": "&", ">>": "<<", "<<": ">>", "&&": "||",
             "||": "&&"}
    for match in re.finditer(r"(?<=[\w)\]] )(\+|-|\*|/|%|&&|\|\||&|\||>>|<<)(?= [\w(])", code):
        yield match.start(), match.end(), other[match.group()], "operator replaced"
    for match in re.finditer(r"(?<= )(\+=|-=|\*=)(?= )", code):
        yield match.start(), match.end(), {"+=": "-=", "-=": "+=", "*=": "+="}[match.group()], "operator replaced"


def wrong_indices(code):
    for match in re.finditer(r"(?<=[\w\])])\[", code):
        end = find_closing(code, match.start())
        declares = re.match(r"\s*(?!return\b|else\b)[\w:]+[\w:<>, ]*\s\w+$", code[:match.start()])
        if end < 0 or code[match.start():match.start() + 2] == "[[" or declares:
            continue
        inside = code[match.start() + 1:end]
        yield match.start() + 1, end, f"{inside} + 1", "index wrong"


def wrong_constants(code):
    for match in re.finditer(r"(?<![\w.<\[])(\d+)(?![\w.>])", code):
        yield match.start(), match.end(), str(int(match.group()) + 1), "constant wrong"


def missing_guards(code):
    for match in re.finditer(r"\bif \(", code):
        end = find_closing(code, match.end() - 1)
        if end < 0:
            continue
        leaves = re.match(r"\s*(return|break|continue)\s*;", code[end + 1:])
        if leaves:
            yield match.start(), end + 1 + leaves.end(), ";", "guard dropped"
        else:
            yield match.end(), end, "true", "guard dropped"
    for match in re.finditer(r"\b(min|max)\(", code):
        end = find_closing(code, match.end() - 1)
        comma = code.find(", ", match.end())
        if 0 < comma < end and code[match.end():comma].count("(") == code[match.end():comma].count(")"):
            yield match.start(), end + 1, f"({code[match.end():comma]})", "clamp dropped"


GENERATORS = (dropped_barriers, weakened_barriers, off_by_one_bounds, swapped_operands, wrong_operators, wrong_indices,
              wrong_constants, missing_guards)


def mutants_of(path, text):
    """All mutants of a source, in order of lines, without repetition."""
    lines = text.split("\n")
    code_lines = blank_comments(text).split("\n")
    found = {}
    for number, (line, code) in enumerate(zip(lines, code_lines), 1):
        if "[[" in code or re.match(r"\s*(typedef|template|using|struct|kernel)\b", code):
            continue
        for generate in GENERATORS:
            for begin, end, replacement, kind in generate(code):
                mutant = Mutant(path, number, kind, line, line[:begin] + replacement + line[end:])
                if mutant.after != mutant.before:
                    found.setdefault((number, mutant.after), mutant)
    return list(found.values())
