"""A conversation over pipes: each line a turn, answers on stdout, the counts of every turn on stderr."""
import json
import os
import re
import signal
import subprocess
import tempfile
import unittest

from support import DATA, MINFER, TIMEOUT_S

REPORT = re.compile(rb"reused (\d+), computed (\d+)[^,]*, generated (\d+)")
QUESTIONS = ["What is the capital of France?", "And of Italy?", "Name a fruit.", "Another one.", "Is it sweet?",
             "Say it in French: d\u00e9j\u00e0 vu \u2014 \u65e5\u672c", "Write <|im_end|> once.", "Count to three.",
             "Why?", "Thank you!"]


# With the system message that its template gives it, this model knows no capitals.
HELPFUL = ["--system", "You are a helpful assistant."]


def chat(lines, *options, model="default"):
    text = "".join(line + "\n" for line in lines)
    data = text.encode("utf-8", "surrogateescape")
    return subprocess.run([MINFER, "chat", model, *map(str, options)], input=data, capture_output=True,
                          timeout=TIMEOUT_S)


def turns(result):
    """(reused, computed, generated) of each turn."""
    return [tuple(map(int, found)) for found in REPORT.findall(result.stderr)]


class Chat(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)

    def path(self, name):
        return os.path.join(self.scratch.name, name)

    def assert_nothing_valid_is_computed_again(self, counts):
        for before, now in zip(counts, counts[1:]):
            # The last token of an answer never ran: it is an end token, or the turn was over.
            self.assertEqual(now[0], sum(before) - 1, counts)

    def test_thirty_turns_compute_only_what_is_new(self):
        result = chat(QUESTIONS * 3, "-n", 24, "--n-ctx", 2048)
        self.assertEqual(result.returncode, 0, result.stderr)
        counts = turns(result)
        self.assertEqual(len(counts), 30)
        self.assert_nothing_valid_is_computed_again(counts)
        for _, computed, _ in counts[1:]:
            self.assertLess(computed, 40)

    def test_plain_output(self):
        result = chat(["What is the capital of France?", "", "And of Italy?"], "--temp", 0, "-n", 24,
                      *HELPFUL)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(turns(result)), 2)
        self.assertIn(b"Paris", result.stdout)
        self.assertIn(b"Rome", result.stdout.splitlines()[1])
        for stream in (result.stdout, result.stderr):
            self.assertNotIn(b"\x1b", stream)
            self.assertNotIn(b"> ", stream)
        result.stdout.decode("utf-8", "strict")

    def test_colour_is_a_choice(self):
        result = chat(["Hello."], "-n", 1, "--color", "on")
        self.assertIn(b"\x1b[2m", result.stderr)
        self.assertNotIn(b"\x1b", result.stdout)

    def test_messages_of_several_lines(self):
        saved = self.path("chat.json")
        result = chat(['"""', "", "/help me", 'a "quoted" line', '"""', "one \\", "two", '"""three"""', f"/save {saved}"],
                      "-n", 1)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(saved) as file:
            messages = json.load(file)
        self.assertEqual([m["content"] for m in messages if m["role"] == "user"],
                         ['\n/help me\na "quoted" line', "one \ntwo", "three"])

    def test_regen_saving_and_loading(self):
        saved = self.path("chat.json")
        result = chat(["/system You are a pirate.", "What is the capital of France?", "/regen", f"/save {saved}",
                       "And of Italy?", f"/load {saved}", "And of Italy?", "/clear", f"/save {saved}.2"],
                      "--temp", 0, "-n", 24)
        self.assertEqual(result.returncode, 0, result.stderr)
        counts = turns(result)
        self.assertEqual(len(counts), 4)
        first, again, italy, loaded = counts
        # Another answer needs the logits of the prompt's last token, and nothing else.
        self.assertEqual(again[:2], (first[0] + first[1] - 1, 1))
        self.assertEqual(italy[0], sum(again) - 1)
        # What was loaded is what was said: the cache serves it, up to the same last token.
        self.assertEqual(loaded[:2], (italy[0] + italy[1] - 1, 1))
        answers = result.stdout.splitlines()
        self.assertEqual(answers[0], answers[1])
        with open(saved) as file:
            self.assertEqual([m["role"] for m in json.load(file)], ["system", "user", "assistant"])
        with open(saved + ".2") as file:
            self.assertEqual(json.load(file), [{"role": "system", "content": "You are a pirate."}])

    def test_a_session_goes_on_in_another_process(self):
        session = self.path("session.json")
        first = chat(QUESTIONS[:3], "--temp", 0, "-n", 12, "--session", session, "--system", "Be brief.")
        self.assertEqual(first.returncode, 0, first.stderr)
        second = chat(QUESTIONS[3:5], "--temp", 0, "-n", 12, "--session", session)
        self.assertEqual(second.returncode, 0, second.stderr)
        counts = turns(second)
        self.assertEqual(counts[0][0], 0)
        self.assert_nothing_valid_is_computed_again(counts)
        with open(session) as file:
            messages = json.load(file)
        self.assertEqual([m["role"] for m in messages], ["system"] + ["user", "assistant"] * 5)
        self.assertEqual(os.stat(session).st_mode & 0o777, 0o600)
        self.assertEqual(os.listdir(self.scratch.name), ["session.json"])

    def test_a_full_context_drops_the_oldest_and_goes_on(self):
        session = self.path("session.json")
        result = chat(QUESTIONS * 2, "--temp", 0, "-n", 24, "--n-ctx", 256, "--system", "Be brief.",
                      "--session", session)
        self.assertEqual(result.returncode, 0, result.stderr)
        counts = turns(result)
        self.assertEqual(len(counts), 20)
        drops = result.stderr.count(b"oldest messages were dropped")
        self.assertGreater(drops, 1)
        # Only the turns that dropped something began anew, and not from nothing: the system message stays.
        anew = [now for before, now in zip(counts, counts[1:]) if now[0] != sum(before) - 1]
        self.assertEqual(len(anew), drops)
        for reused, computed, _ in anew:
            self.assertGreater(reused, 5)
            self.assertLess(reused + computed, 256 * 3 // 4 + 1)
        with open(session) as file:
            self.assertEqual(json.load(file)[0], {"role": "system", "content": "Be brief."})

    def test_errors_end_a_turn_and_not_the_conversation(self):
        broken = self.path("broken.json")
        with open(broken, "w") as file:
            file.write('[{"role": "user", "content": "half')
        strange = self.path("strange.json")
        with open(strange, "w") as file:
            file.write('[{"role": "user", "content": {"no": "text"}}]')
        deep = self.path("deep.json")
        with open(deep, "w") as file:
            file.write("[" * 100000)
        result = chat(["What is the capital of France?", f"/load {broken}", f"/load {strange}", f"/load {deep}",
                       "/load", f"/load {self.path('none.json')}", "/nothing", "caf\udce9", "word " * 300, "/exit now",
                       f"/save {self.path('no/such/folder')}", "And of Italy?", "/quit", "never read"],
                      "--temp", 0, "-n", 24, "--n-ctx", 200, *HELPFUL)
        self.assertEqual(result.returncode, 1)
        errors = [line for line in result.stderr.splitlines() if line.startswith(b"minfer: error: ")]
        self.assertEqual(len(errors), 10, result.stderr)
        for error, word in zip(errors, (b"JSON", b"content", b"128", b"/load", b"none.json", b"/nothing", b"UTF-8",
                                        b"200", b"/exit", b"folder")):
            self.assertIn(word, error)
        first, second = turns(result)
        self.assertEqual(second[0], sum(first) - 1)
        self.assertIn(b"Rome", result.stdout.splitlines()[-1])

    def test_a_session_file_that_cannot_be_used_ends_the_program(self):
        with open(self.path("session.json"), "w") as file:
            file.write("{}")
        result = chat(["Hello."], "--session", self.path("session.json"))
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"list of messages", result.stderr)
        self.assertEqual(result.stdout, b"")

    def test_a_reader_that_leaves(self):
        process = subprocess.Popen([MINFER, "chat", "default", "-n", "200"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdin.write(b"Tell me a long story.\nAnother one.\n")
        process.stdin.flush()
        os.read(process.stdout.fileno(), 1)
        process.stdout.close()
        self.assertEqual(process.wait(TIMEOUT_S), 0)
        process.stdin.close()
        process.stderr.close()

    def test_interrupt_ends_the_program_with_its_answer(self):
        def start():
            process = subprocess.Popen([MINFER, "chat", "default", "-n", "2000"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.addCleanup(process.kill)
            return process

        process = start()
        process.stdin.write(b"Tell me a very long story.\nAnother one.\n")
        process.stdin.flush()
        os.read(process.stdout.fileno(), 1)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 130)
        self.assertIn(b"; stopped", errors)
        self.assertTrue(output.endswith(b"\n"))
        # While it waits for a line, there is nothing to end but itself.
        process = start()
        process.stdin.write(b"/system\n")
        process.stdin.flush()
        while not process.stderr.readline().startswith(b"There is no system message"):
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=TIMEOUT_S)
        self.assertIn(process.returncode, (130, -signal.SIGINT))

    def test_usage(self):
        golden = os.path.join(DATA, "golden", "llama-f16.gguf")
        result = chat(["x"], "--think", model=golden)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"thinking", result.stderr)
        self.assertEqual(chat([], "--color", "blue").returncode, 2)
        self.assertEqual(chat([], "--think", "--no-think").returncode, 2)
        nothing = chat([], model=golden)
        self.assertEqual((nothing.returncode, nothing.stdout), (0, b""))


unittest.main()
