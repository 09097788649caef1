"""Printed tables of comparisons: ranking, sentences, means over criteria, agreement, ratings, answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from judge.analysis.comparison.contrasts import Entry, Outcome
from judge.analysis.comparison.pairing import NAMES
from judge.analysis.comparison.result import Comparison
from judge.analysis.comparison.sentence import disagreements, holds_for, leaves_zero_out, questions, views
from judge.analysis.options.choices import LEVELS, BothInterval
from judge.base.choices import registry
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cells_of, hundredths, plain, thousandths, titled
from judge.base.wording import joined
from judge.stats.resampling import bootstrap, bootstrap_intervals

_SHORT = {"parsed": "parsed", "explained": "explained", "icc": "ICC over repeats"}

# Methods of the interval over systems and story-prompts, as simulations and as notes name them.
_KINDS: Mapping[BothInterval, tuple[bootstrap_intervals.Kind, str]] = registry(
    BothInterval,
    {
        "calibrated": ("calibrated percentile", "with the spread that new data would have (calibrated)"),
        "bca": ("bca", "BCa"),
    },
)
_TIED = {True: "tied", False: "below", None: "no interval"}

_DETECTABLE = (
    "detectable: 2.8 standard errors (of the resamples), the true difference that 4 of 5 such studies would find; "
    "unadjusted"
)
# Up to so many contrasts every pair is printed unless told otherwise.
FEW_PAIRS = 6
# Contrasts that a note names; the rest are counted.
_NAMED = 6


def tables(comparison: Comparison, *, pairs: bool | None = None) -> list[Table]:
    """Tables of `judge compare`, except coverage: the ranking of three or more variants, then all pairs. `pairs`
    decides whether pairs are printed; None = not if there is a ranking and more than `FEW_PAIRS` contrasts."""
    noun, many = NAMES[comparison.options.by]
    title = f"{many[0].upper()}{many[1:]}"
    first = [_ranking(comparison, noun, title)] if comparison.ranking else []
    if first and not (len(comparison.entries) <= FEW_PAIRS if pairs is None else pairs):
        return first
    return [
        *first,
        _sentences(comparison, title),
        _means(comparison, many),
        _agreement(comparison),
        _ratings(comparison),
        _answers(comparison),
    ]


def contrast_name(entry: Entry) -> str:
    """``second − first``, which is also the direction of the differences."""
    return f"{entry.contrast.second} − {entry.contrast.first}"


def shared_name(entry: Entry, comparison: Comparison) -> str:
    """Settings that the two sides share, as text, without those that are the same for all contrasts."""
    labels = _labels(entry)
    return " ".join(str(labels[name]) for name in _differing(comparison) if labels.get(name) is not None)


def _full_name(entry: Entry, comparison: Comparison) -> str:
    return " ".join(part for part in (shared_name(entry, comparison), contrast_name(entry)) if part)


def _labels(entry: Entry) -> dict[str, Any]:
    sides = {"first_side": entry.contrast.first, "second_side": entry.contrast.second}
    return {"dataset": entry.dataset, **dict(entry.contrast.shared), "contrast": contrast_name(entry), **sides}


def _differing(comparison: Comparison) -> list[str]:
    labels = [_labels(entry) for entry in comparison.entries]
    names = ("dataset", "run", "judge", "eval_prompt", "structured", "parser")
    return [name for name in names if len({label.get(name) for label in labels}) > 1]


def _about(comparison: Comparison, *further: str) -> list[Column]:
    return [*plain(*_differing(comparison)), Column("contrast", "second − first"), *plain(*further)]


def _ranking(comparison: Comparison, noun: str, title: str) -> Table:
    rows = [
        _labels(ranked.entry)
        | cells_of(ranked, "rank", "variant", "below")
        | {"tied": "best" if ranked.below is None else _TIED[ranked.tied]}
        for ranked in comparison.ranking
    ]
    columns = [
        *plain(*_differing(comparison), "rank"),
        Column("variant", noun),
        *hundredths(below="tau x100 below the best"),
        Column("tied", "from the best"),
    ]
    notes = [
        *comparison.notes,
        "ordered by tau with people, mean over criteria: each variant against each other on the stories of both",
        "tied: the 95 % interval of the difference, over story-prompts, holds 0; not adjusted for their number",
        "the score of the best one is biased upwards, since it was selected on these stories",
        f"{len(comparison.entries)} pairs were compared",
    ]
    title = f"{title}: the best one and those tied with it"
    return Table(title, columns, rows, comparison.means_signature, notes)


def _sentences(comparison: Comparison, title: str) -> Table:
    rows = [_labels(entry) | {"sentence": entry.sentence} for entry in comparison.entries]
    columns = [*_about(comparison), Column("sentence", "in one sentence", wrap=100)]
    title = f"{title} compared on the same stories"
    return Table(title, columns, rows, comparison.means_signature, comparison.notes)


def _means(comparison: Comparison, many: str) -> Table:
    options = comparison.options
    rows = [
        _labels(entry)
        | {"criteria": len(entry.outcomes)}
        | dict(entry.means)
        | {"detectable": entry.detectable["tau"], "detectable_both": entry.detectable["tau_both"]}
        for entry in comparison.entries
    ]
    intervals = f"95 % intervals: expanded percentile, {options.resamples} resamples of story-prompts"
    notes = [
        *comparison.people,
        "second minus first on the same stories and repeats",
        f"{intervals}; under systems too, of systems as well, {_KINDS[options.both][1]}",
        _DETECTABLE,
    ]
    optional = hundredths(parsed="parsed % points", explained="explained % points")
    optional.append(Column("icc", "ICC(1,1)", digits=3))
    columns = [
        *_about(comparison, "criteria", "rating"),
        *(column for column in optional if not _nowhere(rows, column.key, notes)),
        *hundredths(tau="tau x100, story-prompts", tau_both="tau x100, systems too"),
        *hundredths(detectable="detectable", detectable_both="systems too"),
    ]
    return Table(f"Differences, mean over criteria: {many} compared", columns, rows, comparison.means_signature, notes)


def _agreement(comparison: Comparison) -> Table:
    options, rows, seen = comparison.options, [], []
    for entry, outcome in comparison.outcomes():
        tau, both = outcome.measured["tau"], outcome.measured["tau_both"]
        permutation, williams = outcome.permutation, outcome.williams
        outcome_views = views(tau.estimate, both.estimate, permutation.adjusted, williams.adjusted)
        seen.append((f"{_full_name(entry, comparison)}, {outcome.criterion}", outcome_views))
        rows.append(
            _labels(entry)
            | cells_of(outcome, "criterion", "stories", n=tau.estimate.n)
            | cells_of(tau, "first", "second", "detectable", tau=tau.estimate)
            | {"tau_both": both.estimate, "detectable_both": both.detectable}
            | {"permutation": permutation.p, "permutation_adjusted": permutation.adjusted}
            | {"williams_t": williams.statistic, "williams": williams.p, "williams_adjusted": williams.adjusted}
            | {"shown": holds_for(outcome_views, options.swapped)}
        )
    level = LEVELS[options.level]
    columns = [
        *_about(comparison, "criterion"),
        Column("n", level.unit if level.group else "n"),
        *hundredths(first="first", second="second", tau="boot-inputs", tau_both="boot-both"),
        Column("permutation", "perm. p", digits=3, p="two-sided"),
        Column("permutation_adjusted", "adj.", digits=3, p="two-sided"),
        Column("williams_t", "Williams t"),
        Column("williams", "p", digits=3, p="two-sided"),
        Column("williams_adjusted", "adj.", digits=3, p="two-sided"),
        *hundredths(detectable="detectable", detectable_both="systems too"),
        Column("shown", "shown for"),
    ]
    notes = [*comparison.people, *comparison.family, *questions(options.swapped), *_cautions(comparison)]
    notes += [*disagreements(seen), *_untested(comparison)]
    title = f"Agreement with people: tau-b x100, {level.over}, and its difference"
    return Table(title, columns, rows, comparison.signature, notes)


def _ratings(comparison: Comparison) -> Table:
    rows = []
    for entry, outcome in comparison.outcomes():
        rating, icc = outcome.measured["rating"], outcome.measured["icc"]
        sides = [side.value if isinstance(side, Estimate) else side for side in (icc.first, icc.second)]
        rows.append(
            _labels(entry)
            | cells_of(outcome, "criterion", "stories", lost_first=outcome.lost[0], lost_second=outcome.lost[1])
            | {"mean_first": rating.first, "mean_second": rating.second}
            | {"rating": rating.estimate, "d": outcome.size, "detectable": rating.detectable}
            | {"icc_first": sides[0], "icc_second": sides[1], "icc": icc.estimate}
        )
    columns = [
        *_about(comparison, "criterion", "stories"),
        *titled(
            lost_first="lost first",
            lost_second="second",
            mean_first="mean first",
            mean_second="second",
            rating="difference of means",
        ),
        *plain("d", "detectable"),
    ]
    notes = [
        "stories: rated on both sides; lost: asked on both sides and without a rating on that one, so left out of both",
        "d: difference over the mean of the sides' standard deviations",
        *_repeats(comparison),
        *_unequal_loss(comparison),
    ]
    if not _nowhere(rows, "icc", notes):
        columns += [*thousandths(icc_first="ICC first", icc_second="second", icc="difference of ICCs")]
        notes.append("ICC(1,1) over the repeats that both sides have, of stories with all of them rated")
    return Table("Ratings and consistency over repeats", columns, rows, comparison.inputs_signature, notes)


def _answers(comparison: Comparison) -> Table:
    rows = [
        _labels(entry)
        | {"criterion": outcome.criterion, "asked": outcome.parsed.difference.n}
        | _rate("parsed", outcome)
        | _rate("explained", outcome)
        for entry, outcome in comparison.outcomes()
        # Where both sides parsed and explained the same answers there is nothing to show.
        if outcome.parsed.discordant.any() or outcome.explained.discordant.any()
    ]
    alike = sum(1 for _ in comparison.outcomes()) - len(rows)
    notes = [
        "asked: repeats asked on both sides; only first, only second: parsed (explained) on that side alone",
        "h: Cohen's h, the difference of the rates after 2 asin(sqrt(p)); intervals: resamples of story-prompts",
    ]
    columns = _about(comparison, "criterion", "asked")
    for name in ("parsed", "explained"):
        if _nowhere(rows, name, notes):
            continue
        columns += [
            *hundredths(**{f"{name}_first": f"{name} % first", f"{name}_second": "second"}),
            *hundredths(**{name: f"{name}, difference"}),
            Column(f"{name}_h", "h"),
            Column(f"{name}_only_first", "only first"),
            Column(f"{name}_only_second", "only second"),
        ]
    if alike:
        notes.append(f"{_count(alike)} left out: both sides parsed and explained exactly the same answers")
    return Table("Answers parsed and explained", columns, rows, comparison.inputs_signature, notes)


def _nowhere(rows: Sequence[Mapping[str, Any]], key: str, notes: list[str]) -> bool:
    """Whether the estimate `key` is undefined in every row; its reasons then go to `notes`."""
    estimates: list[Estimate] = [row[key] for row in rows]
    if any(estimate.defined for estimate in estimates):
        return False
    notes += dict.fromkeys(joined(f"{_SHORT[key]}: ", str(estimate.reason)) for estimate in estimates)
    return True


def _rate(name: str, outcome: Outcome) -> dict[str, Any]:
    cells: dict[str, Any] = cells_of(getattr(outcome, name), "first", "second", "h", "only_first", "only_second")
    return {name: outcome.estimate(name)} | {f"{name}_{key}": value for key, value in cells.items()}


def _cautions(comparison: Comparison) -> list[str]:
    """Warnings from simulations of one tau, not of a difference of two."""
    sizes = {len(matrix.systems) for matrix in comparison.matrices if bootstrap.both_refused(matrix.system) is None}
    kind, level = _KINDS[comparison.options.both][0], LEVELS[comparison.options.level].coverage
    cautions = (bootstrap_intervals.cautions("boot-both", kind, level, size) for size in sorted(sizes))
    return [
        joined("boot-both, of one tau: ", note) for note in dict.fromkeys(note for notes in cautions for note in notes)
    ]


def _untested(comparison: Comparison) -> list[str]:
    outcomes = [outcome for _, outcome in comparison.outcomes()]
    named_tests = [
        test for each in outcomes for test in (("permutation", each.permutation), ("Williams", each.williams))
    ]
    reasons = Counter(f"no {name} test: {test.reason}" for name, test in named_tests if test.p is None and test.reason)
    return [f"{reason} ({_count(count)})" for reason, count in reasons.items()]


def _count(number: int) -> str:
    return "1 comparison" if number == 1 else f"{number} comparisons"


def _repeats(comparison: Comparison) -> list[str]:
    notes: dict[str, None] = {}
    for entry, outcome in comparison.outcomes():
        first, second = outcome.repeats
        if first != second and not outcome.imported:
            sides = f"{entry.contrast.first} has {first} repeats and {entry.contrast.second} {second}"
            notes[f"{sides}: only common ones are compared"] = None
    return list(notes)


def _unequal_loss(comparison: Comparison) -> list[str]:
    """Warning where sides lost different shares of ratings: the stories left may be a biased selection."""
    unequal = []
    for entry, outcome in comparison.outcomes():
        parse = outcome.estimate("parsed")
        if leaves_zero_out(parse) or (parse.low is None and parse.value):
            points = f"{100 * (parse.value or 0):+.1f} % points"
            unequal.append(f"{_full_name(entry, comparison)}, {outcome.criterion} ({points})")
    if not unequal:
        return []
    rest = len(unequal) - _NAMED
    more = f"; and {rest} more (table of answers)" if rest > 0 else ""
    why = (
        "such stories are left out of both sides and may differ from the rest (judge coverage: what loss is "
        "associated with)"
    )
    return [f"loss differs between the sides: {'; '.join(unequal[:_NAMED])}{more}: {why}"]
