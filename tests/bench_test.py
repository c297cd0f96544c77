#!/usr/bin/env python3
"""`ekvi bench` from outside: its report, its tables, what it refuses, and the neighbour that it leaves behind: none.

Usage: tests/bench_test.py BINARY [TEST...]. As cli_test.py, whose helpers it uses. No time is asserted.
"""

import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

import cli_test
from cli_test import LIMIT_S, Case, environment, start

SHORT = ["--seconds", "0.001"]
ONE_KERNEL = ["bench", "kernels", "--filter", "q8_0 int8 m 1 n 1536", *SHORT]


class Bench(Case):
    def check_ceilings(self, report, threads):
        ceilings = report["ceilings"]
        self.assertEqual(set(ceilings), {"fma_f32_gflops", "int8_gops", "read_gbps"})
        for of_kind in ceilings.values():
            self.assertEqual(set(of_kind), {str(count) for count in threads})
        for count in map(str, threads):
            self.assertEqual(set(ceilings["read_gbps"][count]), {"l2", "l3", "dram"})
            for value in [ceilings["fma_f32_gflops"][count], ceilings["int8_gops"][count],
                          *ceilings["read_gbps"][count].values()]:
                self.assertGreater(value, 0)

    def check_row(self, row):
        self.assertGreater(row["share"], 0)
        self.assertGreaterEqual(row["spread"], 0)
        self.assertIn(row["limit"], ["fma", "int8", "read"])

    def test_kernels_report(self):
        report = self.report(*ONE_KERNEL)
        self.assertEqual(list(report)[:4], ["schema", "version", "build", "machine"])
        self.assertEqual(report["schema"], "ekvi.bench/1")
        self.assertIn("warnings", report)
        threads = sorted({1, report["machine"]["threads"]})
        self.check_ceilings(report, threads)
        self.assertEqual([row["threads"] for row in report["kernels"]], threads)
        for row in report["kernels"]:
            self.check_row(row)
            self.assertEqual((row["kernel"], row["dtype"], row["compute"]), ("matmul", "q8_0", "int8"))
            self.assertEqual(row["shape"], {"m": 1, "n": 1536, "k": 576})
        self.assertEqual(report["results"]["kernels"], report["kernels"])

    def test_attention_report(self):
        report = self.report("bench", "kernels", "--filter", "attention_prefill f16 f32 9/3", "-t", "1", *SHORT)
        [row] = report["kernels"]
        self.check_row(row)
        self.assertLessEqual({"q_heads", "kv_heads", "head_dim", "new", "past"}, set(row["shape"]))

    def test_model_report(self):
        report = self.report("bench", "-t", "2", *SHORT)
        self.check_ceilings(report, [2])
        self.assertEqual([row["tokens"] for row in report["prefill"]], [512])
        self.assertEqual([row["depth"] for row in report["decode"]], [0])
        self.assertEqual([row["sequences"] for row in report["batch"]], [1, 8])
        for row in report["prefill"] + report["decode"] + report["batch"]:
            self.check_row(row)
            self.assertEqual(row["threads"], 2)
            self.assertGreater(row["tok_s"], 0)

    def test_neighbour_report(self):
        report = self.report("bench", "neighbour", *SHORT)
        [row] = report["neighbour"]
        self.assertEqual(row["threads"], report["machine"]["threads"])
        self.assertAlmostEqual(row["share"], row["tok_s_beside"] / row["tok_s_alone"])

    def test_every_target_is_measured_against_its_own_ceilings(self):
        for target in self.report("doctor")["machine"]["targets"]:
            report = self.report(*ONE_KERNEL, "-t", "1", "--target", target)
            self.assertEqual(report["target"], target)
            self.check_ceilings(report, [1])

    def test_tables_are_aligned_and_ceilings_come_first(self):
        for args in [ONE_KERNEL, ["bench", *SHORT], ["bench", "neighbour", *SHORT]]:
            lines = self.answer(*args).decode().splitlines()
            self.assertTrue(all(len(line) <= 120 and line == line.rstrip() for line in lines), lines)
            [title] = [at for at, line in enumerate(lines) if line.endswith(("spread", " share"))]
            self.assertTrue(lines[title + 1:])
            for row in lines[title + 1:]:
                self.assertEqual(len(row), len(lines[title]), lines)
            if "neighbour" not in args:
                said = "\n".join(lines[:title])
                self.assertIn("GFLOP/s", said)
                self.assertIn("One thread is timed by its own processor time", said)

    def test_what_means_nothing_is_refused(self):
        for args, says in [
            (["bench", "kernels", "--filter", "no-such"], ["no-such", "attention_decode"]),
            (["bench", "kernels", "--filter", "a\x1b[2J"], ["\\x1b"]),
            (["bench", "krnels"], ["'krnels' is nothing to measure"]),
            (["bench", "--suite", "krnels"], ["did you mean kernels?"]),
            (["bench", "kernels", "-m", "x.gguf"], ["--model has no meaning"]),
            (["bench", "kernels", "--compute", "f32"], ["--compute has no meaning"]),
            (["bench", "--filter", "q8_0"], ["--filter has no meaning"]),
            (["bench", "kernels", "--suite", "model"], ["two suites"]),
            (["bench", "--seconds", "0"], ["--seconds"]),
            (["bench", "--seconds", "nan"], ["--seconds"]),
        ]:
            with self.subTest(args=args):
                self.refused(2, *args, says=says)
        self.refused(4, "bench", "--compute", "f64", says=["oracle"])

    def test_full_disk(self):
        for args in [[*ONE_KERNEL, "--json"], ONE_KERNEL]:
            with open("/dev/full", "w") as full:
                run = subprocess.run([cli_test.BINARY, *args], stdin=subprocess.DEVNULL, stdout=full,
                                     stderr=subprocess.PIPE, timeout=LIMIT_S, env=environment())
            self.assertEqual(run.returncode, 1, args)
            self.assertIn(b"No space left", run.stderr)
        self.refused(1, *ONE_KERNEL, "-o", "/dev/full", says=["No space left"])


class Neighbour(Case):
    @staticmethod
    def children(pid):
        try:
            return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        except OSError:
            return []

    @staticmethod
    def runs(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
        except OSError:
            return False

    def test_signals_leave_nobody_behind(self):
        for name, code in [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]:
            with self.subTest(name=name):
                run = start("bench", "neighbour", "--seconds", "600")
                end = time.monotonic() + LIMIT_S
                while not self.children(run.pid) and time.monotonic() < end and run.poll() is None:
                    time.sleep(0.01)
                children = self.children(run.pid)
                run.send_signal(name)
                run.communicate(timeout=LIMIT_S)
                self.assertEqual(run.returncode, code)
                self.assertEqual(len(children), 1)
                while self.runs(children[0]) and time.monotonic() < end:
                    time.sleep(0.01)
                self.assertFalse(self.runs(children[0]))

    def test_text_beside_a_busy_process_is_the_same(self):
        args = ["generate", "-q", "--temp", "0", "--ignore-end", "-n", "200", "One morning"]
        alone = self.answer(*args)
        hog = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        try:
            os.sched_setaffinity(hog.pid, {max(os.sched_getaffinity(0))})
            for threads in ["1", "2", "auto"]:
                self.assertEqual(self.answer(*args, "-t", threads), alone)
        finally:
            hog.kill()
            hog.wait()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: tests/bench_test.py BINARY [TEST...]")
    cli_test.BINARY = str(Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=1)
