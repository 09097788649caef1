"""Answers to questions of a summary about agreement with people: the choice of Eval-Prompt and judge, the number of
stories, and agreement of labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from judge.analysis.comparison.sentence import leaves_zero_out
from judge.analysis.correlation.margins import Margin
from judge.analysis.options.table_options import Factor
from judge.base.errors import JudgeError
from judge.base.estimate import Estimate
from judge.questions.charts.words import worded
from judge.questions.summary import rules
from judge.questions.summary.answers import Answer, Verdict
from judge.questions.summary.evidence import Evidence, names_of
from judge.questions.summary.rules import WIDE
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.estimation.sample_size import FEWEST

_LISTED = 2


def variants(evidence: Evidence, matrix: RatingMatrix, best: Margin) -> Iterator[Answer]:
    """Yield a summary's answers to the questions of which Eval-Prompt and which judge to choose. Kendall's tau with
    people of the best pair of judge and Eval-Prompt is compared with that of the same judge under its other
    Eval-Prompts, and with that of other judges under the same Eval-Prompt.
    """
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
        differences = _distances(evidence, best, by, own)
        if not differences:
            continue
        verdict = rules.of_variants([difference for _, difference in differences])
        scope = f" of {best.judge}" if by == "eval_prompt" and len(names_of(matrix, "judge")) > 1 else ""
        scope = f" with {best.eval_prompt}" if by == "judge" and len(names_of(matrix, "eval_prompt")) > 1 else scope
        others = _holds_elsewhere(evidence, best) if by == "eval_prompt" else ""
        start = f"{own}{scope}; difference of the others' tau x100: "
        whole, some = (f"{start}{listed(differences, most)}.{others}" for most in (len(differences), _LISTED))
        yield Answer(question, (whole,), verdict, label, (some,))


def _holds_elsewhere(evidence: Evidence, best: Margin) -> str:
    """Sentence that says for how many of the other judges the best Eval-Prompt also has the highest tau; empty where no
    other judge used several Eval-Prompts.
    """
    highest: dict[tuple[str | None, str], Margin] = {}
    for margin in evidence.margins:
        key = (margin.run, margin.judge)
        if margin.dataset != best.dataset or margin.control or margin.value.value is None or margin.judge == best.judge:
            continue
        if key not in highest or margin.value.value > (highest[key].value.value or 0.0):
            highest[key] = margin
    tried = {key for key in highest if sum((margin.run, margin.judge) == key for margin in evidence.margins) > 1}
    if not tried:
        return ""
    same = sum(highest[key].eval_prompt == best.eval_prompt for key in tried)
    return f" It is the highest of {same} of the {len(tried)} other judges too." if len(tried) > 1 else (
        f" With the other judge {'it is' if same else 'another is'} the highest."
    )  # fmt: skip


def _distances(evidence: Evidence, best: Margin, by: Factor, own: str) -> list[tuple[str, Estimate]]:
    """For each other Eval-Prompt (or judge, according to `by`): its name, and the mean over criteria of its tau minus
    the tau of the best pair of judge and Eval-Prompt. `own` is the name of that pair's Eval-Prompt (or judge). The
    highest tau comes first, undefined differences come last.
    """
    try:
        entries = evidence.against_best(best, by).entries
    except JudgeError:
        return []
    differences = [
        (entry.result.contrast.second, entry.result.means["tau"])
        for entry in entries
        if entry.dataset == best.dataset and entry.result.contrast.first == own
    ]
    # An undefined difference comes last: no tau differs by 9.
    return sorted(differences, key=lambda named: -(named[1].value if named[1].value is not None else -9.0))


def listed(differences: Sequence[tuple[str, Estimate]], most: int) -> str:
    """Names with their differences from the best, at most so many, and whether they are tied with it."""
    parts = [
        f"{name} {worded(difference)}{' (tied)' if leaves_zero_out(difference) is False else ''}"
        for name, difference in differences[:most]
    ]
    more = f", {len(differences) - most} more" if len(differences) > most else ""
    return ", ".join(parts) + more


def stories(best: Margin, matrix: RatingMatrix) -> Answer | None:
    """A summary's answer on how many story-prompts are needed for an interval of Kendall's tau with a half-width of .10
    (`WIDE`). None where tau has no interval.
    """
    value = best.value
    if value.value is None or value.low is None or value.high is None:
        return None
    half, now = (value.high - value.low) / 2, len(np.unique(matrix.story_prompt))
    wanted = max(FEWEST, int(np.ceil(now * (half / WIDE) ** 2)))
    each = matrix.n / now
    sentence = (
        f"{now:,} story-prompts ({matrix.n:,} stories) give tau x100 to ±{100 * half:.1f}, about {wanted:,} "
        f"({round(wanted * each):,} stories) to ±{100 * WIDE:.0f}."
    )
    return Answer("How many stories does it take?", (sentence,), rules.of_stories(half, WIDE), "stories")


def labels(evidence: Evidence, best: Margin) -> Iterator[Answer]:
    """Yield a summary's answer on the agreement between the judge's labels and the majority labels of people. Nothing
    is yielded where no criterion has labels or the judge has none.
    """
    confusions = evidence.confusions
    if confusions is None:
        return
    key = (best.run, best.judge, best.eval_prompt)
    rows = confusions.main(best.dataset)
    row = next(
        (
            candidate
            for candidate in rows
            if (candidate.subject.run, candidate.subject.judge, candidate.subject.eval_prompt) == key
        ),
        None,
    )
    if row is None:
        return
    raters = evidence.raters_of(best.dataset)
    question = f"Are its labels those of {raters.noun}?"
    verdict = rules.of_labels(row)
    value = row.statistics["balanced_accuracy"]
    if value.value is None:
        yield Answer(question, (f"Balanced accuracy is {value.reason}.",), verdict, "labels")
        return
    criteria = "all criteria" if row.is_all else row.subject.criterion
    sentences = [
        f"Balanced accuracy {_two(value)}, kappa {_two(row.statistics['kappa'])} over {row.n:,} labels of {criteria}.",
        f"An uninformed judge has {row.chance:.2f}.",
    ]
    beside = row.beside.get("balanced_accuracy")
    if beside is not None and beside.over.value is not None:
        sentences.append(
            f"One person against the others has {_two(beside.people)}, difference {_two(beside.over, sign=True)}."
        )
    theirs, mine = row.prevalence(row.by_people), row.prevalence(row.by_judge)
    if theirs is not None and mine is not None:
        sentences.append(f"It says {row.positive} to {100 * mine:.0f} %, people to {100 * theirs:.0f} %.")
    yield Answer(question, (" ".join(sentences),), verdict, "labels")


def _two(estimate: Estimate, *, sign: bool = False) -> str:
    text = worded(estimate, factor=1, digits=2)
    return f"+{text}" if sign and (estimate.value or 0.0) >= 0 else text
