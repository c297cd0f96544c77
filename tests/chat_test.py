#!/usr/bin/env python3
"""`ekvi chat` from outside: turns from a pipe, and a person at a terminal.

Usage: tests/chat_test.py BINARY [TEST...]. As cli_test.py, whose helpers it uses.
"""

import json
import os
import pty
import re
import select
import signal
import sys
import termios
import time
import unittest
from pathlib import Path

import cli_test
from cli_test import Case, ekvi, environment


class ChatCase(Case):
    BASE = ["chat", "--temp", "0", "-n", "12"]

    def chat(self, *lines, args=(), **more):
        return ekvi(*self.BASE, *args, stdin="".join(line + "\n" for line in lines).encode(), **more)

    @staticmethod
    def turns(run):
        """(prompt tokens, cached tokens) of each turn's summary."""
        found = re.findall(r"^([\d,]+) prompt tokens? \(([\d,]+) cached\)", run.stderr.decode(), re.M)
        return [tuple(int(number.replace(",", "")) for number in pair) for pair in found]


class Turns(ChatCase):
    def test_each_turn_computes_its_own_tokens_only(self):
        run = self.chat("Once upon a time", "One day", "Then")
        self.assertEqual(run.returncode, 0, run.stderr)
        turns = self.turns(run)
        self.assertEqual(len(turns), 3)
        self.assertEqual(turns[0][1], 0)
        for before, after in zip(turns, turns[1:]):
            self.assertEqual(after[1], before[0] + 12)
        self.assertNotIn(b"> ", run.stdout)

    def test_replies_are_those_of_generate(self):
        first = self.answer("generate", "--temp", "0", "-n", "12", "-q", "-f", "-", stdin=b"Once upon a time\n\n")
        self.assertEqual(self.chat("Once upon a time", args=["-q"]).stdout, first + b"\n")

    def test_lines_may_end_as_on_windows(self):
        self.assertEqual(self.chat("Once\r", "/stats\r").stdout, self.chat("Once").stdout)

    def test_the_argument_is_the_first_message_as_it_stands(self):
        asked, typed = self.chat("One day", args=["Once upon a time"]), self.chat("Once upon a time", "One day")
        self.assertEqual(asked.returncode, 0, asked.stderr)
        self.assertEqual(asked.stdout, typed.stdout)
        self.assertEqual(self.turns(asked), self.turns(typed))
        path = self.folder / "chat.json"
        for message in ["/help", "//x", "a\nb", "a\\", "One day", "\u2603"]:
            with self.subTest(message=message):
                run = self.chat(f"/save {path}", args=[message])
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertEqual(json.loads(path.read_text())["messages"][0]["content"], message)
        run = self.chat("Then", args=["One day", "--load", path, "--json"])
        self.assertEqual([m["content"] for m in json.loads(run.stdout)["results"]["messages"] if m["role"] == "user"],
                         ["\u2603", "One day", "Then"])
        self.refused(2, "chat", "-m", "nowhere.gguf", "", says=["the message is empty"])
        self.refused(2, "chat", "x", "y")
        self.assertEqual(self.chat(args=["word " * 2000]).returncode, 2)

    def test_a_backslash_at_the_end_goes_on_in_the_next_line(self):
        path = self.folder / "chat.json"
        for lines, want in [(["a\\", "b"], ["a\nb"]), (["a\\", "", "b"], ["a\n", "b"]),
                            (["a\\", "/help"], ["a\n/help"]),
                            (["//a\\", "b\\", "//c"], ["/a\nb\n//c"]), (["a\\ ", "b"], ["a\\ ", "b"]),
                            (["a\\\\", "b"], ["a\\\nb"]), (["\\", "b"], ["\nb"]), (["a\\\r", "b\r"], ["a\nb"])]:
            with self.subTest(lines=lines):
                run = self.chat(*lines, f"/save {path}")
                self.assertEqual(run.returncode, 0, run.stderr)
                said = [m["content"] for m in json.loads(path.read_text())["messages"] if m["role"] == "user"]
                self.assertEqual(said, want)
        self.assertEqual(self.chat("x", f"/save {path}\\", "x").returncode, 0)  # a command is a line
        self.assertTrue(Path(f"{path}\\").exists())
        run = self.chat("a\\", "b\\", args=["--json"])  # the input ends in a message
        self.assertEqual(json.loads(run.stdout)["results"]["messages"][0]["content"], "a\nb")
        for word in ["backslash", "first message"]:
            self.assertIn(word, " ".join(self.answer("help", "chat").decode().split()))

    def test_json_is_one_object_with_every_turn(self):
        run = self.chat("Once upon a time", "/undo", "One day", "Then", args=["--json"])
        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads(run.stdout)
        self.assertEqual(report["schema"], "ekvi.chat/1")
        self.assertEqual([m["role"] for m in report["results"]["messages"]], ["user", "assistant"] * 2)
        texts = [turn["text"] for turn in report["results"]["turns"]]
        self.assertEqual(texts[1:], [m["content"] for m in report["results"]["messages"] if m["role"] == "assistant"])
        self.assertEqual({turn["finish"] for turn in report["results"]["turns"]}, {"length"})
        generated = json.loads(self.answer("generate", "-n", "2", "x", "--json"))
        for turn in report["results"]["turns"]:
            self.assertLessEqual(set(generated["results"]), set(turn))

    def test_a_reply_that_is_cut_off_is_marked(self):
        cut = b"cut off by --max-tokens 12"
        self.assertIn(cut, self.chat("Once").stderr)
        self.assertNotIn(cut, self.chat("Once", args=["--stop", "a"]).stderr)
        self.assertIn(b"the context is full", self.chat("Once", args=["-n", "90", "-c", "32"]).stderr)
        self.assertIn(b"cut off by EKVI_MAX_TOKENS 3", ekvi("chat", stdin=b"x\n", env={"EKVI_MAX_TOKENS": "3"}).stderr)

    def test_over_the_context_is_usage_with_numbers(self):
        for lines, args in [(["word " * 2000], []), (["Once upon a time"] * 9, ["-c", "64"])]:
            run = self.chat(*lines, args=args)
            self.assertEqual(run.returncode, 2, run.stderr)
            for part in [rb"does not fit the context\n  [\d,]+ tokens .* too many: context", b"try: /undo, /reset"]:
                self.assertRegex(run.stderr, part)
        self.assertRegex(run.stderr, b"begin again with --ctx")

    def test_what_cannot_be_talked_to_is_refused_before_the_first_message(self):
        self.needs(cli_test.SHARED / "models" / "tiny")
        for file in (cli_test.SHARED / "models" / "tiny" / "llama").iterdir():
            if "tokenizer" not in file.name and "gguf" not in file.name:
                (self.folder / file.name).write_bytes(file.read_bytes())
        self.assertIn("has no tokenizer", self.refused(4, "chat", "-m", self.folder, stdin=b""))


class Commands(ChatCase):
    def test_undo_and_reset_go_back(self):
        plain = self.chat("Once upon a time", "One day").stdout
        undone = self.chat("Once upon a time", "Something else", "/undo", "One day")
        lines = undone.stdout.decode().split("\n")
        self.assertEqual(undone.returncode, 0, undone.stderr)
        self.assertTrue(undone.stdout.endswith(plain[plain.index(b"\n"):]), (plain, lines))
        again = self.chat("Once upon a time", "/reset", "Once upon a time")
        half = len(again.stdout) // 2
        self.assertEqual(again.stdout[:half], again.stdout[half:])
        self.assertIn(b"nothing to take back", self.chat("/undo").stderr)

    def test_save_and_load(self):
        path = self.folder / "chat.json"
        whole = self.chat("Once upon a time", "One day").stdout
        first = self.chat("Once upon a time", f"/save {path}")
        self.assertEqual([m["role"] for m in json.loads(path.read_text())["messages"]], ["user", "assistant"])
        for run in [self.chat(f"/load {path}", "One day"), self.chat("One day", args=["--load", path])]:
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(first.stdout + run.stdout, whole)
        self.assertEqual(self.chat("One day", f"/save {path}", args=["--load", path]).returncode, 0)
        self.assertEqual(len(json.loads(path.read_text())["messages"]), 4)
        path.write_text("[]")
        bad = self.chat(f"/load {path}")
        self.assertEqual(bad.returncode, 3)
        self.assertIn(b"no conversation", bad.stderr)

    def test_the_system_message_is_the_flags_or_the_files(self):
        path, out = self.folder / "chat.json", self.folder / "out.json"
        for saved, flag, want in [(None, None, None), ("old", None, "old"), (None, "new", "new"), ("old", "new", "new"),
                                  ("old", "", None)]:
            with self.subTest(saved=saved, flag=flag):
                system = [{"role": "system", "content": saved}] if saved else []
                path.write_text(json.dumps({"messages": system + [{"role": "user", "content": "x"}]}))
                flags = ["--load", path] + ([] if flag is None else ["--system", flag])
                run = self.chat(f"/save {out}", args=flags)
                self.assertEqual(run.returncode, 0, run.stderr)
                found = [m["content"] for m in json.loads(out.read_text())["messages"] if m["role"] == "system"]
                self.assertEqual(found, [want] if want else [])
                said = b"--system takes the place of the system message" in run.stderr
                self.assertEqual(said, saved is not None and flag is not None)
        run = self.chat(f"/load {path}", args=["--system", "mine"])
        self.assertIn(b"its system message is in force now", run.stderr)

    def test_save_fails_as_an_answer_that_cannot_be_written(self):
        locked = self.folder / "locked.json"
        locked.write_text("older")
        locked.chmod(0o444)
        for path in ["/dev/full", self.folder, self.folder / "nowhere" / "x", locked]:
            with self.subTest(path=path):
                run = self.chat("x", f"/save {path}")
                self.assertEqual(run.returncode, 1, run.stderr)
                self.assertRegex(run.stderr, rb"error: cannot write .*\n  .*\n  try: ")
        self.assertEqual(locked.read_text(), "older")
        model = self.folder / "model.gguf"
        model.write_bytes(cli_test.EMBEDDED.read_bytes())
        run = self.chat(f"/save {model}", args=["-m", model])
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(model.read_bytes(), cli_test.EMBEDDED.read_bytes())

    def test_home_is_meant_by_a_tilde(self):
        self.assertEqual(self.chat("x", "/save ~/c.json", "/load ~/c.json", env={"HOME": str(self.folder)}).returncode,
                         0)
        self.assertTrue((self.folder / "c.json").exists())

    def test_what_is_asked_for_is_said_even_if_quiet(self):
        run = self.chat("x", "/stats", "/help", args=["-q"])
        self.assertRegex(run.stderr, rb"^2 messages \| 1 turn \|")
        self.assertIn(b"/undo", run.stderr)
        self.assertNotIn(b"prompt tokens (", run.stderr)

    def test_stats_are_those_of_the_summary(self):
        for kv in ["paged", "contiguous"]:
            said = self.chat("Once upon a time", "/stats", args=["--kv", kv]).stderr.decode()
            tokens, size = re.search(r"KV (\d+) tokens, (\S+ \S+?B)", said).groups()
            self.assertRegex(said, rf"KV {tokens} of 1,024 tokens, {size}\n")

    def test_commands_take_what_they_take(self):
        for line, says in [("/undo now", "takes no argument"), ("/stats x", "takes no argument"),
                           ("/save", "needs a file"), ("/load", "needs a file"), ("/load -", "needs a file"),
                           ("/svae x", "did you mean /save?"), ("/nope", "/help lists them"), ("/", "/help lists")]:
            with self.subTest(line=line):
                self.assertIn("try: ", self.refused(2, *self.BASE, stdin=line.encode() + b"\n", says=[says]))
        self.refused(2, *self.BASE, "--load", "-", stdin=b"x\n", says=["--load"])

    def test_others(self):
        self.assertRegex(self.chat("x", "/stats").stderr, rb"2 messages \| 1 turn \|")
        self.assertEqual(self.turns(self.chat("/quit", "x")), [])
        self.assertEqual(self.turns(self.chat("/quit  ", "x")), [])
        self.assertEqual(len(self.turns(self.chat("//x"))), 1)
        self.assertEqual(self.chat().returncode, 0)


class Person(ChatCase):
    """At a terminal: what is typed, and what the screen shows."""

    SLOW = ["-n", "900", "--logit-bias", "2:-inf", "--target", "scalar", "--compute", "f64", "-t", "1"]

    def begin(self, *args, **env):
        child, self.terminal = pty.fork()
        if child == 0:
            os.execve(cli_test.BINARY, [cli_test.BINARY, *map(str, self.BASE + list(args))],
                      environment(**{"TERM": "xterm", "NO_COLOR": "1", **env}))
        self.child, self.raw = child, b""
        self.addCleanup(self.end)

    def end(self):
        if self.child:
            os.kill(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)
            os.close(self.terminal)
            self.child = 0

    def read(self):
        self.assertTrue(select.select([self.terminal], [], [], 30)[0], ("nothing more came", self.raw))
        try:
            part = os.read(self.terminal, 4096)
        except OSError:
            part = b""
        self.raw += part
        return part

    def sees(self, pattern):
        """Waits until the screen shows it, and forgets what came before its end."""
        while True:
            text = self.raw.decode(errors="replace")
            if found := re.search(pattern, text):
                self.raw = text[found.end():].encode()
                return found.group(0)
            self.assertTrue(self.read(), (pattern, text))

    def types(self, keys):
        os.write(self.terminal, keys.encode() if isinstance(keys, str) else keys)

    def code(self):
        while self.read():
            pass
        status = os.waitpid(self.child, 0)[1]
        self.child = 0
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(status)

    def test_a_message_and_an_end(self):
        self.begin()
        self.sees("> ")
        self.types("Once upon a time\n")
        self.sees(r"prompt tokens \(0 cached\)")
        self.sees("> ")
        self.types("\x04")
        self.assertEqual(self.code(), 0)

    def test_a_first_message_is_answered_and_the_conversation_goes_on(self):
        self.begin("Once upon a time")
        self.sees(r"prompt tokens \(0 cached\)")
        self.sees("> ")
        self.types("One day\n")
        self.sees(r"prompt tokens \([1-9]")
        self.sees("> ")
        self.types("\x04")
        self.assertEqual(self.code(), 0)

    def test_a_message_of_lines(self):
        for term in ["xterm", "dumb"]:
            out = self.folder / f"{term}.json"
            self.begin(TERM=term)
            self.sees("> ")
            self.types("lost\\\n")
            self.sees(r"\.\.\. ")
            self.types("\x03")
            self.sees("Ctrl-C again")
            self.sees("> ")
            self.types("One\\\n")
            self.sees(r"\.\.\. ")
            self.types("/day\n")
            self.sees("prompt token")
            self.sees("> ")
            self.types(f"/save {out}\n")
            self.sees("messages in")
            self.sees("> ")
            self.types("\x04")
            self.assertEqual(self.code(), 0)
            self.assertEqual(json.loads(out.read_text())["messages"][0]["content"], "One\n/day")

    def test_letters_of_all_alphabets_can_be_edited(self):
        for language in ["C", "C.UTF-8", ""]:
            with self.subTest(language=language):
                out = self.folder / f"{language}.json"
                self.begin(LC_ALL=language, LANG=language)
                self.sees("> ")
                self.types("Zoe\u0308 \u00fcx\u0442\x7f\u4e2d")
                self.sees("\u4e2d")
                self.types("\n")
                self.sees("prompt token")
                self.sees("> ")
                self.types(f"/save {out}\n")
                self.sees("messages in")
                self.sees("> ")
                self.types("\x04")
                self.assertEqual(self.code(), 0)
                self.assertEqual(json.loads(out.read_text())["messages"][0]["content"], "Zoe\u0308 \u00fcx\u4e2d")

    def test_earlier_lines_come_back(self):
        self.begin()
        self.sees("> ")
        self.types("Once\n")
        self.sees("prompt token")
        self.sees("> ")
        self.types("\x1b[A\n")
        self.sees(r"prompt tokens? \([1-9]")
        self.sees("> ")
        self.types("\x04")
        self.assertEqual(self.code(), 0)

    def test_ctrl_c_at_the_prompt_clears_the_line(self):
        self.begin()
        self.sees("> ")
        self.types("Once upon\x03")
        self.sees(r"\^C\r\n.*Ctrl-C again")
        self.sees("> ")
        self.types("x")
        self.sees("x")
        self.types("\x03")  # something was typed: not the second in a row on an empty line
        self.sees("Ctrl-C again")
        self.sees("> ")
        self.types("One\n")
        self.sees("prompt token")
        self.sees("> ")
        self.types("\x03")
        self.sees("Ctrl-C again")
        self.sees("> ")
        self.types("/stats\n")
        self.sees(r"2 messages \| 1 turn")
        self.sees("> ")
        self.types("\x03")
        self.sees("Ctrl-C again")
        self.sees("> ")
        self.types("\x03")
        self.assertEqual(self.code(), 130)

    def test_ctrl_c_stops_a_reply_and_keeps_it(self):
        self.begin(*self.SLOW, "-v")
        self.sees("> ")
        self.types("Once upon a time\n")
        self.sees(r"time\r\n.+\w")
        self.types("\x03\x03\x03")
        self.sees("interrupted")
        self.sees("> ")
        self.types("/stats\n")
        self.sees(r"2 messages \| 1 turn")
        self.sees("> ")
        self.types("\x04")
        self.assertEqual(self.code(), 0)

    def test_errors_end_a_turn_only(self):
        self.begin("-c", "64")
        for line, says in [("word " * 100, "does not fit the context"), ("/nope", "not a command"),
                           ("/load nowhere", "cannot read nowhere"), ("/save /dev/full", "cannot write")]:
            self.sees("> ")
            self.types(line + "\n")
            self.sees("error: .*" + says)
            self.sees("try: ")
        self.sees("> ")
        self.types("Once\n")
        self.sees("prompt token")
        self.sees("> ")
        self.types("\x04")
        self.assertEqual(self.code(), 0)

    def test_ctrl_c_ends_the_wait_for_a_pipe(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.begin()
        self.sees("> ")
        self.types(f"/load {pipe}\n")
        time.sleep(0.5)
        self.types("\x03")
        self.sees("error: interrupted while reading")
        self.sees("> ")
        self.types("\x04")
        self.assertEqual(self.code(), 0)

    def test_a_signal_gives_the_terminal_back(self):
        self.begin()
        before = termios.tcgetattr(self.terminal)
        self.sees("> ")
        time.sleep(0.2)
        os.kill(self.child, signal.SIGTERM)
        status = os.waitpid(self.child, 0)[1]
        after = termios.tcgetattr(self.terminal)
        self.child = 0
        os.close(self.terminal)
        self.assertEqual(os.waitstatus_to_exitcode(status), 143)
        self.assertEqual(after[:4], before[:4])

    def test_without_editing_a_terminal_is_a_terminal_too(self):
        for term in ["dumb", ""]:
            self.begin(TERM=term)
            self.sees("> ")
            self.types("Once\n")
            self.sees("prompt token")
            self.sees("> ")
            self.types("\x03")
            self.sees("Ctrl-C again")
            self.types("/nope\n")
            self.sees("not a command")
            self.sees("> ")
            self.types("\x04")
            self.assertEqual(self.code(), 0)

    def test_json_is_for_pipes(self):
        self.begin("--json")
        self.sees("error: --json")
        self.assertEqual(self.code(), 2)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: tests/chat_test.py BINARY [TEST...]")
    cli_test.BINARY = str(Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=1)
