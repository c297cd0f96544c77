#!/usr/bin/env python3
"""A made-up peer for the tests: fake_worker.py NAME TOKENS_PER_SECOND [FAULT]. Its times are told, not taken.

FAULT: dies (at its first timed command), refuses (batches), differs (in its logits), absent (before its first line).
"""

import sys

import worker


class Fake(worker.Worker):
    version, kind = "1", "made up"

    def __init__(self, name: str, rate: float, fault: str = ""):
        if fault == "absent":
            sys.exit(1)
        self.name, self.rate, self.fault = name, rate, fault
        self.settings = ("slow", "quick") if fault == "settings" else ("",)

    def set_threads(self, count: int):
        self.threads = count

    def prepare(self, setting: str, command: str, *numbers: int):
        if self.fault == "dies":
            sys.exit(1)
        if self.fault == "refuses" and command == "batch":
            raise ValueError("no batches here")
        tokens = numbers[0] if command == "prefill" else numbers[1] * (numbers[0] if command == "batch" else 1)
        return tokens / self.rate / self.threads * (3 if setting == "slow" else 1)

    def logits(self, ids: list[int]):
        sign = -1 if self.fault == "differs" else 1
        return [[sign * float((i * token) % 11) for i in range(200)] for token in ids]


if __name__ == "__main__":
    worker.timed = lambda seconds: {"wall_s": seconds, "cpu_s": 2 * seconds}
    worker.serve(lambda: Fake(sys.argv[1], float(sys.argv[2]), *sys.argv[3:]))
