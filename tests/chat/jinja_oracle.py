#!/usr/bin/env python3
"""Compares the template engine with Jinja2, set up as chat templates are run with: generated templates must give the
same bytes in both, or fail in both.

Usage: jinja_oracle.py RENDER_LINES [--cases N] [--seed S] [--show N]

RENDER_LINES is the program of that name. Needs Python's jinja2 (Debian: python3-jinja2); without it the script exits
with 77, which ctest counts as skipped. Where Python goes on with whole numbers beyond 64 bits, or prints the address of
an object, a case is left out and counted.
"""
import argparse
import datetime
import json
import random
import re
import subprocess
import sys
import warnings

try:
    import jinja2
    import jinja2.ext
    import jinja2.sandbox
except ImportError:
    print("jinja_oracle: skipped, python3-jinja2 is not installed")
    sys.exit(77)


class Generation(jinja2.ext.Extension):
    """{% generation %}: rendering goes through it."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_render"), [], [], body).set_lineno(line)

    def _render(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    now = datetime.datetime.fromtimestamp(1_700_000_000, datetime.timezone.utc)
    env.globals["strftime_now"] = lambda form: now.replace(tzinfo=None).strftime(form)
    for name in ("lipsum",):  # random text
        del env.globals[name]
    for name in ("pprint", "random", "striptags", "urlize", "wordwrap"):  # not in the engine, see docs/chat.md
        del env.filters[name]
    return env


class Generator:
    """Random templates. Most make sense in parts only: what fails must fail on both sides."""

    TEXTS = ["", "a", "Hello", "  pad\t", "line one\nline two\n", "ÄÖ ß ſ", "你好 🙂 🥰", "it's", 'say "x"', "both ' and \"",
             "a,b,,c", "tab\tand\\slash", "<b>&amp;</b>", "x" * 30, "ΣΑΣ ΟΔΟΣ.", "ﬁn ǆ İi", "12", "-7", " 3.5 ", "1e3", "nan", "0x1F",
             "%s and %d", "{} {x} {0}", "role", "items", "\u0007\u200b\u00a0e\u0301", "The quick brown fox jumps", "UPPER lower Title"]
    NUMBERS = ["0", "1", "-1", "2", "3", "7", "10", "255", "1.0", "0.5", "-2.5", "1e16", "1e-5", "123456789.125", "3.0e2", "1_000"]
    NAMES = ["s", "t", "n", "f", "yes", "no", "nothing", "xs", "ys", "d", "users", "missing", "nested", "empty", "x", "y"]
    ATTRIBUTES = ["a", "b", "name", "age", "missing", "items", "keys", "upper", "real", "content", "0", "role"]
    TEST_NAMES = ["defined", "undefined", "none", "boolean", "true", "false", "integer", "float", "number", "string", "mapping",
                  "iterable", "sequence", "callable", "odd", "even", "lower", "upper", "escaped"]
    TEST_ARGS = ["divisibleby", "sameas", "in", "eq", "equalto", "ne", "gt", "ge", "lt", "le", "greaterthan", "lessthan"]
    FILTERS = ["upper", "lower", "capitalize", "title", "trim", "string", "length", "count", "first", "last", "list", "reverse",
               "items", "dictsort", "sort", "unique", "min", "max", "sum", "abs", "int", "float", "round", "tojson", "join", "safe",
               "e", "escape", "forceescape", "wordcount", "urlencode", "default", "d", "filesizeformat", "indent", "center", "xmlattr"]

    def __init__(self, rng):
        self.rng = rng
        self.loops = 0

    def pick(self, options):
        return self.rng.choice(options)

    def chance(self, probability):
        return self.rng.random() < probability

    # Context.

    def value(self, depth=0):
        kind = self.rng.randrange(9 if depth < 3 else 6)
        if kind < 2:
            return self.pick(self.TEXTS)
        if kind == 2:
            return self.pick([0, 1, -1, 2, 3, 10, 42, 2**40, -2**63])
        if kind == 3:
            return self.pick([0.0, 1.5, -0.25, 1e22, 1e-7, 100.0, 0.1, 2.5, -0.0])
        if kind == 4:
            return self.pick([True, False])
        if kind == 5:
            return None
        if kind == 6:
            return [self.value(depth + 1) for _ in range(self.rng.randrange(4))]
        return {self.pick(["a", "b", "name", "age", "items", "role", "content", "é", "_x"]): self.value(depth + 1)
                for _ in range(self.rng.randrange(4))}

    def context(self):
        users = [{"name": self.pick(["Ann", "bob", "Cy", "ann"]), "age": self.pick([3, 30, 7, None, 2.5]), "role": self.pick(["u", "v"])}
                 for _ in range(self.rng.randrange(5))]
        return {"s": self.pick(self.TEXTS), "t": self.pick(self.TEXTS), "n": self.pick([0, 1, 2, 5, -3]),
                "f": self.pick([0.0, 2.5, -1.25, 1e20]), "yes": True, "no": False, "nothing": None,
                "xs": [self.pick([1, 2, 3, 10, -4]) for _ in range(self.rng.randrange(6))],
                "ys": [self.pick(self.TEXTS) for _ in range(self.rng.randrange(5))],
                "d": self.value(2) if self.chance(0.2) else {"a": 1, "b": self.pick(self.TEXTS), "name": self.value(2)},
                "users": users, "nested": self.value(), "empty": self.pick(["", [], {}])}

    # Expressions.

    def literal_text(self):
        text = self.pick(self.TEXTS)
        quote = self.pick(["'", '"'])
        escapes = {"\\": "\\\\", "\n": "\\n", "\t": self.pick(["\t", "\\t"]), quote: "\\" + quote, "\u0007": "\\a", "\u200b": "\\u200b"}
        return quote + "".join(escapes.get(c, c) for c in text) + quote

    def atom(self):
        kind = self.rng.randrange(10)
        if kind < 4:
            return self.pick(self.NAMES)
        if kind < 6:
            return self.literal_text()
        if kind < 8:
            return self.pick(self.NUMBERS)
        if kind == 8:
            return self.pick(["true", "false", "none", "True", "None"])
        return "loop." + self.pick(["index", "index0", "first", "last", "length", "revindex", "revindex0", "previtem", "nextitem", "depth"]) \
            if self.loops else self.pick(self.NAMES)

    def index(self, depth):
        kind = self.rng.randrange(6)
        if kind < 2:
            return self.pick(["0", "1", "-1", "2", "-2", "10", "1.0", "true"])
        if kind == 2:
            return self.pick(["'a'", "'name'", "'items'", "'missing'", "\"b\""])
        if kind < 5:
            parts = [self.pick(["", "0", "1", "-1", "2", "-3", "5", "n"]) for _ in range(3)]
            step = self.pick(["", ":", ":-1", ":2", ":-2", ":1", ":" + parts[2]])
            return parts[0] + ":" + parts[1] + step
        return self.expression(depth - 1)

    def arguments(self, depth, most=2):
        return ", ".join(self.expression(depth - 1) for _ in range(self.rng.randrange(most + 1)))

    def method(self, depth):
        e = lambda: self.expression(depth - 1)
        t = self.literal_text
        return self.pick([
            lambda: ".upper()", lambda: ".lower()", lambda: ".title()", lambda: ".capitalize()", lambda: ".swapcase()", lambda: ".strip()",
            lambda: f".strip({t()})", lambda: ".lstrip()", lambda: f".rstrip({t()})", lambda: ".split()", lambda: f".split({t()})",
            lambda: f".split({self.pick(['none', repr(','), repr(' ')])}, {self.pick(['0', '1', '2', '-1'])})", lambda: f".rsplit({self.pick(['none', repr(','), repr('l')])}, 1)",
            lambda: ".splitlines()", lambda: ".splitlines(true)", lambda: f".replace({t()}, {t()})", lambda: ".replace('a', 'bb', 1)",
            lambda: f".startswith({t()})", lambda: f".endswith(({t()}, {t()}))", lambda: f".find({t()})", lambda: f".rfind({t()}, 1)", lambda: f".count({t()})",
            lambda: f".index({e()})", lambda: ".items()", lambda: ".keys()", lambda: ".values()", lambda: f".get({e()})", lambda: f".get('a', {e()})",
            lambda: f".join({e()})", lambda: f".format({e()}, {e()})", lambda: f".format(x={e()})", lambda: ".zfill(6)", lambda: ".center(11, '*')",
            lambda: ".ljust(7)", lambda: ".rjust(7, '-')", lambda: f".partition({t()})", lambda: f".rpartition({t()})", lambda: ".isdigit()", lambda: ".isalpha()",
            lambda: ".isalnum()", lambda: ".isspace()", lambda: ".islower()", lambda: ".isupper()", lambda: ".istitle()", lambda: ".removeprefix('a')",
            lambda: ".append(1)", lambda: ".pop()", lambda: ".copy()", lambda: ".expandtabs(4)", lambda: ".casefold()", lambda: ".isdecimal()",
            lambda: ".isnumeric()", lambda: ".isidentifier()", lambda: ".isprintable()", lambda: ".update({})", lambda: f".removesuffix({t()})"])()

    def filter(self, depth):
        e = lambda: self.expression(depth - 1)
        t = self.literal_text
        attribute = lambda: self.pick(["'name'", "'age'", "'role'", "'a.b'", "0", "'missing'"])
        special = [
            lambda: f"join({t()})", lambda: f"join({t()}, attribute={attribute()})", lambda: f"default({e()})", lambda: f"default({e()}, true)",
            lambda: f"replace({e()}, {t()})", lambda: f"replace({t()}, {t()}, 1)", lambda: f"trim({t()})", lambda: f"map(attribute={attribute()})|list",
            lambda: f"map(attribute={attribute()}, default={e()})|list", lambda: f"map({self.pick(['upper', 'string', 'length', 'int', 'nofilter', 'trim'])!r})|list",
            lambda: f"map('default', {t()})|join('|')",
            lambda: f"select({self.pick(self.TEST_NAMES)!r})|list", lambda: f"reject({self.pick(self.TEST_NAMES)!r})|list", lambda: "select|list",
            lambda: f"select({self.pick(self.TEST_ARGS)!r}, {e()})|list", lambda: f"selectattr({attribute()})|list",
            lambda: f"selectattr({attribute()}, {self.pick(self.TEST_ARGS)!r}, {e()})|list", lambda: f"rejectattr({attribute()}, {self.pick(self.TEST_NAMES)!r})|list",
            lambda: f"sort(reverse={e()})", lambda: f"sort(attribute={attribute()})", lambda: "sort(case_sensitive=true)", lambda: "sort(attribute='role,name')",
            lambda: f"groupby({attribute()})", lambda: f"groupby({attribute()}, default={e()})", lambda: f"batch({self.pick(['1', '2', '3'])})|list", lambda: f"batch(2, {e()})|list",
            lambda: f"slice({self.pick(['1', '2', '3'])})|list", lambda: f"slice(2, {e()})|list", lambda: f"dictsort(by={self.pick(['key', 'value'])!r})",
            lambda: "dictsort(reverse=true)", lambda: f"unique(attribute={attribute()})|list", lambda: "unique|list", lambda: f"min(attribute={attribute()})",
            lambda: f"max(attribute={attribute()})", lambda: f"sum(attribute={attribute()})", lambda: f"sum(start={e()})", lambda: f"round({self.pick(['1', '2', '-1', '0'])}, {self.pick(['common', 'ceil', 'floor'])!r})",
            lambda: f"int({e()})", lambda: "int(0, 16)", lambda: f"float({e()})", lambda: "tojson(indent=2)", lambda: "tojson(ensure_ascii=true)",
            lambda: "tojson(separators=(',', ':'))", lambda: "tojson(sort_keys=true)", lambda: f"indent({self.pick(['2', repr('> ')])}, {self.pick(['true', 'false'])})",
            lambda: "indent(3, blank=true)", lambda: f"truncate({self.pick(['5', '9', '20'])})", lambda: "truncate(6, true, '…', 0)", lambda: f"format({e()})", lambda: f"format({e()}, {e()})",
            lambda: f"attr({self.pick(['upper', 'name', 'items'])!r})", lambda: "reverse|list", lambda: "items|list", lambda: f"center({self.pick(['3', '20'])})"]
        return self.pick(self.FILTERS) if self.chance(0.4) else self.pick(special)()

    def test(self, depth):
        name = self.pick(self.TEST_NAMES) if self.chance(0.6) else f"{self.pick(self.TEST_ARGS)}({self.expression(depth - 1)})"
        return f"is {self.pick(['', '', 'not '])}{name}"

    def percent(self, depth):
        form = self.pick(["'%s|%s'", "'%d'", "'%5.1f'", "'%-6s|'", "'%05d'", "'%x'", "'%r'", "'%e'", "'%g'", "'%+d'", "'%%'", "'%(a)s'", "'%c'", "'%.3s'", "'%*d'"])
        values = self.pick(["({}, {})", "{}", "({},)"])
        return form + " % " + values.format(self.expression(depth - 1), self.expression(depth - 1))

    def braces(self, depth):
        spec = self.pick(["", ":>8", ":<8", ":^9", ":*^9", ":05d", ":.2f", ":,", ":x", ":b", ":e", ":%", ":+", "!r", "!s:>10", ":10.3", ":#x", ":_", ":g", ":.3", ":c", ":=+8"])
        field = self.pick(["", "0", "x", "0.a", "0[a]", "0[0]"])
        call = f"x={self.expression(depth - 1)}" if field == "x" else self.expression(depth - 1)
        return f"'<{{{field}{spec}}}>'.format({call})"

    def expression(self, depth):
        if depth <= 0:
            return self.atom()
        e = lambda: self.expression(depth - 1)
        kind = self.rng.randrange(22)
        if kind < 3:
            return self.atom()
        if kind < 6:
            return f"{e()}|{self.filter(depth)}" if self.chance(0.5) else f"({e()})|{self.filter(depth)}"
        if kind < 8:
            return f"({e()}){self.method(depth)}"
        if kind == 8:
            return f"{self.pick(self.NAMES)}.{self.pick(self.ATTRIBUTES)}"
        if kind == 9:
            return f"({e()})[{self.index(depth)}]"
        if kind == 10:
            return f"{self.pick(self.NAMES)}[{self.index(depth)}]"
        if kind == 11:
            return f"{e()} {self.test(depth)}"
        if kind == 12:
            return f"{e()} {self.pick(['+', '-', '*', '/', '//', '%', '**', '+', '*'])} {e()}"
        if kind == 13:
            return f"{e()} ~ {e()}" if self.chance(0.7) else f"{e()} ~ {e()} ~ {e()}"
        if kind == 14:
            operators = ["==", "!=", "<", "<=", ">", ">=", "in", "not in"]
            return f"{e()} {self.pick(operators)} {e()}" + (f" {self.pick(operators)} {e()}" if self.chance(0.2) else "")
        if kind == 15:
            return f"{e()} {self.pick(['and', 'or'])} {self.pick(['', 'not '])}{e()}"
        if kind == 16:
            return f"({e()} if {e()} else {e()})" if self.chance(0.7) else f"({e()} if {e()})"
        if kind == 17:
            return "[" + ", ".join(e() for _ in range(self.rng.randrange(4))) + "]"
        if kind == 18:
            return self.pick(["({0},)", "({0}, {1})", "()", "(({0}, {1}), {0})"]).format(e(), e())
        if kind == 19:
            return "{" + ", ".join(f"{self.pick([repr('a'), repr('b'), '1', '1.0', 'true', e()])}: {e()}" for _ in range(self.rng.randrange(3))) + "}"
        if kind == 20:
            return self.pick([self.percent, self.braces])(depth)
        return self.pick(["not {}", "-{}", "range({})", "range(1, 4)", "dict(a={})", "(range(5)|list)[{}:]", "+{}", "namespace(a={}).a", "range(10, 0, -3)|list"]).format(e())

    # Statements.

    def open(self, tag):
        return "{%" + self.pick(["", "", "-", "+"]) + " " + tag + " " + self.pick(["", "", "-", "+"]) + "%}"

    def output(self, depth):
        return "{{" + self.pick(["", "", "-", " "]) + " " + self.expression(depth) + " " + self.pick(["", "", "-", ""]) + "}}"

    def text(self):
        return self.pick(["", " ", "\n", "text\n", "  ", "\n  \n", "a b", "\t", "{", "}", "<|x|>", "line\n    ", "\r\n", "%}", "#"])

    def target(self):
        return self.pick(["x", "y", "x", "x, y"])

    def statement(self, depth):
        body = lambda: self.block(depth - 1)
        e = lambda: self.expression(2)
        kind = self.rng.randrange(17)
        if kind < 3:
            return self.open(f"if {e()}") + body() + (self.open(f"elif {e()}") + body() if self.chance(0.3) else "") \
                + (self.open("else") + body() if self.chance(0.5) else "") + self.open("endif")
        if kind < 7:
            items = self.pick([e(), "xs", "ys", "users", "d.items()", "d", "range(3)", "s", "nested", "d|dictsort", "[(1, 2), (3, 4)]", "xs[::-1]"])
            self.loops += 1
            inner = body() + (self.open(f"if {e()}") + self.open(self.pick(["break", "continue"])) + self.open("endif") + body() if self.chance(0.2) else "")
            self.loops -= 1
            target = "x, y" if ".items" in items or "dictsort" in items or "(1" in items else self.target()
            return self.open(f"for {target} in {items}" + (f" if {e()}" if self.chance(0.2) else "")) + inner \
                + (self.open("else") + body() if self.chance(0.3) else "") + self.open("endfor")
        if kind < 9:
            return self.open(f"set {self.target()} = {e()}")
        if kind == 9:
            return self.open("set x" + self.pick(["", " | upper", " | trim | length"])) + body() + self.open("endset")
        if kind == 10:
            signature, call = self.pick([("a, b=2", "{}"), ("a", "{}, {}"), ("a, b=none", "b={}, a={}"), ("a=1, b=a", ""), ("", "{}")])
            return self.open(f"macro m({signature})") + self.pick(["{{ a }}/{{ b }}", "[{{ a|string }}]", "{{ varargs }}{{ kwargs }}", "{{ caller() if caller else 'no' }}"]) + body() \
                + self.open("endmacro") + "{{ m(" + call.format(e(), e()) + ") }}" + self.text() + "{{ m(1) }}"
        if kind == 11:
            return self.open("macro w(a=0)") + "<{{ a }}{{ caller(a) }}>" + self.open("endmacro") + self.open("call(z) w(3)") + "{{ z }}" + body() + self.open("endcall")
        if kind == 12:
            return self.open("filter " + self.pick(["upper", "trim", "replace('a', 'b')", "indent(2)", "title|length"])) + body() + self.open("endfilter")
        if kind == 13:
            return self.open("set ns = namespace(c=0, l=[])") + "{% for x in " + self.pick(["xs", "ys", "users"]) + " %}{% set ns.c = ns.c + loop.index %}{% set ns.l = ns.l + [x] %}" \
                + "{{ loop.cycle('a', 'b') }}{{ loop.changed(x) }}{% endfor %}{{ ns.c }}{{ ns.l }}"
        if kind == 14:
            return self.open(f"with x = {e()}, y = x") + "{{ x }}{{ y }}" + body() + self.open("endwith")
        if kind == 15:
            return self.pick(["{# comment #}", "{#- c -#}", "{% raw %}{{ raw }}{% endraw %}", "{%- raw -%} {% x %} {%- endraw -%}\n", "{#\n#}\n", "{% generation %}g{{ s }}{% endgeneration %}",
                              "{{ raise_exception('no: ' ~ n) }}", "{{ strftime_now('%d %B %Y') }}", "{% print s, n %}", "{{ s is filter }}{{ 'upper' is filter }}", "{% block b %}{{ s }}{{ x }}{% endblock %}"])
        return "{% for x in [[1, [2, 3]], [4]] recursive %}{{ loop.depth }}:{{ loop(x) if x is iterable else x }};" + body() + "{% endfor %}"

    def block(self, depth):
        parts = []
        for _ in range(self.rng.randrange(1, 4)):
            parts.append(self.text())
            parts.append(self.statement(depth) if depth > 0 and self.chance(0.45) else self.output(self.rng.randrange(1, 4)))
        return "".join(parts) + self.text()

    def mutated(self, source):
        """A template with a mistake, now and then."""
        if not source or self.chance(0.93):
            return source
        at = self.rng.randrange(len(source))
        return source[:at] + self.pick(["", "", "{", "}", "(", "'", "|", "%", " is ", "nofilter", "-"]) + source[at + 1:]

    def case(self):
        return {"template": self.mutated(self.block(self.pick([0, 0, 1, 1, 2]))), "context": self.context()}


def python_render(env, case):
    try:
        return env.from_string(case["template"]).render(**case["context"]), None
    except (RecursionError, MemoryError) as error:
        return None, error
    except Exception as error:  # whatever Python raises is a failure of the template
        return None, error


# Python works these out when they are gone over, and a slice of a constant that has none when it compiles.
LAZY = re.compile(r"Can only get item pairs|object is not iterable|cannot be sliced|slice indices")
OUT_OF_SCOPE = re.compile(r"0x[0-9a-f]{6,}|<built-in method|<generator object|dict_(keys|values|items)\(\[.*Undefined")


def generate(generator, env):
    """A case and what Jinja2 makes of it. Most cases that fail are thrown away: too many of them would."""
    while True:
        case = generator.case()
        expected = python_render(env, case)
        if expected[1] is None or generator.chance(0.06):
            return case, expected


# Older sandboxes (3.1.2 is one) forgot that pop changes a list; ours refuses it as newer ones (3.1.6) do.
POP_ALLOWED = not any("pop" in names for kind, names in jinja2.sandbox._mutable_spec if issubclass(list, kind))


def compare(ours, expected, counts):
    """None, or what differs."""
    text, error = expected
    if "error" in ours:
        if error is not None:
            counts["both fail"] += 1
            return None
        if "64 bits" in ours["error"] or "it would need" in ours["error"] or OUT_OF_SCOPE.search(text) \
                or LAZY.search(ours["error"]) or POP_ALLOWED and "'pop' of 'list' object is unsafe" in ours["error"]:
            counts["left out"] += 1
            return None
        return f"we fail, Jinja2 gives {text!r}:\n  {ours['error']}"
    if error is not None:
        return f"Jinja2 fails, we give {ours['text']!r}:\n  {type(error).__name__}: {error}"
    if ours["text"] == text:
        counts["same text"] += 1
        return None
    if OUT_OF_SCOPE.search(text):
        counts["left out"] += 1
        return None
    return f"ours   {ours['text']!r}\n  jinja2 {text!r}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("render_lines")
    parser.add_argument("--cases", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # Python's compiler comments on odd templates
    generator = Generator(random.Random(options.seed))
    env = environment()
    generated = [generate(generator, env) for _ in range(options.cases)]
    cases = [case for case, _ in generated]
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    result = subprocess.run([options.render_lines], input=lines.encode(), capture_output=True, timeout=600)
    answers = result.stdout.splitlines()
    if result.returncode != 0 or len(answers) != len(cases):
        print(f"{options.render_lines} ended after {len(answers)} of {len(cases)} cases: {result.stderr.decode()}")
        if len(answers) < len(cases):
            print(json.dumps(cases[len(answers)]))
        return 1
    counts = {"same text": 0, "both fail": 0, "left out": 0, "different": 0}
    for i, ((case, expected), answer) in enumerate(zip(generated, answers)):
        difference = compare(json.loads(answer), expected, counts)
        if difference is None:
            continue
        counts["different"] += 1
        if counts["different"] <= options.show:
            print(f"case {i}: {case['template']!r}\n  context {case['context']}\n  {difference}\n")
    print(f"jinja2 {jinja2.__version__}: " + ", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["different"] or counts["same text"] < options.cases // 2 else 0


sys.exit(main())
