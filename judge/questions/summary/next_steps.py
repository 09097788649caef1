"""Suggested next commands: first commands that fill gaps in the evidence, then commands that show more results."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from judge.analysis.correlation.margins import Margin
from judge.questions.summary.result import Missing

MOST = 5
"""Commands on a screen: more would push answers off its 30 lines."""


def commands(
    runs: Sequence[str],
    gaps: Sequence[Missing],
    best: Margin | None,
    *,
    askable: bool,
    only: bool,
    replaces: bool,
    positions: bool = False,
    other: str | None = None,
) -> tuple[str, ...]:
    """Suggested next commands for runs that rate stories, at most 5 (`MOST`), the most needed first.

    `gaps` are the gaps in the evidence, and `best` is the best pair of judge and Eval-Prompt. `askable` says that the
    judge can be asked again. `only` says that the runs have only one pair of judge and Eval-Prompt, which then need not
    be named. `replaces` says that the judge may replace an annotator. `positions` says that columns of ratings were
    taken as raters. `other` is the second-best judge, or None.
    """
    run, first_run = shlex.join(runs), shlex.quote(runs[0])
    closing = {
        "raters": f"judge summary {run} --set positions=true",
        "seen": f"judge contamination check {first_run}",
        "stories": f"judge plan {first_run}",
    }
    if askable:
        closing |= {
            "unasked": f"judge run {first_run} --retry",
            "lost": f"judge run {first_run} --retry --unparsed",
            "prompts": f"judge run {first_run} --set 'eval_prompts=[ep1, ep3]'",
            "repeats": f"judge run {first_run} --set repeats=3",
        }
    if positions:
        del closing["raters"]  # the command at hand was it
    closers = [closing[gap.name] for gap in gaps if gap.name in closing]
    looking = [f"judge report {run}"]
    if best is not None and not best.control:
        enough = "--require replace" if replaces else "--floor tau=0.3"
        looking.insert(0, f"judge certify {run}{'' if only else _narrowed(best)} {enough} -o certificate.json")
    if best is not None and other is not None and len(runs) == 1:
        judges = f"--set old_judge={shlex.quote(other)} --set new_judge={shlex.quote(best.judge)}"
        looking.insert(0, f"judge succeed {first_run} {first_run} {judges}")
    room = MOST - len(looking)
    if closing["seen"] in closers[room:]:  # of a reader's questions the one that no other command answers
        closers.insert(room - 1, closing["seen"])
    return (*closers[:room], *looking)


def compared_commands(runs: Sequence[str]) -> tuple[str, ...]:
    """Suggested next commands for runs that compare stories."""
    run = shlex.join(runs)
    return (f"judge rank {run}", f"judge report {run}")


def _narrowed(best: Margin) -> str:
    return f" --judge {shlex.quote(best.judge)} --eval-prompt {shlex.quote(best.eval_prompt)}"
