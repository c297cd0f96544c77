"""What was found, as a table for people and as JSON."""

from comparison import SUBJECT, Findings


def rate(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def spread(summary: dict) -> str:
    """The distance of the quartiles in per cent of the median."""
    return f"±{50 * (summary['q3'] - summary['q1']) / summary['median']:.0f} %"


def cell(contestant: dict) -> str:
    return f"{rate(contestant['tok_s']['median'])} {spread(contestant['tok_s'])}, {contestant['cpus']:.1f} cpus"


def rows(findings: Findings) -> list[list[str]]:
    names = [one["name"] for one in findings.contestants]
    table = [[findings.model, "threads", *names, *(f"{SUBJECT} / {name}" for name in names if name != SUBJECT)]]
    for result in findings.results:
        row = [result["measure"], str(result["threads"])]
        row += [cell(result["contestants"][name]) if name in result["contestants"] else "—" for name in names]
        for name in names:
            if name != SUBJECT:
                ratio = result["ratios"].get(name)
                row.append(f"{ratio['median']:.2f} ({ratio['q1']:.2f}–{ratio['q3']:.2f})" if ratio else "—")
        table.append(row)
    return table


def aligned(table: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*table)]
    return [f"{row[0]:<{widths[0]}}" + "".join(f"  {word:>{width}}" for word, width in zip(row[1:], widths[1:]))
            for row in table]


def settings(findings: Findings) -> list[str]:
    """Which of its settings each peer was fastest with, where it has several."""
    used = {}
    for result in findings.results:
        for name, contestant in result["contestants"].items():
            if contestant["settings"]:
                used.setdefault((name, contestant["settings"]), []).append(f"{result['measure']} ×{result['threads']}")
    return [f"{name}, {setting}: {'; '.join(where)}" for (name, setting), where in used.items()]


def text(findings: Findings) -> str:
    """Rates in tokens a second; ± is half the distance of the quartiles; ratios have their quartiles behind them."""
    lines = aligned(rows(findings))
    lines += [f"  same results as {one['peer']}: largest difference {one['error']:.1%} of the largest logit, "
              f"{one['same_best']:.0%} of the best tokens" for one in findings.agreement]
    lines += [f"  {line}" for line in settings(findings)]
    for one in findings.neighbour:
        lines.append(f"  beside a busy neighbour, 2 threads, {one['name']}: {rate(one['beside']['median'])} of "
                     f"{rate(one['alone']['median'])} tokens/s, {one['share']:.0%}")
    return "\n".join(lines + [f"  {note}" for note in findings.notes]) + "\n"


def json_of(all_findings: list[Findings], machine: dict, packages: list[str], plan: dict) -> dict:
    return {"schema": "ekvi.peers/1", "machine": machine, "packages": packages, "plan": plan,
            "models": [vars(findings) for findings in all_findings]}
