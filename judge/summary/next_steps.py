"""What to do next: a command for each gap that a command closes, then those that look closer. Never runs one."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from judge.analysis.correlation.margins import Margin
from judge.summary.result import Missing

MOST = 4
"""Commands on a screen."""


def commands(
    runs: Sequence[str], gaps: Sequence[Missing], best: Margin | None, *, askable: bool, only: bool, replaces: bool
) -> tuple[str, ...]:
    """At most `MOST` commands, the most needed first.

    `askable` says that the judge can be asked again; `only` that the row is the runs' only one, and need not be named;
    `replaces` that it may replace an annotator.
    """
    run, one = shlex.join(runs), shlex.quote(runs[0])
    dataset = shlex.quote(best.dataset) if best is not None else "DATASET"
    closing = {
        "raters": f"judge replace {run} --positions",
        "seen": f"judge contamination score {dataset} --model hf/MODEL -o scores.jsonl",
    }
    if askable:
        closing |= {
            "unasked": f"judge retry {one}",
            "lost": f"judge retry {one} --unparsed",
            "prompts": f"judge run {one} --set 'eval_prompts=[ep1, ep3]'",
            "repeats": f"judge run {one} --set repeats=3",
        }
    found = [closing[gap.name] for gap in gaps if gap.name in closing]
    looking = [f"judge report {run}"]
    if best is not None and not best.control:
        enough = "--require replace" if replaces else "--floor tau=0.3"
        looking.insert(0, f"judge certify {run}{'' if only else _narrowed(best)} {enough} -o certificate.json")
    return (*found[: MOST - len(looking)], *looking)


def compared_commands(runs: Sequence[str]) -> tuple[str, ...]:
    """For runs that compared."""
    run = shlex.join(runs)
    return (f"judge rank {run}", f"judge report {run}")


def _narrowed(best: Margin) -> str:
    return f" --judge {shlex.quote(best.judge)} --eval-prompt {shlex.quote(best.eval_prompt)}"
