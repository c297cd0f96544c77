#!/usr/bin/env python3
"""Compares ekvi with other engines on the same model files: ./dev peers [OPTIONS].

Each engine is a process that has loaded the file once; they take turns, round by round, on the same processors. Their
results are compared before they are timed. Figures are tokens a second by the clock, all sequences together.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import comparison
import environment
import report
from comparison import Measure, Plan

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TYPES = ["F16", "Q8_0", "Q4_0", "Q4_1", "Q4_K_M"]
PEERS = {"llama.cpp": "llama_cpp_worker.py", "transformers": "transformers_worker.py"}
MEASURES = [Measure("prefill 512", "prefill 512"), Measure("decode 64", "decode 0 64"),
            Measure("decode at 4,096", "decode 4096 16"), Measure("batch of 8, decode", "batch 8 32")]
TEXT = "The tide comes in twice a day, because the moon pulls at the sea while the earth turns under it."


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def arguments(words: list[str]):
    parser = argparse.ArgumentParser(prog="./dev peers", description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin", help=argparse.SUPPRESS)
    parser.add_argument("--source", type=Path, help=argparse.SUPPRESS)  # what models are made of
    parser.add_argument("-m", "--model", type=Path, action="append", default=[], help="a GGUF file; repeatable")
    parser.add_argument("--types", default=",".join(TYPES), help=f"of SmolLM2-135M: {','.join(TYPES)}")
    parser.add_argument("--peers", default=",".join(PEERS), help=f"{','.join(PEERS)}")
    parser.add_argument("--measures", default="", help="only those whose title holds one of these words: prefill,batch")
    parser.add_argument("--threads", type=numbers, default=[1, 2], help="1,2")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each measure that count")
    parser.add_argument("--quick", action="store_true", help="F16 and Q4_0, 2 threads, llama.cpp: a minute")
    parser.add_argument("--neighbour", action="store_true", help="also with one processor kept busy by others")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to FILE, too")
    given = parser.parse_args(words)
    if given.quick:
        given.types, given.threads, given.peers = "F16,Q4_0", [2], "llama.cpp"
    given.types, given.peers = given.types.split(","), given.peers.split(",")
    for name, known in [*((name, TYPES) for name in given.types), *((name, PEERS) for name in given.peers)]:
        if name not in known:
            parser.error(f"{name} is none of {', '.join(known)}")
    return given


def cpus_for(threads: list[int], neighbour: bool) -> list[int]:
    cpus = sorted(os.sched_getaffinity(0))
    wanted = max([*threads, 2 if neighbour else 1])
    if min(threads) < 1 or wanted > len(cpus):
        sys.exit(f"error: {wanted} threads cannot be compared\n  this process may use {len(cpus)} processors\n"
                 f"  try: --threads {len(cpus)}")
    return cpus


def models(given, python: Path) -> dict[str, Path]:
    """By name: files of the user's own, else those that are made of the fetched one."""
    if given.model:
        return {path.name: path for path in given.model}
    folder = environment.FOLDER / "models"
    if any(not (folder / f"smol-{name}.gguf").exists() for name in given.types):
        comparison.say(f"making {', '.join(given.types)} of {given.source.name}")
        made = subprocess.run([python, HERE / "make_models.py", given.source, folder, *given.types],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if made.returncode != 0:
            sys.exit(f"error: the models could not be made\n  {made.stderr[-500:]}\n  try: the space left in {folder}")
    return {f"SmolLM2-135M {name}": folder / f"smol-{name}.gguf" for name in given.types}


def commands(given, python: Path, path: Path) -> list[list]:
    """transformers computes in float32 whatever the file's type is: of the five it gets F16 alone."""
    chosen = [name for name in given.peers if name != "transformers" or given.model or path.stem.endswith("F16")]
    return [[given.bin / "ekvi_worker", path], *([python, HERE / PEERS[name], path] for name in chosen)]


def tokens_of(given, path: Path) -> list[int]:
    answer = subprocess.run([given.bin / "ekvi", "tokenize", "-q", "-m", path, TEXT], check=True, capture_output=True)
    return [int(word) for word in answer.stdout.split()]


def machine() -> dict:
    return {"processor": environment.processor().split("\n")[0], "cpus": len(os.sched_getaffinity(0)),
            "system": platform.platform()}


def main(words: list[str]) -> int:
    given = arguments(words)
    cpus = cpus_for(given.threads, given.neighbour)
    python = environment.python()
    chosen = [one for one in MEASURES if any(word in one.title for word in given.measures.split(","))]
    start, found = time.monotonic(), []
    for name, path in models(given, python).items():
        plan = Plan(chosen, given.threads, given.rounds, cpus, tokens_of(given, path), given.neighbour)
        try:
            found.append(comparison.compare(name, commands(given, python, path), plan))
        except (comparison.Disagreement, comparison.Failed) as why:
            print(f"error: nothing is compared\n  {why}\n  try: ekvi verify -m {path}", file=sys.stderr)
            return 6
        print(report.text(found[-1]), flush=True)
    comparison.say(f"{time.monotonic() - start:.0f} s")
    if given.json:
        settings = {"threads": given.threads, "rounds": given.rounds, "measures": [vars(one) for one in chosen]}
        everything = report.json_of(found, machine(), environment.packages(), settings)
        given.json.write_text(json.dumps(everything, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
