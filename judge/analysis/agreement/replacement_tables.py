"""Printed tables of the alternative annotator test and of means of systems."""

from __future__ import annotations

from typing import get_args

from judge.analysis.agreement.alternative_annotator import NULL, leads_of
from judge.analysis.agreement.null_judges import DEALT, MEAN, MODE, PERMUTED
from judge.analysis.agreement.replacement import Replacement
from judge.analysis.agreement.replacement_verdict import Word
from judge.analysis.inputs.candidates import cells, first_columns
from judge.base.printing.tables import Column, Table
from judge.stats.agreement.alt_test import LEVEL, MEASURES, PASS
from judge.stats.estimation.prediction_powered import FEW


def tables(result: Replacement) -> list[Table]:
    """The alternative annotator test, and systems' means from some human ratings with the judge's help."""
    return [_test_table(result), _mean_table(result)]


def _test_table(result: Replacement) -> Table:
    options, rows = result.options, [cells(row) for row in result.tests]
    labelled = any(row.labels for row in result.tests)
    rows = [row | {"people_share": test_row.people_share} for row, test_row in zip(rows, result.tests, strict=True)]
    rows = [row | leads_of(test_row) for row, test_row in zip(rows, result.tests, strict=True)]
    columns = [
        *first_columns(rows),
        *_OF_TEST,
        *_LEADS,
    ]
    test = (
        "alt-test (Calderon et al. 2025): one person is left out at a time; the judge wins where it lies closer to the "
        f"other people than that person, who may be better by epsilon = {options.epsilon:g} (one-sided t test; "
        f"Benjamini-Yekutieli at {LEVEL:g} over people); it passes with {100 * PASS:.0f} % or more"
    )
    agreed = (
        "where people agree little (ICC near 0) a judge that always gives the middle passes too: interpret the "
        "winning rate together with people's ICC; people equal "
        "%: share of pairs of people who give a story the same rating"
    )
    rho = (
        "rho: share of stories where the judge lies at least as close to the others as the person left out, mean over "
        "people: compare judges by it; people's share: where that person does (ties count for both)"
    )
    clustered = (
        "by story-prompt: the same test with standard errors over story-prompts (t with one degree of freedom less "
        "than story-prompts); prefer it where stories share story-prompts, since the published "
        "test treats stories as independent; p: the smallest level at which the judge would pass"
    )
    same = " or ".join(dict.fromkeys(MODE if row.labels else MEAN for row in result.tests)) or MEAN
    null = (
        f"{same}, {PERMUTED}: uninformed judges (one rating for all "
        f"stories; people's ratings assigned to the stories at random, mean of {DEALT} assignments): a judge with "
        "no higher rate has shown nothing"
    )
    above = (
        "above uninformed, within systems: the judge's tau with people minus that of the best uninformed judge "
        "(chance, the control, the number of words), on all stories and within systems, 95 % over story-prompts: a yes "
        "needs both above 0"
    )
    own = [test, clustered, rho, above, null, *_null_passes(result), agreed]
    if labelled:
        own.append(
            "closeness of labels: whether they are equal; a judge's label is the one that most of its repeats "
            "gave, and none where repeats tie"
        )
    if any(MEASURES[row.measure].whole and not row.labels for row in result.tests):
        own.append("closeness: equal ratings, the judge's mean over repeats rounded to whole points")
    title = "May the judge replace a person?"
    return Table(title, columns, rows, result.signature, (*result.notes, *own), above=verdict(result))


def verdict(result: Replacement) -> str:
    """Whether judges may replace a person: one judge's verdict with its reasons, or the counts of each verdict."""
    verdicts = result.verdicts
    question = "May a judge replace a person?"
    if len(verdicts) == 1:
        (only,) = verdicts.values()
        return f"{question} {only.text.upper()}. {only.sentence()}"
    counts: dict[str, list[str]] = {}
    for (_, _, judge, eval_prompt), own in verdicts.items():
        counts.setdefault(own.word, []).append(judge if eval_prompt == "-" else f"{judge} with {eval_prompt}")
    said = [
        f"{word.upper()}: {', '.join(counts[word])}" if word in ("yes", "on some criteria") else
        f"{word.upper()}: {len(counts[word])} of {len(verdicts)}"
        for word in get_args(Word) if word in counts
    ]  # fmt: skip
    return f"{question} {'; '.join(said)}."


_OF_TEST = (
    Column("winning_rate", "winning rate %", digits=0, factor=100),
    Column("passed", "passes"),
    Column("p", "p", digits=3, p="less"),
    Column("clustered_rate", "rate by story-prompt %", digits=0, factor=100),
    Column("clustered_passed", "passes by story-prompt"),
    Column("clustered_p", "p by story-prompt", digits=3, p="less"),
    Column("advantage", "rho"),
    Column("people_share", "people's share"),
    Column("compared", "people"),
    Column("too_few", "left out"),
    Column("least_stories", "stories, least"),
    Column("most_stories", "most"),
    Column("people_icc", "people's ICC(1,1)"),
    Column("people_equal", "people equal %", digits=0, factor=100),
)
_LEADS = (
    Column("lead", "above uninformed x100", digits=1, factor=100),
    Column("within", "within systems x100", digits=1, factor=100),
)


def _null_passes(result: Replacement) -> list[str]:
    passed = dict.fromkeys(row.subject.criterion for row in result.tests if row.kind == NULL and row.passed)
    if not passed:
        return []
    return [f"an uninformed judge passes on {', '.join(passed)}: there, passing is no evidence for a judge"]


def _mean_table(result: Replacement) -> Table:
    options, rows = result.options, [cells(row) for row in result.means]
    lost = any(row.lost for row in result.means)
    columns = [
        *first_columns(rows),
        Column("system", "system"),
        Column("powered", "people + judge", main=True),
        Column("people", "people alone"),
        *([Column("all_people", "all people")] if options.rated else []),
        Column("judge_mean", "judge alone"),
        Column("both", "rated by both"),
        Column("judge_only", "by judge only"),
        *([Column("lost", "not by judge")] if lost else []),
        Column("power", "lambda", digits=3),
        Column("worth", "worth"),
    ]
    powered = (
        "people + judge: prediction-powered mean (PPI++, Angelopoulos et al. 2023), an estimate of people's mean "
        "rating of all stories, if "
        "the stories that they rated are a random sample"
    )
    weight = (
        "lambda: weight of the judge, 0 = none; worth: number of human ratings that one is worth with the judge's help"
    )
    own = [powered, weight]
    if lost:
        own.append(
            "people alone: all their ratings, also of stories that the judge did not rate; in people + judge such a "
            "story counts with the mean of the judge's other ratings, so that what the judge lost biases neither"
        )
    few = sum(0 < row.people.n < FEW for row in result.means)
    if few:
        own.append(
            f"{few} of {len(rows)} rows rest on fewer than {FEW} stories that people rated: their intervals are "
            "too narrow"
        )
    if options.rated:
        own.append(f"people's ratings of all but {options.rated} stories of each system, drawn at random, were hidden")
    title = "Mean ratings of systems, from people's ratings and the judge's together"
    return Table(title, columns, rows, result.means_signature, (*result.means_notes, *own))
