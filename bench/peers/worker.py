"""What every worker of a peer does: reads commands from stdin, a line each, and answers with a line of JSON.

    threads N               from now on with N threads
    prefill TOKENS          a prompt at once, from an empty cache, logits of its last token
    decode DEPTH TOKENS     TOKENS one by one behind DEPTH tokens, logits of each
    batch SEQUENCES TOKENS  the same from empty caches for several sequences, all together in each step
    logits IDS COLUMN       {"best": the largest logit's id after each id, "values": every COLUMN-th logit there}

Timed commands answer {"tokens", "wall_s", "cpu_s", "settings"}: nothing is sampled, what fills the cache beforehand
is not timed. A peer with several settings is timed with each of them the first time that a command comes, and keeps to
the fastest. What cannot be done is answered {"error": why}. The first line says who answers: {"name", "version",
"kind"}, kind being that of arithmetic and cache.
"""

import json
import os
import sys
import time


def timed_token(index: int, vocabulary: int) -> int:
    """The text that is timed: any will do, since nothing depends on it, but all read the same."""
    return (7 * index + 11) % vocabulary


class Worker:
    """A peer with one model. Subclasses give name, version, kind (of arithmetic and cache) and the methods."""

    name = version = kind = ""
    settings = ("",)

    def set_threads(self, count: int):
        raise NotImplementedError

    def prepare(self, setting: str, command: str, *numbers: int):
        """Fills caches as the command needs it; gives what is to be timed as a function without arguments."""
        raise NotImplementedError

    def logits(self, ids: list[int]):
        """Rows of logits, one for each id."""
        raise NotImplementedError


def timed(run) -> dict:
    wall, processor = time.perf_counter(), time.process_time()
    run()
    return {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - processor}


class Server:
    def __init__(self, worker: Worker):
        self.worker, self.threads, self.fastest = worker, 0, {}

    def answer(self, line: str) -> dict:
        command, *words = line.split()
        if command == "logits":
            return self.logits([int(word) for word in words[0].split(",")], int(words[1]))
        numbers = [int(word) for word in words]
        if command == "threads":
            self.threads, = numbers
            self.worker.set_threads(self.threads)
            return {}
        return self.time(command, *numbers)

    def time(self, command: str, *numbers: int) -> dict:
        if command not in ("prefill", "decode", "batch"):
            raise ValueError(f"no such command: {command}")
        key = (self.threads, command, *numbers)
        tried = [self.fastest[key]] if key in self.fastest else self.worker.settings
        times = {setting: timed(self.worker.prepare(setting, command, *numbers)) for setting in tried}
        self.fastest[key] = min(times, key=lambda setting: times[setting]["wall_s"])
        count = numbers[0] if command == "prefill" else numbers[1]
        sequences = numbers[0] if command == "batch" else 1
        return {"tokens": count * sequences, **times[self.fastest[key]], "settings": self.fastest[key]}

    def logits(self, ids: list[int], column: int) -> dict:
        rows = self.worker.logits(ids)
        return {"best": [max(range(len(row)), key=row.__getitem__) for row in rows],
                "values": [row[::column] for row in rows]}


def serve(make_worker):
    """Answers until stdin ends. Libraries that print to stdout are sent to stderr."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(answer: dict):
        print(json.dumps(answer), file=answers, flush=True)

    worker = make_worker()
    server = Server(worker)
    say({"name": worker.name, "version": worker.version, "kind": worker.kind})
    for line in sys.stdin:
        try:
            say(server.answer(line))
        except Exception as error:  # a peer may refuse in ways of its own: the driver decides
            say({"error": f"{type(error).__name__}: {error}"})
