"""Before anything is timed: all compute the same function of the same file, within what their formats allow."""

COLUMN = 97  # of the vocabulary every so many logits are compared
# Bounds, loose on purpose: 8-bit activations, which each engine rounds in other places, differ by up to 8 % of the
# largest logit on SmolLM2; a wrong rope or norm is off by more than half of it and agrees on no token.
LARGEST_ERROR, SAME_BEST = 0.2, 0.75


def compare(ours: dict, theirs: dict) -> dict:
    """Of two answers to `logits`: the largest difference over the largest logit, and the share of equal best tokens."""
    pairs = [(a, b) for row, other in zip(ours["values"], theirs["values"], strict=True)
             for a, b in zip(row, other, strict=True)]
    largest = max(abs(b) for _, b in pairs)
    same = sum(a == b for a, b in zip(ours["best"], theirs["best"], strict=True))
    return {"error": max(abs(a - b) for a, b in pairs) / largest, "same_best": same / len(ours["best"])}


def holds(found: dict) -> bool:
    return found["error"] <= LARGEST_ERROR and found["same_best"] >= SAME_BEST
