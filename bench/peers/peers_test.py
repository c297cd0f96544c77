#!/usr/bin/env python3
"""The comparison with made-up peers, which tell times instead of taking them; ekvi's worker with the embedded model.

Usage: peers_test.py EKVI_WORKER. None of the peers' packages is needed, and no time is asserted.
"""

import contextlib
import io
import json
import os
import sys
import unittest
from pathlib import Path

import agreement
import comparison
import peers
import report
import rounds
from comparison import Measure, Plan
from contestant import Contestant, Failed

HERE = Path(__file__).resolve().parent
BATCH = Measure("batch of 8", "batch 8 4")
EKVI_WORKER = "ekvi_worker"


def fake(*words) -> list:
    return [sys.executable, HERE / "fake_worker.py", *words]


def plan(**more) -> Plan:
    cpus = sorted(os.sched_getaffinity(0))
    return Plan(**{"measures": [Measure("prefill 512", "prefill 512"), BATCH], "threads": [1], "rounds": 3,
                   "cpus": cpus, "text": [3, 1, 4], **more})


def compare(*commands, **more) -> comparison.Findings:
    with contextlib.redirect_stderr(io.StringIO()):
        return comparison.compare("model", [list(map(str, command)) for command in commands], plan(**more))


class Comparing(unittest.TestCase):
    def test_RatiosAreThoseOfTheRates_RoundByRound(self):
        found = compare(fake("ekvi", 300), fake("slow", 100))
        self.assertEqual([one["measure"] for one in found.results], ["prefill 512", "batch of 8"])
        for result in found.results:
            self.assertAlmostEqual(result["contestants"]["ekvi"]["tok_s"]["median"], 300)
            self.assertEqual(result["contestants"]["slow"]["cpus"], 2)
            self.assertAlmostEqual(result["contestants"]["slow"]["cpu_ms_per_token"], 20)
            self.assertEqual(len(result["ratios"]["slow"]["rounds"]), 3)
            self.assertAlmostEqual(result["ratios"]["slow"]["median"], 3)
            self.assertNotIn("ekvi", result["ratios"])

    def test_APeerIsTimedWithItsFastestSetting(self):
        found = compare(fake("ekvi", 300), fake("peer", 100, "settings"))
        for result in found.results:
            self.assertEqual(result["contestants"]["peer"]["settings"], "quick")
            self.assertAlmostEqual(result["ratios"]["peer"]["median"], 3)
        self.assertIn("peer, quick: prefill 512 ×1; batch of 8 ×1", report.text(found))

    def test_OtherResultsAreNotTimed(self):
        with self.assertRaisesRegex(comparison.Disagreement, "model: ekvi and wrong differ by 2"):
            compare(fake("ekvi", 300), fake("wrong", 100, "differs"))

    def test_WhatAPeerCannotDo_IsSaidAndTheOthersGoOn(self):
        found = compare(fake("ekvi", 300), fake("some", 100, "refuses"), fake("good", 150))
        prefill, batch = found.results
        self.assertEqual(set(prefill["ratios"]), {"some", "good"})
        self.assertEqual(set(batch["ratios"]), {"good"})
        self.assertEqual(found.notes, ["model, batch of 8: no result of some: ValueError: no batches here"])
        self.assertIn("—", report.text(found))

    def test_APeerThatDies_IsSaidAndTheOthersGoOn(self):
        with contextlib.redirect_stderr(io.StringIO()):
            found = compare(fake("ekvi", 300), fake("dead", 100, "dies"), fake("good", 150), threads=[1])
        for result in found.results:
            self.assertEqual(set(result["ratios"]), {"good"})
        self.assertEqual(len(found.notes), 2)

    def test_APeerThatDoesNotStart_IsLeftOut_EkviIsNot(self):
        found = compare(fake("ekvi", 300), fake("absent", 1, "absent"), fake("good", 150))
        self.assertEqual([one["name"] for one in found.contestants], ["ekvi", "good"])
        self.assertIn("left out", found.notes[0])
        with self.assertRaises(Failed):
            compare(fake("ekvi", 1, "absent"), fake("good", 150))

    def test_BesideANeighbour_SharesAreOfTheOwnRate(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one processor")
        found = compare(fake("ekvi", 300), fake("peer", 100), measures=[], with_neighbour=True)
        self.assertEqual([(one["name"], one["share"]) for one in found.neighbour], [("ekvi", 1), ("peer", 1)])

    def test_TheReportIsJson_AndItsTableIsAligned(self):
        found = compare(fake("ekvi", 300), fake("peer", 100))
        made = json.loads(json.dumps(report.json_of([found], peers.machine(), ["a==1"], {})))
        self.assertEqual(made["schema"], "ekvi.peers/1")
        self.assertEqual(made["models"][0]["results"][0]["threads"], 1)
        table = report.text(found).split("\n")[:3]
        self.assertEqual({len(line) for line in table}, {len(table[0])})


class Parts(unittest.TestCase):
    def test_MedianAndQuartiles(self):
        self.assertEqual(rounds.summary([1, 2, 3, 4, 5]), {"median": 3, "q1": 2, "q3": 4})
        self.assertEqual(rounds.summary([7]), {"median": 7, "q1": 7, "q3": 7})

    def test_AgreementHasBothBounds(self):
        ours = {"best": [1, 2, 3, 4], "values": [[10.0, 0.0]]}
        self.assertEqual(agreement.compare(ours, ours), {"error": 0, "same_best": 1})
        self.assertFalse(agreement.holds(agreement.compare(ours, {**ours, "best": [1, 2, 7, 8]})))
        self.assertFalse(agreement.holds(agreement.compare(ours, {**ours, "values": [[10.0, 3.0]]})))

    def test_OptionsOutOfRangeAreRefused(self):
        for words in (["--types", "Q9"], ["--peers", "nobody"], ["--threads", "x"]):
            with self.subTest(words), contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as ended:
                peers.arguments(words)
            self.assertEqual(ended.exception.code, 2)
        with self.assertRaisesRegex(SystemExit, "threads cannot be compared"):
            peers.cpus_for([10000], False)


class EkviWorker(unittest.TestCase):
    def test_AnswersEveryCommand(self):
        with Contestant([EKVI_WORKER], sorted(os.sched_getaffinity(0)), 100) as ekvi:
            self.assertEqual(ekvi.name, "ekvi")
            ekvi.set_threads(1)
            for command, tokens in [("prefill 70", 70), ("decode 0 3", 3), ("decode 40 3", 3), ("decode 40 3", 3),
                                    ("batch 4 2", 8)]:
                answer = ekvi.time(command)
                self.assertEqual(answer["tokens"], tokens)
                self.assertGreater(answer["wall_s"], 0)
            logits = ekvi.ask("logits 5,6,7 50")
            self.assertEqual((len(logits["best"]), len(logits["values"])), (3, 3))
            with self.assertRaisesRegex(Failed, "no such command"):
                ekvi.ask("dance 3 4")
            with self.assertRaises(Failed):
                ekvi.ask("decode 1000000 3")
            self.assertEqual(ekvi.ask("logits 5,6,7 50"), logits)


if __name__ == "__main__":
    EKVI_WORKER = sys.argv.pop(1)
    unittest.main()
