"""A busy neighbour: a process that keeps one processor busy, as other work on the machine would."""

import os
import subprocess
import sys


class Neighbour:
    """Busy from construction to the end of the with-block, on one processor."""

    def __init__(self, cpu: int):
        self.process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        os.sched_setaffinity(self.process.pid, [cpu])

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
