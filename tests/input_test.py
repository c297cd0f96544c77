#!/usr/bin/env python3
"""What `ekvi` reads from files that users name: the inputs of templates, pipes of every kind.

Usage: tests/input_test.py BINARY [TEST...]. As cli_test.py, whose helpers it uses.
"""

import json
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

import cli_test
from cli_test import EMBEDDED, LIMIT_S, Case, environment, start


class Pipes(Case):
    def test_prompts_come_from_pipes_of_every_kind(self):
        base = ["generate", "--temp", "0", "-n", "40", "-q"]
        want, pipe = self.answer(*base, "One morning"), self.folder / "pipe"
        self.assertEqual(self.answer(*base, "-f", "/dev/stdin", stdin=b"One morning"), want)
        self.assertEqual(self.answer(*base, "-f", "/dev/null"), self.answer(*base, ""))
        os.mkfifo(pipe)
        run = start(*base, "-f", pipe)
        with open(pipe, "wb", buffering=0) as writer:  # a person who pauses is not at the end
            for part in [b"One ", b"morn", b"ing"]:
                writer.write(part)
                time.sleep(0.1)
        self.assertEqual(run.communicate(timeout=LIMIT_S)[0], want)
        for text in ["One morning", ""]:  # process substitution, where the writer may be gone before ekvi looks
            for wait in [0, 0.3]:
                script = f'sleep {wait}; exec "$0" "$@"'
                read, write = os.pipe()
                run = subprocess.Popen(["sh", "-c", script, cli_test.BINARY, *base, "-f", f"/dev/fd/{read}"],
                                       pass_fds=[read], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       env=environment())
                os.close(read)
                os.write(write, text.encode())
                os.close(write)
                self.assertEqual(run.communicate(timeout=LIMIT_S)[0], want if text else self.answer(*base, ""))

    def test_a_pipe_without_a_writer_waits_for_one_or_a_signal(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        for args in [["generate", "-f", pipe], ["tokenize", "-f", pipe], ["template", pipe, "--input", "-"],
                     ["logits", "--tokens-file", pipe, "-o", self.folder / "o"], ["chat", "--load", pipe]]:
            for name, code in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
                with self.subTest(args=args, name=name):
                    run = start(*args)
                    time.sleep(0.5)
                    self.assertIsNone(run.poll())
                    run.send_signal(name)
                    self.assertEqual(run.communicate(timeout=LIMIT_S)[0], b"")
                    self.assertEqual(run.returncode, code)


class Templates(Case):
    def setUp(self):
        super().setUp()
        self.template, self.input = self.folder / "chat.jinja", self.folder / "input.json"

    def render(self, source, value, *args):
        self.template.write_text(source)
        self.input.write_text(json.dumps(value))
        return self.answer("template", self.template, "--input", self.input, *args).decode()

    def test_prints_the_text_and_nothing_else(self):
        source = "{% for m in messages %}\n<{{ m.role }}>{{ m['content'] | tojson }}\n{% endfor %}\n{{ bos_token }}"
        value = {"messages": [{"role": "user", "content": "é\n\"<"}], "bos_token": "<s>"}
        self.assertEqual(self.render(source, value), '<user>"é\\n\\"<"\n<s>')
        report = json.loads(self.render(source, value, "--json"))
        self.assertEqual(report["results"]["text"], '<user>"é\\n\\"<"\n<s>')

    def test_raise_exception_is_exit_code_3(self):
        self.template.write_text("a\n{{ raise_exception('Roles must alternate!') }}")
        self.input.write_text("{}")
        self.refused(3, "template", self.template, "--input", self.input, says=["Roles must alternate!", "line 2"])

    def test_what_is_wrong_is_said(self):
        self.input.write_text("{}")
        for source, code, says in [("{% if x %}", 3, "endif"), ("\n{{ x.y }}", 3, "line 2: 'x' is undefined"),
                                   ("{% include 'a' %}", 4, "include"), ("{{ 'a' * 10 ** 12 }}", 4, "more than")]:
            with self.subTest(source=source):
                self.template.write_text(source)
                self.refused(code, "template", self.template, "--input", self.input, says=[says])
        self.refused(2, "template", self.template, says=["--input"])
        self.refused(2, "template", "--input", self.input, says=["no template"])
        self.refused(3, "template", self.folder / "nowhere", "--input", self.input, says=["nowhere"])
        self.refused(4, "template", "-m", EMBEDDED, "--input", self.input, says=["no chat template"])
        deep = '{"a": ' + "[" * 1000000 + "]" * 1000000 + "}"
        for text, code in [("[1]", 3), (deep, 3), ("{}\0", 3), ('{"a": 98765432109876543210}', 4)]:
            self.input.write_text(text)
            self.refused(code, "template", self.template, "--input", self.input)
            (self.folder / "hub").mkdir(exist_ok=True)
            (self.folder / "hub" / "chat_template.jinja").write_text("{{ bos_token }}{{ a }}")
            (self.folder / "hub" / "tokenizer_config.json").write_text('{"bos_token": "<s>"}')
            self.refused(code, "template", "-m", self.folder / "hub", "--input", self.input)
        self.input.write_text("[1]")
        self.refused(3, "template", self.template, "--input", self.input, says=["no JSON object"])

    def test_the_date_is_an_option(self):
        self.assertEqual(self.render("{{ strftime_now('%Y') }}", {}, "--date", "then"), "then")
        self.assertRegex(self.render("{{ strftime_now('%Y') }}", {}, "--date", "now"), r"^\d{4}$")
        self.assertEqual(self.render("{{ strftime_now('%Y') }}", {}), self.render("{{ strftime_now('%d') }}", {}))

    def test_template_of_a_folder(self):
        self.input.write_text(json.dumps({"messages": []}))
        (self.folder / "tokenizer_config.json").write_text(json.dumps(
            {"chat_template": [{"name": "tools", "template": "t"}, {"name": "default", "template": "{{ bos_token }}d"}],
             "bos_token": {"content": "<b>"}, "eos_token": "<e>"}))
        self.assertEqual(self.answer("template", "-m", self.folder, "--input", self.input), b"<b>d")
        (self.folder / "chat_template.json").write_text(json.dumps({"chat_template": "j{{ eos_token }}"}))
        self.assertEqual(self.answer("template", "-m", self.folder, "--input", self.input), b"j<e>")
        (self.folder / "chat_template.jinja").write_text("file{{ eos_token }}")
        self.assertEqual(self.answer("template", "-m", self.folder, "--input", self.input), b"file<e>")
        self.input.write_text(json.dumps({"eos_token": "own"}))
        self.assertEqual(self.answer("template", "-m", self.folder, "--input", self.input), b"fileown")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: tests/input_test.py BINARY [TEST...]")
    cli_test.BINARY = str(Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=1)
