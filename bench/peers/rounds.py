"""Contestants take turns, so that what slows the machine slows all; rates, their ratios and spreads."""

import statistics
import time

from contestant import Contestant, Failed

PAUSE_S = 0.05  # until the threads of the one before have stopped spinning


def summary(values: list[float]) -> dict:
    """Median and quartiles."""
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    return {"median": middle, "q1": low, "q3": high}


def measure(contestants: list[Contestant], command: str, rounds: int) -> dict:
    """Runs `command` on all in turns. Gives for each name a list of answers, one for each round, or why there is none.

    The first turn warms up and is not kept.
    """
    answers = {contestant.name: [] for contestant in contestants}
    for _ in range(rounds + 1):
        for contestant in contestants:
            if isinstance(answers[contestant.name], str):
                continue
            time.sleep(PAUSE_S)
            try:
                answers[contestant.name].append(contestant.time(command))
            except Failed as failure:
                answers[contestant.name] = str(failure)
    return {name: kept if isinstance(kept, str) else kept[1:] for name, kept in answers.items()}


def rates(answers: list[dict]) -> list[float]:
    return [answer["tokens"] / answer["wall_s"] for answer in answers]


def compare(answers: dict, subject: str) -> dict:
    """Of `measure`'s answers: rates and processor time of each, and the subject's rate over each peer's by round."""
    result = {"contestants": {}, "ratios": {}, "failed": {}}
    for name, kept in answers.items():
        if isinstance(kept, str):
            result["failed"][name] = kept
            continue
        result["contestants"][name] = {
            "tok_s": summary(rates(kept)),
            "cpu_ms_per_token": statistics.median(1e3 * answer["cpu_s"] / answer["tokens"] for answer in kept),
            "cpus": statistics.median(answer["cpu_s"] / answer["wall_s"] for answer in kept),
            "settings": kept[-1]["settings"],
        }
        if name != subject and not isinstance(answers[subject], str):
            by_round = [ours / theirs for ours, theirs in zip(rates(answers[subject]), rates(kept))]
            result["ratios"][name] = {**summary(by_round), "rounds": by_round}
    return result
