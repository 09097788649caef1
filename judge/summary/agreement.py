"""Agreement with people in words: which Eval-Prompt and judge, tau over stories, labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from judge.analysis.comparison.sentence import leaves_zero_out
from judge.analysis.correlation.margins import CEILING, CONTROL, Margin
from judge.analysis.options.table_options import Factor
from judge.charts.words import worded
from judge.errors import JudgeError
from judge.rating_matrix import RatingMatrix
from judge.stats.estimate import Estimate
from judge.stats.estimation.sample_size import FEWEST
from judge.summary import rules
from judge.summary.answers import Answer, Verdict
from judge.summary.evidence import Evidence, names_of
from judge.summary.rules import WIDE

_LISTED = 2


def variants(evidence: Evidence, matrix: RatingMatrix, best: Margin) -> Iterator[Answer]:
    """Which Eval-Prompt, then which judge: the row told of beside the others, on the stories that both rated."""
    kinds: tuple[tuple[Factor, str, str], ...] = (
        ("eval_prompt", "prompts", "Eval-Prompt"),
        ("judge", "judges", "judge"),
    )
    for by, label, word in kinds:
        question = f"Which {word}?"
        if len(names_of(matrix, by)) < 2:
            if by == "eval_prompt":
                rule = f"one {word} was tried"
                yield Answer(
                    question, (f"{best.eval_prompt} is the only one tried.",), Verdict("only one", rule), label
                )
            continue
        own = best.eval_prompt if by == "eval_prompt" else best.judge
        found = _distances(evidence, best, by, own)
        if not found:
            continue
        verdict = rules.of_variants([one for _, one in found])
        of = f" of {best.judge}" if by == "eval_prompt" and len(names_of(matrix, "judge")) > 1 else ""
        of = f" with {best.eval_prompt}" if by == "judge" and len(names_of(matrix, "eval_prompt")) > 1 else of
        others = _holds_elsewhere(evidence, best) if by == "eval_prompt" else ""
        yield Answer(question, (f"{own}{of}; tau x100 from it: {_listed(found)}.{others}",), verdict, label)


def _holds_elsewhere(evidence: Evidence, best: Margin) -> str:
    """Whether the Eval-Prompt is the best of the other judges too, by tau alone."""
    highest: dict[tuple[str | None, str], Margin] = {}
    for one in evidence.margins:
        key = (one.run, one.judge)
        if one.dataset != best.dataset or one.control or one.value.value is None or one.judge == best.judge:
            continue
        if key not in highest or one.value.value > (highest[key].value.value or 0.0):
            highest[key] = one
    tried = {key for key in highest if sum((one.run, one.judge) == key for one in evidence.margins) > 1}
    if not tried:
        return ""
    same = sum(highest[key].eval_prompt == best.eval_prompt for key in tried)
    return f" It is the highest of {same} of the {len(tried)} other judges too." if len(tried) > 1 else (
        f" With the other judge {'it is' if same else 'another is'} the highest."
    )  # fmt: skip


def _distances(evidence: Evidence, best: Margin, by: Factor, own: str) -> list[tuple[str, Estimate]]:
    """The others' distances of tau from the row, mean over criteria, nearest first."""
    try:
        entries = evidence.against_best(best, by).entries
    except JudgeError:
        return []
    found = [
        (one.result.contrast.second, one.result.means["tau"])
        for one in entries
        if one.dataset == best.dataset and one.result.contrast.first == own
    ]
    return sorted(found, key=lambda one: -(one[1].value if one[1].value is not None else -9.0))


def _listed(found: Sequence[tuple[str, Estimate]]) -> str:
    parts = [
        f"{name} {worded(one)}{' (tied)' if leaves_zero_out(one) is False else ''}" for name, one in found[:_LISTED]
    ]
    more = f", {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    return ", ".join(parts) + more


def people(evidence: Evidence, best: Margin) -> Answer:
    """Tau over all stories beside the control and one more person."""
    raters = evidence.raters_of(best.dataset)
    question = f"Does it rate stories as {raters.them if raters.labels_note else 'people do'}?"
    verdict = rules.of_agreement(best)
    if best.value.value is None:
        why = f"{best.value.reason}".removeprefix("undefined ")
        return Answer(question, (f"Tau is undefined {why}.",), verdict, "people")
    over = f", mean of {len(best.criteria)} criteria" if len(best.criteria) > 1 else f", {best.criteria[0]}"
    said = [f"Kendall's tau-b x100 {worded(best.value)} over {best.stories:,} stories{over}."]
    control, ceiling = best.bars[CONTROL], best.bars[CEILING]
    if control.value is not None and not best.control:
        said.append(f"The control {worded(control)}{best.counted_as_0}: {_distance(best.over[CONTROL])}.")
    if ceiling.value is not None:
        said.append(f"One more person {worded(ceiling)}: {_distance(best.over[CEILING])}.")
    elif not raters.labels_note:
        said.append("One more person: not known.")
    return Answer(question, (" ".join(said),), verdict, "people")


def _distance(over: Estimate) -> str:
    if over.value is None:
        return "no distance"
    return f"the judge {'+' if over.value >= 0 else ''}{worded(over)}"


def stories(best: Margin, matrix: RatingMatrix) -> Answer | None:
    """How many story-prompts tau takes to be known within `WIDE`."""
    value = best.value
    if value.value is None or value.low is None or value.high is None:
        return None
    half, now = (value.high - value.low) / 2, len(np.unique(matrix.story_prompt))
    wanted = max(FEWEST, int(np.ceil(now * (half / WIDE) ** 2)))
    each = matrix.n / now
    said = (
        f"{now:,} story-prompts ({matrix.n:,} stories) tell tau x100 to ±{100 * half:.1f}; about {wanted:,} "
        f"({round(wanted * each):,} stories) tell it to ±{100 * WIDE:.0f}."
    )
    return Answer("How many stories does it take?", (said,), rules.of_stories(half, WIDE), "stories")


def labels(evidence: Evidence, best: Margin) -> Iterator[Answer]:
    """The row's labels beside people's majorities; nothing where nothing is labelled."""
    found = evidence.confusions
    if found is None:
        return
    key = (best.run, best.judge, best.eval_prompt)
    rows = found.main(best.dataset)
    row = next((one for one in rows if (one.subject.run, one.subject.judge, one.subject.eval_prompt) == key), None)
    if row is None:
        return
    raters = evidence.raters_of(best.dataset)
    question = f"Are its labels those of {raters.them}?"
    verdict = rules.of_labels(row)
    value = row.statistics["balanced_accuracy"]
    if value.value is None:
        yield Answer(question, (f"Balanced accuracy is {value.reason}.",), verdict, "labels")
        return
    of = "all criteria" if row.is_all else row.subject.criterion
    said = [
        f"Balanced accuracy {_two(value)}, kappa {_two(row.statistics['kappa'])} over {row.n:,} labels of {of}.",
        f"Knowing nothing gives {row.chance:.2f}.",
    ]
    beside = row.beside.get("balanced_accuracy")
    if beside is not None and beside.over.value is not None:
        said.append(f"One person against the others {_two(beside.people)}: the judge {_two(beside.over, sign=True)}.")
    theirs, mine = row.prevalence(row.by_people), row.prevalence(row.by_judge)
    if theirs is not None and mine is not None:
        said.append(f"It says {row.positive} to {100 * mine:.0f} %, people to {100 * theirs:.0f} %.")
    yield Answer(question, (" ".join(said),), verdict, "labels")


def _two(one: Estimate, *, sign: bool = False) -> str:
    text = worded(one, factor=1, digits=2)
    return f"+{text}" if sign and (one.value or 0.0) >= 0 else text
