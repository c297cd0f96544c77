"""One model file, several contestants: their results are compared, then their times."""

import contextlib
import sys
from dataclasses import dataclass, field
from pathlib import Path

import agreement
import rounds
from contestant import Contestant, Failed
from neighbour import Neighbour

SUBJECT = "ekvi"
NEIGHBOUR_COMMAND = "decode 0 32"


@dataclass(frozen=True)
class Measure:
    title: str
    command: str


@dataclass
class Plan:
    measures: list[Measure]
    threads: list[int]
    rounds: int
    cpus: list[int]
    text: list[int]  # tokens on which results are compared
    with_neighbour: bool = False


@dataclass
class Findings:
    """What one model's comparison found; `notes` say what could not be had."""

    model: str
    contestants: list[dict] = field(default_factory=list)
    agreement: list[dict] = field(default_factory=list)
    results: list[dict] = field(default_factory=list)
    neighbour: list[dict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Disagreement(Exception):
    """Contestants that do not compute the same are not timed."""


def say(text: str):
    print(f"dev: {text}", file=sys.stderr, flush=True)


def open_all(commands: list[list], plan: Plan, findings: Findings, stack) -> list[Contestant]:
    """The subject is the first command; without it there is nothing to compare."""
    opened = []
    for command in commands:
        try:
            opened.append(stack.enter_context(Contestant(command, plan.cpus)))
        except Failed as failure:
            if not opened:
                raise
            findings.notes.append(f"{findings.model}: {Path(str(command[1])).stem} is left out: {failure}")
    findings.contestants = [{"name": one.name, "version": one.version, "kind": one.kind} for one in opened]
    return opened


def check(contestants: list[Contestant], plan: Plan, findings: Findings):
    command = f"logits {','.join(map(str, plan.text))} {agreement.COLUMN}"
    for contestant in contestants:
        contestant.set_threads(max(plan.threads))
    ours = contestants[0].ask(command)
    for peer in contestants[1:]:
        found = agreement.compare(ours, peer.ask(command))
        findings.agreement.append({"peer": peer.name, **found})
        if not agreement.holds(found):
            raise Disagreement(f"{findings.model}: {SUBJECT} and {peer.name} differ by {found['error']:.0%} of the "
                               f"largest logit and agree on {found['same_best']:.0%} of the best tokens")


def time_all(contestants: list[Contestant], plan: Plan, findings: Findings):
    """Most threads first: caches that were filled with them serve the others, too."""
    for threads in sorted(plan.threads, reverse=True):
        for contestant in contestants:
            contestant.set_threads(threads)
        for measure in plan.measures:
            say(f"{findings.model}, {measure.title}, {threads} thread{'s' if threads > 1 else ''}")
            answers = rounds.measure(contestants, measure.command, plan.rounds)
            found = rounds.compare(answers, SUBJECT)
            findings.results.append({"measure": measure.title, "threads": threads, **found})
            findings.notes += [f"{findings.model}, {measure.title}: no result of {name}: {why}"
                               for name, why in found["failed"].items()]
    findings.results.sort(key=lambda result: result["threads"])


def time_beside_neighbour(contestants: list[Contestant], plan: Plan, findings: Findings):
    """Rates of two threads while another process keeps one of their two processors busy, and without it."""
    for contestant in contestants:
        contestant.set_threads(2)
    say(f"{findings.model}, beside a busy neighbour, 2 threads")
    alone = rounds.compare(rounds.measure(contestants, NEIGHBOUR_COMMAND, plan.rounds), SUBJECT)["contestants"]
    with Neighbour(plan.cpus[-1]):
        beside = rounds.compare(rounds.measure(contestants, NEIGHBOUR_COMMAND, plan.rounds), SUBJECT)["contestants"]
    findings.neighbour = [
        {"name": name, "alone": alone[name]["tok_s"], "beside": beside[name]["tok_s"],
         "share": beside[name]["tok_s"]["median"] / alone[name]["tok_s"]["median"]}
        for name in alone if name in beside]


def compare(model: str, commands: list[list], plan: Plan) -> Findings:
    findings = Findings(model)
    with contextlib.ExitStack() as stack:
        contestants = open_all(commands, plan, findings, stack)
        check(contestants, plan, findings)
        time_all(contestants, plan, findings)
        if plan.with_neighbour:
            time_beside_neighbour(contestants, plan, findings)
    return findings
