#!/usr/bin/env python3
"""The program from outside: exit codes, messages, what is on stdout and what is not, bits under every work option.

Usage: tests/cli_test.py BINARY [TEST...]. Runs the built program with the embedded model; what needs shared models is
skipped, and says so, where they are not there. Nothing asserts a time but the limits that keep a hanging program from
hanging us.
"""

import json
import os
import pty
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("EKVI_SHARED", ROOT.parent / "shared"))
STORIES = SHARED / "models" / "stories260K.gguf"
EMBEDDED = ROOT / "models" / "embedded.gguf"
BINARY = "ekvi"
LIMIT_S = 240  # no call may take longer, sanitizers included


def environment(**more):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("EKVI_")}
    return {**clean, **more}


def ekvi(*args, stdin=b"", env=None, **more):
    return subprocess.run([BINARY, *map(str, args)], input=stdin, capture_output=True, timeout=LIMIT_S,
                          env=environment(**(env or {})), **more)


def start(*args, **more):
    return subprocess.Popen([BINARY, *map(str, args)], bufsize=0, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), **more)


def starts_in(size):
    """What limits a child to so many bytes of addresses; None where the program cannot start in them (sanitizers)."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    return limit if ekvi("--version", preexec_fn=limit).returncode == 0 else None


class Reader:
    """Walks the bytes of a GGUF file, just far enough to find its tensors."""

    SCALARS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        value = struct.unpack_from("<" + form, self.data, self.at)[0]
        self.at += struct.calcsize("<" + form)
        return value

    def text(self):
        length = self.take("Q")
        self.at += length
        return self.data[self.at - length:self.at]

    def value(self, kind):
        if kind == 8:
            self.text()
        elif kind == 9:
            kind, count = self.take("I"), self.take("Q")
            for _ in range(count):
                self.value(kind)
        else:
            self.at += self.SCALARS[kind]

    def tensors(self):
        """Name: type and offset in the file."""
        self.at = 8
        tensor_count, key_count = self.take("Q"), self.take("Q")
        for _ in range(key_count):
            self.text()
            self.value(self.take("I"))
        found = {}
        for _ in range(tensor_count):
            name = self.text().decode()
            for _ in range(self.take("I")):
                self.take("Q")
            found[name] = (self.take("I"), self.take("Q"))
        begin = (self.at + 31) // 32 * 32
        return {name: (kind, begin + offset) for name, (kind, offset) in found.items()}


def poisoned(path, tensor):
    """The bytes of a model whose tensor begins with NaN."""
    data = bytearray(path.read_bytes())
    kind, at = Reader(data).tensors()[tensor]
    if kind == 0:
        struct.pack_into("<f", data, at, float("nan"))
    else:  # F16 values, or the f16 scale of a Q8_0 block
        struct.pack_into("<H", data, at, 0x7E00)
    return bytes(data)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="ekvi-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def refused(self, code, *args, says=(), **more):
        """One clear error with that exit code: nothing on stdout, no control characters, every part of `says`."""
        run = ekvi(*args, **more)
        self.assertEqual(run.returncode, code, (args, run.stderr))
        self.assertEqual(run.stdout, b"", args)
        text = run.stderr.decode()
        errors = [line for line in text.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(errors), 1, text)
        self.assertLess(len(text.splitlines()), 8, text)
        self.assertNotRegex(text, r"[\x00-\x09\x0b-\x1f\x7f]")
        self.assertRegex(text, r"\n  try: .")
        self.assertNotRegex(text, r"[a-z]_[a-z]+(\[| =)|\w \[\d+\]", "names of the program, not of the command line")
        for part in says:
            self.assertIn(part, text)
        return text

    def answer(self, *args, **more):
        run = ekvi(*args, **more)
        self.assertEqual(run.returncode, 0, (args, run.stderr))
        return run.stdout

    def report(self, *args, code=0, **more):
        run = ekvi(*args, "--json", **more)
        self.assertEqual(run.returncode, code, (args, run.stderr))
        return json.loads(run.stdout.decode("utf-8"))

    def needs(self, path):
        """Skips where this machine has no shared material at all; where it has, what is missing is a failure."""
        if not SHARED.exists():
            self.skipTest(f"no shared material on this machine: {SHARED} is not there")
        self.assertTrue(path.exists(), path)


class BadInput(Case):
    def test_usage(self):
        for args, says in [
            (["generte"], "did you mean ekvi generate?"),
            (["run", "x"], "did you mean ekvi generate?"),
            (["generate", "--tmp", "0", "x"], "did you mean --temp?"),
            (["generate", "--temperature", "0", "x"], "did you mean --temp?"),
            (["generate", "--ctx-size", "64", "x"], "did you mean --ctx?"),
            (["generate", "-n", "many", "x"], "a whole number"),
            (["generate", "--temp", "-1", "x"], "--temp"),
            (["generate", "--top-p", "nan", "x"], "--top-p"),
            (["generate", "--repeat-penalty", "0", "x"], "--repeat-penalty: '0'"),
            (["generate", "--kv", "page", "x"], "did you mean paged?"),
            (["generate", "--block", "17", "x"], "--block: '17' is not a value it takes"),
            (["inspect", "--block", "17"], "a multiple of 16"),
            (["generate", "--block", "32", "--kv", "contiguous", "x"], "--block"),
            (["generate", "--kv-type", "f16:int3", "x"], "'int3'"),
            (["generate", "--logit-bias", "5", "x"], "ID:VALUE"),
            (["generate", "--logit-bias", "99999999:1", "x"], "--logit-bias: token id 99999999"),
            (["generate", "--logit-bias", "5:inf", "x"], "ID:VALUE"),
            (["generate", "--stop", "", "x"], "--stop: the text is empty"),
            (["generate", "--stop", os.fsdecode(b"a\xff"), "x"], "--stop: 'a\\xff' is not UTF-8"),
            (["help", "genrate"], "did you mean ekvi help generate?"),
            (["help", "optoins"], "did you mean ekvi help options?"),
            (["verify", "--length", "99999"], "--length: 99,999 tokens do not fit the context"),
            (["verify", "--greedy", "99999"], "--greedy: 99,999 tokens do not fit the context"),
            (["verify", "--length", "600", "--greedy", "1017"], "8 tokens they continue + 1,017 = 1,025 > 1,024"),
            (["generate", "-c", "99999999", "x"], "maximum"),
            (["generate", "Once", "upon"], "quotes"),
            (["generate", "-f"], "needs a value"),
            (["generate", "-q", "-v", "x"], "contradict"),
            (["logits", "x"], "-o OUT"),
            (["logits", "-o", self.folder / "o", "--tokens", "1", "x"], "exclude"),
            (["logits", "-o", self.folder / "o", "--tokens", ""], "at least one token"),
            (["verify", "--inject", "no-such"], "--inject"),
            (["verify", "--tol", "1"], "--tol"),
            (["verify", "--golden", "x", "--expect", "y"], "--expect"),
            (["completion", "csh"], "bash, zsh, fish"),
            (["--json", "doctor"], "before a command"),
        ]:
            with self.subTest(args=args):
                self.refused(2, *args, says=[says])

    def test_values_that_no_model_takes_are_refused_before_it_is_read(self):
        for args, says in [(["--temp", "inf"], "--temp: 'inf'"), (["--temp", "nan"], "--temp: 'nan'"),
                           (["--temp", "1e999"], "--temp"), (["--repeat-penalty", "inf"], "--repeat-penalty"),
                           (["--top-p", "1.5"], "--top-p"), (["--min-p", "-0.5"], "--min-p"),
                           (["--top-k", "-1"], "--top-k"), (["--logit-bias", "5:nan"], "ID:VALUE"),
                           (["--logit-bias", "-5:1"], "ID:VALUE"), (["--stop", ""], "--stop"),
                           (["--kv-type", "f16:int3"], "'int3'"), (["--block", "32", "--kv", "contiguous"], "--block")]:
            for command in [["generate", "x"], ["chat"]]:
                with self.subTest(command=command, args=args):
                    self.refused(2, *command, "-m", "nowhere.gguf", *args, says=[says])
            self.refused(2, "generate", "-m", "nowhere.gguf", "x", env={"EKVI_TEMP": "inf"}, says=["EKVI_TEMP"])

    def test_a_word_is_no_model(self):
        for args in [["generate", "x"], ["chat"], ["tokenize", "x"], ["template", "-i", "-"], ["inspect"]]:
            self.refused(3, *args, "-m", "smollm2", stdin=b"{}", says=["cannot read smollm2", "./dev model smollm2"])
        self.assertNotIn("./dev", self.refused(3, "generate", "-m", "nowhere.gguf", "x"))

    def test_files(self):
        (self.folder / "empty.gguf").touch()
        (self.folder / "noise.gguf").write_bytes(bytes(range(256)) * 64)
        for args in [["-m", "nowhere.gguf"], ["-m", self.folder / "empty.gguf"], ["-m", self.folder / "noise.gguf"]]:
            with self.subTest(args=args):
                self.refused(3, "generate", *args, "x")
                self.refused(3, "inspect", *args)
        self.refused(3, "generate", "-m", self.folder, "x", says=["empty.gguf, noise.gguf", "name the file"])
        self.refused(3, "generate", "-f", self.folder / "nowhere", says=["nowhere"])
        self.refused(3, "generate", "-f", self.folder, says=["directory"])
        self.refused(2, "generate", "-f", "/dev/zero", says=["too long for one text"])
        for path in ["/dev/null", "/dev/zero"]:
            self.refused(3, "inspect", path, says=["not a regular file"])
        (self.folder / "hub").mkdir()
        for name in ["tokenizer_config.json", "chat_template.json"]:
            (self.folder / "hub" / name).write_text("[")
            self.refused(3, "template", "-m", self.folder / "hub", "--input", "-", stdin=b"{}", says=[name])
            (self.folder / "hub" / name).unlink()
        self.refused(3, "tokenize", "x", "--compare", self.folder / "noise.gguf", says=["noise.gguf"])
        self.refused(3, "verify", "--expect", self.folder / "nowhere.safetensors")
        self.refused(3, "verify", "--golden", self.folder / "nowhere")

    def test_br_45_truncated_model(self):
        data = EMBEDDED.read_bytes()
        path = self.folder / "cut.gguf"
        for length in [3, 23, 24, 100, 1000, len(data) // 3, len(data) - 1]:
            with self.subTest(length=length):
                path.write_bytes(data[:length])
                self.refused(3, "generate", "-m", path, "x", says=["cut.gguf"])

    def test_br_82_hostile_models(self):
        self.needs(SHARED / "models" / "bad")
        limit = starts_in(256 << 20)
        for path in sorted((SHARED / "models" / "bad").glob("*.gguf")):
            with self.subTest(path=path.name):
                run = ekvi("logits", "-m", path, "--tokens", "1,2,3", "-o", self.folder / "o", preexec_fn=limit)
                wanted = [0] if path.name.startswith("good") else [3, 4]
                self.assertIn(run.returncode, wanted, run.stderr)
                self.assertTrue(path.name.startswith("good") or len(run.stderr) > 30)

    def test_file_names_cannot_steer_the_terminal(self):
        self.refused(3, "inspect", "-m", "a\x1b[31m\nb", says=["\\x1b[31m\\x0ab"])

    def test_br_09_prompt_over_the_context(self):
        context = self.report("inspect")["model"]["ctx"]
        long = "word " * (context + 8)
        for args in [["generate", long], ["logits", long, "-o", self.folder / "o"]]:
            self.refused(2, *args, says=["does not fit the context", f"ctx {context:,}"])
        self.refused(2, "generate", "Once", "-n", str(context), says=[f"--max-tokens {context:,} = ", f"{context:,}"])
        self.refused(2, "generate", "Once upon a time", "-n", "8", "-c", "8", says=["--ctx"])

    def test_token_outside_the_vocabulary(self):
        vocabulary = self.report("inspect")["model"]["vocabulary"]
        for ids in [f"1,{vocabulary}", "2147483647"]:
            self.refused(2, "logits", "--tokens", ids, "-o", self.folder / "o", says=["outside the vocabulary"])
        self.refused(2, "logits", "--tokens", "1,-1", "-o", self.folder / "o", says=["'-1'"])
        self.refused(2, "tokenize", "--decode", str(vocabulary), says=["outside the vocabulary"])

    def test_nan_weights(self):
        path, out = self.folder / "nan.gguf", self.folder / "out"
        out.write_text("older")
        for tensor in ["blk.0.attn_q.weight", "blk.1.ffn_norm.weight", "output_norm.weight"]:
            with self.subTest(tensor=tensor):
                path.write_bytes(poisoned(EMBEDDED, tensor))
                self.refused(3, "generate", "-m", path, "-q", "Once", "-o", out)
                self.refused(3, "logits", "-m", path, "-q", "Once", "-o", out)
                self.assertEqual(out.read_text(), "older")

    def test_unsupported(self):
        mixed = ekvi("generate", "--kv-type", "f64", "--compute", "f32", "x")
        self.assertIn(mixed.returncode, (2, 4), mixed.stderr)
        self.assertIn(b"f64", mixed.stderr)
        have = self.report("doctor")["machine"]["targets"]
        for target in {"avx2", "avx2_vnni", "avx512", "avx512_vnni"} - set(have):
            self.refused(4, "generate", "--target", target, "x", says=["lacks"])

    def test_memory(self):
        limit = starts_in(96 << 20)
        if limit is None:
            self.skipTest("the program does not start in 96 MiB of addresses")
        ids = ",".join(["5"] * 900)
        run = ekvi("logits", "--tokens", ids, "--kv-type", "f32", "-o", self.folder / "o", preexec_fn=limit)
        self.assertIn(run.returncode, (0, 5), run.stderr)


class Writing(Case):
    def test_paths_that_cannot_be_written(self):
        locked = self.folder / "locked"
        locked.mkdir(mode=0o555)
        paths = [self.folder / "nowhere" / "o", self.folder]
        if os.access(locked, os.W_OK):
            paths.append("/proc/version")  # root writes anywhere but there
        else:
            paths.append(locked / "o")
        for path in paths:
            with self.subTest(path=path):
                self.refused(1, "logits", "--tokens", "1,2", "-o", path, says=["cannot write"])
                self.refused(1, "generate", "x", "-o", path, says=["cannot write"])

    def test_what_is_read_is_not_written_over(self):
        tokens = self.folder / "tokens"
        tokens.write_text("1,2")
        self.refused(2, "logits", "--tokens-file", tokens, "-o", tokens, says=["written over"])
        self.refused(2, "generate", "-f", tokens, "-o", tokens, says=["written over"])
        self.refused(2, "inspect", tokens, "-o", tokens, says=["written over"])
        self.assertEqual(tokens.read_text(), "1,2")
        tokens.chmod(0o444)
        self.refused(1, "logits", "--tokens", "1,2", "-o", tokens, says=["cannot write"])
        self.assertEqual(tokens.read_text(), "1,2")

    def test_full_disk(self):
        self.refused(1, "logits", "--tokens", "1,2", "-o", "/dev/full", says=["No space left"])
        self.refused(1, "generate", "x", "-n", "4", "-o", "/dev/full", says=["No space left"])
        for args in [["generate", "x", "-n", "4"], ["inspect"], ["doctor", "--json"], ["help"]]:
            with open("/dev/full", "w") as full:
                run = subprocess.run([BINARY, *args], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                                     timeout=LIMIT_S, env=environment())
            self.assertEqual(run.returncode, 1, args)
            self.assertIn(b"No space left", run.stderr)

    def test_limit_on_file_sizes(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))
        path = self.folder / "out"
        path.write_text("older")
        for args in [["logits", "--tokens", "1,2"], ["generate", "x", "-n", "4"], ["inspect", "--json"]]:
            self.refused(1, *args, "-o", path, says=["File too large"], preexec_fn=limit)
            self.assertEqual(path.read_text(), "older")
        with open(self.folder / "stdout", "w") as out:
            run = subprocess.run([BINARY, "help"], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
                                 timeout=LIMIT_S, env=environment(), preexec_fn=limit)
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"File too large", run.stderr)

    def test_output_file_holds_the_answer(self):
        path = self.folder / "text"
        path.write_text("older")
        self.assertEqual(self.answer("generate", "Once", "--temp", "0", "-n", "8", "-o", path), b"")
        self.assertEqual(path.read_bytes(), self.answer("generate", "Once", "--temp", "0", "-n", "8"))
        self.assertEqual([entry.name for entry in self.folder.iterdir()], ["text"])

    def test_closed_pipe(self):
        run = start("generate", "Once", "--ignore-end", "--no-cache", "-n", "600")
        self.assertTrue(run.stdout.read(1))
        run.stdout.close()
        errors = run.stderr.read().decode()
        run.stderr.close()
        self.assertEqual(run.wait(LIMIT_S), 0)
        self.assertNotIn("error", errors)

    def test_closed_stdout(self):
        run = subprocess.run(["sh", "-c", '"$0" generate x -n 4 >&-', BINARY], stdin=subprocess.DEVNULL,
                             capture_output=True, timeout=LIMIT_S, env=environment())
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"cannot write stdout", run.stderr)


class Interrupts(Case):
    SLOW = ["generate", "Once", "--temp", "0", "--ignore-end", "--no-cache", "-n", "900"]

    def interrupt(self, args, name, code):
        run = start(*args)
        first = run.stdout.read(1)
        run.send_signal(name)
        rest, errors = run.communicate(timeout=LIMIT_S)
        self.assertEqual(run.returncode, code, errors)
        return (first + rest).decode(), errors.decode()

    def test_ctrl_c_keeps_what_was_generated(self):
        for name, code in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
            with self.subTest(name=name):
                text, errors = self.interrupt(self.SLOW, name, code)
                self.assertIn("interrupted", errors)
                self.assertNotIn("error", errors)
                whole = self.answer("generate", "Once", "--temp", "0", "--ignore-end", "-n", "900").decode()
                self.assertTrue(text and whole.startswith(text))
                self.assertLess(len(text), len(whole))

    def test_interrupted_logits_write_nothing(self):
        out = self.folder / "out"
        ids = ",".join(["7"] * 1000)
        run = start("logits", "--tokens", ids, "--chunk", "1", "--target", "scalar", "-t", "1", "-o", out)
        run.stderr.readline()  # the header: the work begins
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=LIMIT_S)
        if run.returncode == 0:
            self.skipTest("the work was done before the signal came")
        self.assertEqual(run.returncode, 130, errors)
        self.assertFalse(out.exists())

    def test_signals_that_were_ignored_stay_ignored(self):
        def ignore():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        run = start("generate", "Once", "--ignore-end", "-n", "64", preexec_fn=ignore)
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=LIMIT_S)
        self.assertEqual(run.returncode, 0)


class Generate(Case):
    def text(self, *args, **more):
        return self.answer("generate", "--temp", "0", "-n", "40", "-q", *args, "One morning", **more)

    def test_stdout_carries_the_text_only(self):
        run = ekvi("generate", "--temp", "0", "-n", "40", "One morning")
        lines = run.stderr.decode().splitlines()
        self.assertEqual(len(lines), 2, lines)
        self.assertRegex(lines[0], r"^\S.* \S+ \| llama \d+ layers, .* heads \| ctx \d+ \| "
                                   r"KV paged \S+, .* at most \| \d+ threads? \| \w+( \| int8 arithmetic)?$")
        self.assertRegex(lines[1], r"^\d+ prompt tokens? \(0 cached\) .* \| first token .* \| "
                                   r"40 tokens, .* tok/s, p95 .* \| KV \d+ tokens, .* in \d+ blocks?$")
        self.assertEqual(run.stdout, self.text())
        report = self.report("generate", "--temp", "0", "-n", "40", "One morning")
        self.assertEqual(run.stdout.decode(), report["results"]["text"])
        self.assertFalse(run.stdout.endswith(b"\n\n"))

    def test_quiet_says_nothing(self):
        self.assertEqual(ekvi("generate", "-q", "-n", "4", "x").stderr, b"")

    def test_work_options_change_no_character(self):
        want = self.text()
        self.assertGreater(len(want), 40)
        for args in [["--no-cache"], ["--kv", "contiguous"], ["--block", "16"], ["--chunk", "1"], ["-t", "1"],
                     ["-t", "2"], ["--target", "scalar"], ["-c", "max"], ["-c", "64"], ["--seed", "9"]]:
            with self.subTest(args=args):
                self.assertEqual(self.text(*args), want)

    def test_br_73_an_empty_prompt_is_the_begin_token(self):
        results = self.report("generate", "-n", "4", "")["results"]
        self.assertEqual((results["prompt_tokens"], results["new_tokens"]), (1, 4))

    def test_an_empty_answer_is_explained(self):
        end_first = ["generate", "--logit-bias", "2:1000", "-n", "4", "x"]
        run = ekvi(*end_first)
        self.assertEqual((run.returncode, run.stdout), (0, b""))
        self.assertIn(b"ended at once", run.stderr)
        self.assertEqual(len(self.report(*end_first)["warnings"]), 1)
        self.assertNotIn(b"ended at once", ekvi(*end_first, "--ignore-end").stderr)

    def test_seed_decides_the_draws(self):
        def draw(seed, *args):
            return self.answer("generate", "-q", "-n", "40", "--seed", seed, *args, "One morning")
        self.assertEqual(draw("5"), draw("5", "--no-cache", "-t", "1"))
        self.assertEqual(len({draw(str(seed)) for seed in range(4)}), 4)

    def test_no_cache_shows_the_price(self):
        summary = ekvi("generate", "-n", "40", "--no-cache", "x").stderr
        self.assertRegex(summary, rb"no cache: [\d,]+ tokens computed instead of")

    def test_prompts_come_from_argument_file_or_stdin(self):
        (self.folder / "prompt").write_text("One morning\n")
        base = ["generate", "--temp", "0", "-n", "40", "-q"]
        want = self.text()
        self.assertEqual(self.answer(*base, "-f", self.folder / "prompt"), want)
        self.assertEqual(self.answer(*base, "-f", "-", stdin=b"One morning"), want)
        self.assertEqual(self.answer(*base, stdin=b"One morning\n"), want)
        self.assertEqual(self.answer(*base, "--", "One morning"), want)
        self.assertEqual(self.answer(*base, ""), self.answer(*base, stdin=b""))
        self.refused(2, *base, "One morning", "-f", self.folder / "prompt", says=["twice"])

    def test_environment_gives_values_and_flags_go_before(self):
        env = {"EKVI_MAX_TOKENS": "3", "EKVI_TEMP": "0", "EKVI_QUIET": "1"}
        for args, want in [([], "3"), (["-n", "9"], "9")]:
            greedy = self.answer("generate", "x", "-n", want, "--temp", "0")
            self.assertEqual(self.answer("generate", "x", *args, env=env), greedy)
        self.refused(2, "generate", "x", env={"EKVI_CHUNK": "0"}, says=["EKVI_CHUNK"])

    def test_unknown_variables_of_the_environment_are_said(self):
        said = ekvi("tokenize", "x", env={"EKVI_TMEP": "1", "EKVI_TEMP": "0", "EKVI_SHARED": "x", "EKVI_ZZZZZZZ": ""})
        self.assertEqual(said.returncode, 0)
        self.assertRegex(said.stderr.decode(), r"warning: .* EKVI_TMEP .*; did you mean EKVI_TEMP\?\n")
        self.assertIn(b"EKVI_ZZZZZZZ means nothing here\n", said.stderr)
        self.assertEqual(said.stderr.count(b"warning"), 2)
        self.assertEqual(ekvi("tokenize", "-q", "x", env={"EKVI_TMEP": "1"}).stderr, b"")

    def test_stops_end_before_their_text(self):
        whole = self.text().decode()
        word = whole.split()[3]
        self.assertEqual(self.text("--stop", word).decode(), whole[:whole.index(word)])

    def test_stories_text(self):
        self.needs(STORIES)
        want = (SHARED / "models" / "stories260K.expected.txt").read_text().strip()
        for args in [[], ["--no-cache"], ["--kv", "contiguous"], ["--kv", "paged", "--block", "16"], ["-t", "1"],
                     ["--chunk", "1"]]:
            got = self.answer("generate", "-m", STORIES, "--temp", "0", "-n", "150", *args, "-q", "").decode().strip()
            self.assertGreater(len(got), 100)
            self.assertEqual(got[:len(want)], want[:len(got)], args)


class RealModel(Case):
    """What needs the file of `./dev model smollm2`, in $EKVI_MODELS."""

    def setUp(self):
        super().setUp()
        self.model = Path(os.environ.get("EKVI_MODELS", "nowhere")) / "SmolLM2-135M-Instruct.Q4_1.gguf"
        self.assertTrue(self.model.exists(), f"{self.model}: ./dev test --models fetches it")

    def test_its_logits_are_the_references(self):
        expected = SHARED / "models" / "smollm2-135m-q4_1.expected.safetensors"
        self.needs(expected)
        for compute, bound in [("f64", 1e-6), ("f32", 2e-3)]:
            compared = json.loads(self.answer("verify", "-m", self.model, "--expect", expected, "--compute", compute,
                                              "--tol", bound, "--json"))["expect"]
            self.assertLessEqual(compared["max_abs_error"], bound)
            self.assertEqual(compared["greedy_equal"], compared["greedy_total"])

    def test_a_conversation_computes_only_what_is_new(self):
        run = ekvi("chat", "-m", self.model, "--compute", "f32", "--temp", "0", "-n", "20",
                   stdin=b"What is the capital of France?\nAnd of Italy?\n")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn(b"Paris", run.stdout)
        self.assertRegex(run.stderr, rb"\d+ prompt tokens \([1-9]\d* cached\)")

    def test_its_template_renders(self):
        path = self.folder / "input.json"
        path.write_text(json.dumps({"messages": [{"role": "user", "content": "Hi"}], "add_generation_prompt": True}))
        text = self.answer("template", "-m", self.model, "--input", path).decode()
        self.assertTrue(text.endswith("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"), text)


class Bits(Case):
    def logits(self, *args):
        out = self.folder / "out.safetensors"
        self.answer("logits", *args, "-o", out)
        return out.read_bytes()

    def check(self, model, ids):
        given = [*model, "--tokens", ",".join(map(str, ids))]
        want = self.logits(*given)
        targets = self.report("doctor")["machine"]["targets"]
        for args in [["--chunk", "1"], ["--chunk", "7"], ["--chunk", "255"], ["--kv", "contiguous"], ["--block", "16"],
                     ["--block", "64", "--chunk", "33"], ["-t", "1"], ["-t", "2", "--chunk", "100"],
                     ["-c", "max"], *[["--target", name, "--chunk", "64"] for name in targets]]:
            with self.subTest(args=args):
                self.assertTrue(self.logits(*given, *args) == want, args)

    def test_embedded_model(self):
        self.check([], [(17 * i * i + 5 * i) % 300 + 3 for i in range(300)])

    def test_stories_model(self):
        self.needs(STORIES)
        self.check(["-m", STORIES], [(17 * i * i + 5 * i) % 500 + 3 for i in range(300)])

    def test_file_holds_what_it_says(self):
        for compute, dtype, size in [("f32", "F32", 4), ("f64", "F64", 8)]:
            data = self.logits("--tokens", "5,6,7", "--compute", compute)
            length = struct.unpack("<Q", data[:8])[0]
            header = json.loads(data[8:8 + length])
            self.assertEqual(header["tokens"]["dtype"], "I64")
            self.assertEqual(header["tokens"]["shape"], [3])
            self.assertEqual(header["logits"]["dtype"], dtype)
            vocabulary = self.report("inspect")["model"]["vocabulary"]
            self.assertEqual(header["logits"]["shape"], [3, vocabulary])
            self.assertEqual(len(data), 8 + length + 3 * 8 + 3 * vocabulary * size)
            begin = 8 + length + header["tokens"]["data_offsets"][0]
            self.assertEqual(struct.unpack("<3q", data[begin:begin + 24]), (5, 6, 7))

    def test_ids_come_from_a_file_too(self):
        (self.folder / "ids").write_text("5 6\n7\n")
        self.assertEqual(self.logits("--tokens-file", self.folder / "ids"), self.logits("--tokens", "5,6,7"))


class Verify(Case):
    def test_all_paths_are_identical(self):
        report = self.report("verify")
        results = report["results"]
        self.assertIs(results["ok"], True)
        self.assertGreaterEqual(len(results["paths"]), 12)
        self.assertTrue(all(path["identical"] for path in results["paths"]))
        self.assertRegex(results["logits_sha256"], r"^[0-9a-f]{64}$")
        self.assertEqual((report["ok"], report["paths"]), (results["ok"], results["paths"]))
        self.assertNotIn("reference", report)

    def test_table_is_aligned(self):
        lines = self.answer("verify", "--length", "40", "--greedy", "4").decode().splitlines()
        self.assertRegex(lines[0], r"^reference: ")
        self.assertRegex(lines[1], r"^logits sha256 [0-9a-f]{64}$")
        at = lines[3].index("result")
        for line in lines[4:]:
            self.assertEqual(line[at:], "identical bits")
            self.assertEqual(line, line.rstrip())

    def test_every_fault_is_caught(self):
        names = self.answer("verify", "--inject", "list").decode().split()
        self.assertGreaterEqual(len(names), 8)
        for name in names:
            with self.subTest(name=name):
                run = ekvi("verify", "--inject", name, "--length", "300", "--greedy", "4")
                self.assertEqual(run.returncode, 6, run.stderr)
                self.assertIn(name, run.stderr.decode())
                self.assertRegex(run.stderr.decode(), r"\n  .+: .*\d")

    def test_faults_are_listed_with_what_they_break(self):
        listed = self.answer("verify", "--inject", "list", "-v").decode()
        for fault in self.report("verify", "--inject", "list")["results"]["faults"]:
            self.assertRegex(listed, rf"(?m)^{re.escape(fault['name'])} +{re.escape(fault['what'])}$")

    def test_every_length_is_proved(self):
        for length, greedy in [(1, 0), (1, 1), (2, 0), (3, 2), (7, 5), (8, 1016)]:
            with self.subTest(length=length, greedy=greedy):
                report = self.report("verify", "--length", length, "--greedy", greedy)
                self.assertTrue(report["ok"])
                self.assertRegex(report["results"]["reference"],
                                 rf"over {length} tokens?, then {greedy:,} greedy tokens?$")

    def test_expected_logits_that_do_not_fit_are_usage(self):
        expected = self.folder / "expected.safetensors"
        self.needs(SHARED / "models" / "tiny")
        model = self.report("inspect", SHARED / "models" / "tiny" / "llama")["model"]
        context, vocabulary = model["ctx"], model["vocabulary"]
        ids = struct.pack("<q", 5) * (context + 1)
        end = len(ids) + 8 * vocabulary * (context + 1)
        header = json.dumps({"tokens": {"dtype": "I64", "shape": [context + 1], "data_offsets": [0, len(ids)]},
                             "logits": {"dtype": "F64", "shape": [context + 1, vocabulary],
                                        "data_offsets": [len(ids), end]}}).encode()
        expected.write_bytes(struct.pack("<Q", len(header)) + header + ids + bytes(end - len(ids)))
        self.refused(2, "verify", "-m", SHARED / "models" / "tiny" / "llama", "--expect", expected,
                     says=["do not fit the model's context", f"{context + 1:,} tokens > {context:,}"])

    def test_golden_vectors(self):
        golden = SHARED / "golden"
        self.needs(golden)
        report = self.report("verify", "--golden", golden)
        self.assertEqual(len(report["golden"]), len(list(golden.glob("*.safetensors"))))
        self.assertEqual(report["golden"], report["results"]["golden"])
        self.assertEqual(set(report["golden"][0]), {"file", "kind", "max_abs_error"})
        self.assertEqual(report["results"]["worst"], max(entry["max_abs_error"] for entry in report["golden"]))
        some = sorted(golden.glob("decoder_*"))[:2]
        self.assertEqual(len(self.report("verify", "--golden", *some)["golden"]), 2)
        self.assertEqual(ekvi("verify", "--golden", *some, "--tol", "0").returncode, 6)

    def test_expected_logits(self):
        expected = self.folder / "expected.safetensors"
        self.answer("logits", "--tokens", "5,6,7,8,9,10,11,12,13", "--compute", "f64", "-o", expected)
        for compute in ["f64", "f32"]:
            report = self.report("verify", "--expect", expected, "--compute", compute)
            self.assertEqual(report["expect"], report["results"]["expect"])
            self.assertEqual(report["expect"]["positions"], 9)
            self.assertLessEqual(report["expect"]["max_abs_error"], report["expect"]["tolerance"])
            self.assertEqual(report["expect"]["greedy_total"], 0)
        self.assertEqual(report["expect"]["tolerance"], 2e-3)
        self.assertEqual(ekvi("verify", "--expect", expected, "--compute", "f32", "--tol", "0").returncode, 6)
        for args in [["-t", "1"], ["--chunk", "2"], ["--kv", "contiguous"], ["--target", "scalar"]]:
            again = self.report("verify", "--expect", expected, "--compute", "f32", *args)
            self.assertEqual(again["expect"]["max_abs_error"], report["expect"]["max_abs_error"], args)


class Reports(Case):
    def test_every_report_begins_alike(self):
        (self.folder / "out").touch()
        for args in [["generate", "-n", "2", "x"], ["verify", "--length", "20", "--greedy", "2"], ["inspect"],
                     ["tokenize", "x"], ["logits", "--tokens", "5", "-o", self.folder / "out"], ["doctor"]]:
            with self.subTest(args=args):
                report = self.report(*args)
                self.assertEqual(list(report)[:4], ["schema", "version", "build", "machine"])
                self.assertEqual(report["schema"], f"ekvi.{args[0]}/1")
                self.assertIs(report["params"]["json"], True)
                self.assertIn("warnings", report)

    def test_bytes_that_are_not_utf8_become_replacement_characters(self):
        report = self.report("tokenize", os.fsdecode(b"a\xffb"))
        self.assertEqual(len(report["results"]["ids"]), len(report["results"]["pieces"]))
        self.refused(3, "inspect", "-m", os.fsdecode(b"\xff.gguf"), says=["\\xff.gguf"])

    def test_inspect(self):
        results = self.report("inspect", EMBEDDED)["results"]
        layer = results["layers"][0]
        size = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}[results["kv"]["type_k"]]
        values = layer["kv_heads"] * (layer["head_dim_k"] + layer["head_dim_v"])
        self.assertEqual(layer["kv_bytes_per_token"], values * size)
        total = sum(entry["kv_bytes_per_token"] for entry in results["layers"])
        self.assertEqual(results["kv"]["bytes_per_token"], total)
        self.assertEqual(sum(total["bytes"] for total in results["tensor_types"].values()),
                         sum(tensor["bytes"] for tensor in results["tensors"]))
        self.assertIsNone(results["template"])
        self.assertGreaterEqual(results["peak_bytes"], results["weight_bytes"])
        lines = self.answer("inspect", "-v").decode().splitlines()
        self.assertTrue(any(line.startswith("KV per token") for line in lines))
        self.assertTrue(any(line.startswith("blk.0.attn_q.weight") for line in lines))
        self.assertTrue(any(line.startswith("general.architecture") for line in lines))
        self.assertTrue(all(line == line.rstrip() for line in lines))

    def test_inspect_of_a_folder(self):
        self.needs(SHARED / "models" / "tiny")
        hub = self.folder / "hub"
        shutil.copytree(SHARED / "models" / "tiny" / "gemma3_text", hub)
        config = json.loads((hub / "config.json").read_text())
        for name in ["rope_scaling", "rope_parameters"]:
            config.pop(name, None)
        config["rope_scaling"] = {"type": "linear", "factor": 8}  # the old spelling is obeyed, and shown
        (hub / "config.json").write_text(json.dumps(config))
        (hub / "chat_template.jinja").write_text("{{ messages }}")
        results = self.report("inspect", hub)["results"]
        factors = {layer["rope_factor"] for layer in results["layers"] if not layer["window"]}
        self.assertEqual(factors, {8})
        self.assertEqual({layer["rope_factor"] for layer in results["layers"] if layer["window"]}, {1})
        self.assertEqual(results["template"], {"name": str(hub / "chat_template.jinja"), "bytes": 14})
        text = self.answer("inspect", hub).decode()
        for part in ["scaled up to 8 times", "14 B in ", "KV per token", "resident while loading"]:
            self.assertIn(part, text)
        (hub / "chat_template.jinja").write_text("{% if %}")
        self.assertIn("cannot be used: ", self.answer("inspect", hub).decode())
        self.assertIn("line 1", self.report("inspect", hub)["warnings"][0])

    def test_tokenize(self):
        text = "One morning, Tom ran.\n"
        ids = self.answer("tokenize", text)
        self.assertEqual(self.answer("tokenize", stdin=text.encode()), ids)
        (self.folder / "text").write_text(text)
        self.assertEqual(self.answer("tokenize", "--file", self.folder / "text"), ids)
        self.assertEqual(self.answer("tokenize", "--decode", ids.decode()), text.encode())
        self.assertEqual(len(self.answer("tokenize", "--bos", text).split()), len(ids.split()) + 1)
        self.assertEqual(len(self.answer("tokenize", "--pieces", text).splitlines()), len(ids.split()))
        numbers = [int(word) for word in ids.split()]
        for given, code in [(numbers, 0), ({"ids": numbers}, 0), (numbers[:-1], 6), (numbers + [5], 6), ("text", 3)]:
            (self.folder / "ids.json").write_text(json.dumps(given))
            run = ekvi("tokenize", text, "--compare", self.folder / "ids.json")
            self.assertEqual(run.returncode, code, (given, run.stderr))

    def test_doctor(self):
        lines = self.answer("doctor").decode().splitlines()
        for name in ["cpu", "features", "target", "cores", "threads", "memory", "huge pages"]:
            self.assertTrue(any(line.startswith(name + " ") for line in lines), name)
        affinity = os.sched_getaffinity(0)
        one = self.report("doctor", preexec_fn=lambda: os.sched_setaffinity(0, {min(affinity)}))
        self.assertEqual(one["results"]["threads"], 1)

    def test_version_and_help(self):
        self.assertRegex(self.answer("--version"), rb"^ekvi \d+\.\d+\.\d+ \(")
        self.assertEqual(self.answer(), self.answer("--help"))
        self.assertEqual(self.answer("help", "verify"), self.answer("verify", "-h"))

    def test_completion_scripts_are_scripts(self):
        for shell, check in [("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])]:
            script = self.folder / shell
            script.write_bytes(self.answer("completion", shell))
            if shutil.which(shell):
                self.assertEqual(subprocess.run([*check, script], capture_output=True).stderr, b"", shell)
        words = 'source "$0"; COMP_WORDS=(ekvi generate --kv c); COMP_CWORD=3; _ekvi; echo "${COMPREPLY[*]}"'
        run = subprocess.run(["bash", "-c", words, self.folder / "bash"], capture_output=True)
        self.assertEqual(run.stdout, b"contiguous\n", run.stderr)


class Terminal(Case):
    def screen(self, *args, keys=b"", **env):
        """All that the program writes to its terminal, and its exit code; `keys` are typed at the first output."""
        child, terminal = pty.fork()
        if child == 0:
            os.execve(BINARY, [BINARY, *args], environment(**{"TERM": "xterm", **env}))
        shown = b""
        while select.select([terminal], [], [], LIMIT_S)[0]:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # the program has closed its terminal
                break
            shown += part
            if keys and shown:
                os.write(terminal, keys)
                keys = b""
        os.close(terminal)
        return shown.decode(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def test_text_ends_its_line_on_a_terminal(self):
        shown, code = self.screen("generate", "-q", "--temp", "0", "-n", "8", "One morning")
        self.assertEqual(code, 0)
        want = self.answer("generate", "-q", "--temp", "0", "-n", "8", "One morning").decode()
        self.assertEqual(shown, want.replace("\n", "\r\n") + "\r\n")

    def test_ctrl_c_is_typed(self):
        shown, code = self.screen("generate", "-q", "--ignore-end", "--no-cache", "-n", "900", "Once", keys=b"\x03")
        self.assertEqual(code, 130)
        self.assertTrue(shown.endswith("\r\n"), shown[-20:])

    def test_colours_are_for_terminals_that_want_them(self):
        self.assertIn("\x1b[1;31merror:", self.screen("generate", "--tmp")[0])
        self.assertNotIn("\x1b", self.screen("generate", "--tmp", NO_COLOR="1")[0])
        self.assertNotIn("\x1b", self.screen("generate", "--tmp", TERM="dumb")[0])
        self.assertIn(b"\x1b[32m", self.answer("verify", "--length", "8", "--greedy", "1", "--color", "always"))

    def test_progress_leaves_no_trace(self):
        shown, code = self.screen("verify", "--greedy", "1")
        self.assertEqual(code, 0)
        plain = re.sub(r"\r[^\r\n]*\x1b\[K", "", shown)
        self.assertTrue(re.sub(r"\x1b\[\d*m", "", plain).startswith("reference: "), shown[:200])
        self.assertEqual(ekvi("verify", "--length", "20", "--greedy", "1").stderr, b"")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: tests/cli_test.py BINARY [TEST...]")
    BINARY = str(Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=1)
