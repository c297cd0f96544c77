"""A worker as seen by the driver: a process that is told what to do, on processors that the driver chooses."""

import contextlib
import json
import os
import select
import subprocess
import time


class Failed(Exception):
    """The worker refused, died, or took too long."""


class Contestant:
    def __init__(self, command: list, cpus: list[int], limit_s: float = 300):
        self.cpus, self.limit_s, self.pending = cpus, limit_s, b""
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.threads = 0
        try:
            greeting = self.read()
        except Failed:
            self.close()
            raise
        self.name, self.version, self.kind = greeting["name"], greeting["version"], greeting["kind"]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def set_threads(self, count: int):
        """As many processors as threads, the last ones: interrupts mostly go to the first."""
        self.threads = count
        self.pin()
        self.ask(f"threads {count}")

    def pin(self):
        """Threads that a library has already made do not follow the process: each is told."""
        chosen = self.cpus[-self.threads:]
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            try:
                os.sched_setaffinity(int(task), chosen)
            except ProcessLookupError:
                pass  # it has ended since

    def ask(self, command: str) -> dict:
        try:
            self.process.stdin.write(command.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failed(f"it had ended before: {command}") from None
        answer = self.read()
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def time(self, command: str) -> dict:
        self.pin()
        return self.ask(command)

    def read(self) -> dict:
        end = time.monotonic() + self.limit_s
        while b"\n" not in self.pending:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            if not ready:
                self.process.kill()
                raise Failed(f"no answer in {self.limit_s:.0f} s")
            received = os.read(self.process.stdout.fileno(), 1 << 20)
            if not received:
                raise Failed("it ended without an answer, see its message above")
            self.pending += received
        line, self.pending = self.pending.split(b"\n", 1)
        return json.loads(line)
