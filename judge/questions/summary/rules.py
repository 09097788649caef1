"""Rules that give the verdicts of a summary: the answer to a question in a few words, printed with its rule.

Agreement is compared with 0, with the control and with one more person, by the interval of the correlation and those of
paired differences. Consistency is classified by the bounds of Koo & Li (2016, A guideline of selecting and reporting
intraclass correlation coefficients for reliability research, J. Chiropractic Medicine 15(2), p. 161): .5, .75, .9.
docs/summary.md lists every verdict and says when it is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from judge.analysis.comparison.sentence import leaves_zero_out
from judge.analysis.correlation.margins import Margin
from judge.analysis.labels import ConfusionRow
from judge.analysis.options.table_options import Factor
from judge.base.errors import JudgeError
from judge.base.estimate import Estimate
from judge.questions.charts.shared import worded
from judge.questions.summary.evidence import Evidence, names_of
from judge.questions.summary.people import MARGIN, beside_people, people_words
from judge.questions.summary.result import Answer, Verdict
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.estimation.sample_size import FEWEST
from judge.stats.ordering import ranking

# Below, a correlation over system means is too rough to read, whatever its interval (docs/pitfalls.md).
FEW_SYSTEMS = 10

# Verdict where more than half of the pairs of systems have the opposite of people's order.
TURNED = "order turned round"

# Half of the interval of tau from which more story-prompts are wanted.
WIDE = 0.10

# Share of the tests for faults below which nothing can be told from finding nothing.
LEAST_MADE = 0.25

# Share of random orders that turn as many pairs of systems round, at which the order counts as turned round.
_CHANCE = 0.025

_BOUNDS = ((0.9, "excellent"), (0.75, "good"), (0.5, "moderate"))


def of_labels(best: ConfusionRow) -> Verdict:
    """Balanced accuracy against people's labels, beside that of uninformed judges and of one person."""
    value = best.statistics["balanced_accuracy"]
    if value.value is None:
        return Verdict("undefined", "by balanced accuracy")
    beside = best.beside.get("balanced_accuracy")
    if value.low is None or value.high is None:
        words = ["above chance" if value.value > best.chance else "not above chance"]
    elif value.low <= best.chance <= value.high:
        words = ["not told apart from chance"]
    else:
        words = ["above chance" if value.low > best.chance else "below chance"]
    if beside is not None and beside.over.value is not None:
        word = people_words(beside_people(beside.over, beside.over, MARGIN))
        words += [word] if word is not None else []
    rule = "by the 95 % intervals of balanced accuracy and of its distance from one person's"
    return Verdict(", ".join(words), rule if value.low is not None else "by balanced accuracy; no interval")


def of_loss(rated: int, asked: int, came: str = "asked") -> Verdict:
    """Share of the `asked` repeats, or of what else `came`, that have no rating."""
    of = "of the repeats requested" if came == "asked" else f"of the ratings {came}"
    if rated == asked:
        return Verdict("nothing", of)
    share = 100 * (asked - rated) / asked
    return Verdict(f"{share:.1f} %" if share >= 0.05 else "less than 0.1 %", of)


def of_consistency(cells: Sequence[Estimate]) -> Verdict:
    """Excellent, good, moderate or poor, from defined ICC(1,1) over repeats: as Koo & Li ask, by both ends of the
    interval (medians over the cells), or by the values where a cell has none.
    """
    ends = [(cell.low, cell.high) for cell in cells if cell.low is not None and cell.high is not None]
    values = ends if len(ends) == len(cells) else [(cell.value or 0.0,) for cell in cells]
    words = [_consistent(float(np.median(each))) for each in zip(*values, strict=True)]
    how = "the interval of the median cell" if len(words) > 1 else "the median; no interval"
    return Verdict(" to ".join(dict.fromkeys(words)), f"ICC(1,1), {how}; bounds .5, .75 and .9 (Koo & Li 2016)")


def _consistent(icc: float) -> str:
    return next((word for bound, word in _BOUNDS if icc > bound), "poor")


# One variant's name, its tau minus that of the best, and the same with its interval over systems too.
Behind = tuple[str, Estimate, Estimate | None]


def of_variants(others: Sequence[Behind]) -> Verdict:
    """Whether the best of several is clearly better, and also on new systems."""
    rule = "by the 95 % intervals of the paired differences of tau, over story-prompts; with new systems over these too"
    defined = [difference for _, difference, _ in others if difference.value is not None]
    if not defined:
        return Verdict("cannot be said", rule)
    shown = [leaves_zero_out(difference) for difference in defined]
    if None in shown:
        return Verdict("cannot be said", rule)
    level = [difference for difference, apart in zip(defined, shown, strict=True) if not apart]
    if not level:
        everywhere = all(both is not None and leaves_zero_out(both) for _, _, both in others)
        return Verdict("leads" if everywhere else "leads with these systems", rule)
    return Verdict(
        "tied with the other" if len(others) == 1 else f"tied with {len(level)} of {len(others)} others", rule
    )


def of_systems(value: Estimate, systems: int) -> Verdict:
    """Whether tau between system means differs from 0; with too few `systems` it says so."""
    if value.value is None:
        return Verdict("undefined", "tau over system means")
    if systems < FEW_SYSTEMS:
        return Verdict("too few systems", f"fewer than {FEW_SYSTEMS}")
    rule = "by the 95 % interval of tau over system means"
    shown = leaves_zero_out(value)
    if shown is None:
        return Verdict("no interval", rule)
    if shown:
        return Verdict("better than chance" if value.value > 0 else "against people", rule)
    return Verdict("not shown", rule)


def of_faults(findings: int, made: int, tests: int) -> Verdict:
    """Number of tests for faults that are significant after Holm's adjustment; `made` of the `tests` could be made."""
    rule = "tests against people's ratings, Holm at .05 over those of this row"
    if findings:
        return Verdict(f"faults in {findings} of {made} tests", rule)
    # That nothing was found says little where hardly anything could be tested.
    if made < LEAST_MADE * tests or not tests:
        why = f"{rule}; fewer than a quarter of the tests could be made" if tests else "people's ratings are needed"
        return Verdict("cannot be told", why)
    return Verdict(f"nothing found in {made} of {tests} tests that could be made", rule)


def names_a_fault(verdict: str) -> bool:
    """Whether a verdict of `of_faults` or `of_order` names a fault of the judge."""
    return verdict.startswith("faults in ") or verdict.endswith(TURNED)


def of_contamination(*, measured: bool, recital: bool = False, recited: int = 0, blunt: bool = False) -> Verdict:
    """Whether the model has seen the stories. `measured`: there are contamination scores. For the others see `Seen`."""
    rule = "50 tokens in a row with a probability of 1 in 1,000 or more (judge contamination check)"
    if recital:
        return Verdict("recites stories" if recited else "cannot be told" if blunt else "recites none", rule)
    return Verdict(
        "measured" if measured else "not measured", "whether a scores file of judge contamination score is given"
    )


def of_stories(half: float, wide: float) -> Verdict:
    """Whether the half-width `half` of the interval of tau is at most `wide`."""
    purpose = f"for tau to ±{100 * wide:.0f}"
    words = "enough" if half <= wide else "more are needed"
    return Verdict(f"{words} {purpose}", f"95 % interval of tau within ±{100 * wide:.0f}")


def of_order(agreed: int, turned: int, pairs: int, systems: int) -> Verdict:
    """The order of systems: of all pairs, `agreed` are ordered as by people, and `turned` the other way round."""
    rule = "pairs of systems, by mean ratings over criteria; a pair with equal means counts as not alike"
    # A judge that puts all systems level has turned nothing round; one that orders them at random seldom has.
    order = TURNED if ranking.tail(systems, turned) <= _CHANCE else f"{agreed} of {pairs} pairs"
    # Few systems prove little, but an order that is turned round must not be hidden by that.
    if systems < FEW_SYSTEMS:
        return Verdict(f"too few systems, {order}", f"fewer than {FEW_SYSTEMS} systems; {rule}")
    return Verdict(order, rule)


def of_plan(changes: int) -> Verdict:
    """Whether the analysis is the one that was registered."""
    if not changes:
        return Verdict("kept", "what was asked, the row, margin, epsilon and systems left out are those of plan.json")
    number = "1 change" if changes == 1 else f"{changes} changes"
    return Verdict(number, "differences of what was asked and analysed from plan.json")


def of_missing(number: int) -> Verdict:
    """Number of gaps in the evidence."""
    words = "nothing on the list" if not number else f"{number} thing{'s' if number > 1 else ''}"
    return Verdict(words, "the list of docs/summary.md")


# Answers to questions of a summary about agreement with people: the choice of Eval-Prompt and judge, the number of
# stories, and agreement of labels.

_LISTED = 2


def variants(evidence: Evidence, matrix: RatingMatrix, best: Margin) -> Iterator[Answer]:
    """Which Eval-Prompt and which judge: the best beside its judge's other Eval-Prompts, and other judges under it."""
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
        verdict = of_variants(differences)
        scope = f" of {best.judge}" if by == "eval_prompt" and len(names_of(matrix, "judge")) > 1 else ""
        scope = f" with {best.eval_prompt}" if by == "judge" and len(names_of(matrix, "eval_prompt")) > 1 else scope
        others = _holds_elsewhere(evidence, best) if by == "eval_prompt" else ""
        start = f"{own}{scope}; difference of the others' tau x100: "
        whole, some = (f"{start}{listed(differences, most)}.{others}" for most in (len(differences), _LISTED))
        yield Answer(question, (whole,), verdict, label, (some,))


def _holds_elsewhere(evidence: Evidence, best: Margin) -> str:
    """For how many other judges the best Eval-Prompt has the highest tau too; empty if none used several."""
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
    return f" It is the highest, tied or not, of {same} of the {len(tried)} other judges too." if len(tried) > 1 else (
        f" With the other judge {'it is' if same else 'another Eval-Prompt is'} the highest."
    )  # fmt: skip


def _distances(evidence: Evidence, best: Margin, by: Factor, own: str) -> list[Behind]:
    """Mean over criteria of each other's tau minus that of the best; the highest first, undefined ones last."""
    try:
        found = evidence.against_best(best, by)
    except JudgeError:
        return []
    differences = [
        (contrast.second, difference, both)
        for dataset, contrast, difference, both in found
        if dataset == best.dataset and contrast.first == own
    ]
    # An undefined difference comes last: no tau differs by 9.
    return sorted(differences, key=lambda named: -(named[1].value if named[1].value is not None else -9.0))


def listed(differences: Sequence[Behind], most: int) -> str:
    """Names with their differences from the best, at most so many, and whether they are tied with it: all, or where
    others are not, on new systems.
    """
    parts = [f"{name} {worded(difference)}{_tie(difference, both)}" for name, difference, both in differences[:most]]
    more = f", {len(differences) - most} more" if len(differences) > most else ""
    return ", ".join(parts) + more


def _tie(difference: Estimate, both: Estimate | None) -> str:
    shown = leaves_zero_out(difference)
    if shown is None:
        return ""
    return " (tied)" if not shown else "" if both is not None and leaves_zero_out(both) else " (with these systems)"


def stories(best: Margin, matrix: RatingMatrix) -> Answer | None:
    """How many story-prompts an interval of tau with a half-width of .10 (`WIDE`) needs; None without an interval."""
    value = best.value
    if value.value is None or value.low is None or value.high is None:
        return None
    half, now = (value.high - value.low) / 2, len(np.unique(matrix.story_prompt))
    wanted = max(FEWEST, int(np.ceil(now * (half / WIDE) ** 2)))
    each = matrix.n / now
    sentence = (
        f"{now:,} story-prompts ({matrix.n:,} stories) give tau x100{_over(best)} to ±{100 * half:.1f}, about "
        f"{wanted:,} ({round(wanted * each):,} stories) to ±{100 * WIDE:.0f}."
    )
    return Answer("How many stories does it take?", (sentence,), of_stories(half, WIDE), "stories")


def _over(best: Margin) -> str:
    return f" as a mean of {len(best.criteria)} criteria (each by itself needs more)" if len(best.criteria) > 1 else ""


def labels(evidence: Evidence, best: Margin) -> Iterator[Answer]:
    """Agreement of the judge's labels with people's majority labels; nothing without labels."""
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
    verdict = of_labels(row)
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
