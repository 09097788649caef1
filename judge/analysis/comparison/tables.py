"""Printed tables of comparisons: sentences, means over criteria, agreement, ratings, answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judge.analysis.comparison.contrasts import Outcome
from judge.analysis.comparison.pairing import NAMES
from judge.analysis.comparison.result import Comparison, Entry
from judge.analysis.comparison.sentence import disagreements, holds_for, leaves_zero_out, questions, views
from judge.analysis.options.choices import LEVELS, BothInterval
from judge.base.choices import registry
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table
from judge.base.wording import joined
from judge.stats.resampling import bootstrap, bootstrap_intervals

Row = Mapping[str, Any]

_SHORT = {"parsed": "parsed", "explained": "explained", "icc": "ICC over repeats"}

_KINDS: Mapping[BothInterval, bootstrap_intervals.Kind] = registry(
    BothInterval, {"calibrated": "calibrated percentile", "bca": "bca"}
)
_BOTH: Mapping[BothInterval, str] = registry(
    BothInterval, {"calibrated": "with the spread that new data would have (calibrated)", "bca": "BCa"}
)

_TIED = {True: "tied", False: "below", None: "no interval"}

_DETECTABLE = (
    "detectable: 2.8 standard errors (of the resamples), the true difference that 4 of 5 such studies would find; "
    "unadjusted"
)


# Up to so many contrasts every pair is printed unless told otherwise.
FEW_PAIRS = 6


def tables(comparison: Comparison, *, pairs: bool | None = None) -> list[Table]:
    """Tables of `judge compare`, except coverage: the ranking of three or more variants, then all pairs. `pairs`
    decides whether pairs are printed; None = not if there is a ranking and more than `FEW_PAIRS` contrasts.
    """
    many = NAMES[comparison.options.by][1]
    first = [_ranking(comparison, many)] if comparison.ranking else []
    if first and not (len(comparison.entries) <= FEW_PAIRS if pairs is None else pairs):
        return first
    return [
        *first,
        _sentences(comparison, many),
        _means(comparison, many),
        _agreement(comparison),
        _ratings(comparison),
        _answers(comparison),
    ]


def _ranking(comparison: Comparison, many: str) -> Table:
    rows = [
        _labels(ranked.entry)
        | {"rank": ranked.rank, "variant": ranked.variant, "below": ranked.below, "tied": _TIED[ranked.tied]}
        for ranked in comparison.ranking
    ]
    for row, ranked in zip(rows, comparison.ranking, strict=True):
        if ranked.below is None:
            row["tied"] = "best"
    columns = [
        *(column for column in _label_columns(comparison) if column.key != "contrast"),
        Column("rank", "rank"),
        Column("variant", NAMES[comparison.options.by][0]),
        Column("below", "tau x100 below the best", digits=1, factor=100),
        Column("tied", "from the best"),
    ]
    notes = [
        *comparison.notes,
        "ordered by tau with people, mean over criteria: each variant against each other on the stories of both",
        "tied: the 95 % interval of the difference, over story-prompts, holds 0; not adjusted for their number",
        "the score of the best one is biased upwards, since it was selected on these stories",
        f"{len(comparison.entries)} pairs were compared",
    ]
    return Table(
        f"{many[0].upper()}{many[1:]}: the best one and those tied with it",
        columns,
        rows,
        comparison.means_signature,
        notes,
    )


def contrast_name(entry: Entry) -> str:
    """``second − first``, which is also the direction of the differences."""
    return f"{entry.result.contrast.second} − {entry.result.contrast.first}"


def _sentences(comparison: Comparison, many: str) -> Table:
    rows = [_labels(entry) | {"sentence": entry.sentence} for entry in comparison.entries]
    columns = [*_label_columns(comparison), Column("sentence", "in one sentence", wrap=100)]
    return Table(
        f"{many[0].upper()}{many[1:]} compared on the same stories",
        columns,
        rows,
        comparison.means_signature,
        comparison.notes,
    )


def _means(comparison: Comparison, many: str) -> Table:
    options = comparison.options
    rows = [
        _labels(entry)
        | {"criteria": len(entry.result.outcomes)}
        | dict(entry.result.means)
        | {"detectable": entry.result.detectable["tau"], "detectable_both": entry.result.detectable["tau_both"]}
        for entry in comparison.entries
    ]
    intervals = f"95 % intervals: expanded percentile, {options.resamples} resamples of story-prompts"
    notes = [
        *comparison.people,
        "second minus first on the same stories and repeats",
        f"{intervals}; systems too: of systems as well, {_BOTH[options.both]}",
        _DETECTABLE,
    ]
    optional = [
        Column("parsed", "parsed % points", digits=1, factor=100),
        Column("explained", "explained % points", digits=1, factor=100),
        Column("icc", "ICC(1,1)", digits=3),
    ]
    columns = [
        *_label_columns(comparison),
        Column("criteria", "criteria"),
        Column("rating", "rating"),
        *(column for column in optional if not _nowhere(rows, column.key, notes)),
        Column("tau", "tau x100, story-prompts", digits=1, factor=100),
        Column("tau_both", "tau x100, systems too", digits=1, factor=100),
        Column("detectable", "detectable", digits=1, factor=100),
        Column("detectable_both", "systems too", digits=1, factor=100),
    ]
    return Table(f"Differences, mean over criteria: {many} compared", columns, rows, comparison.means_signature, notes)


def _agreement(comparison: Comparison) -> Table:
    options, rows, seen = comparison.options, [], []
    for (entry, outcome), adjusted in zip(comparison.outcomes(), comparison.family.rows, strict=True):
        agreement = outcome.agreement
        outcome_views = views(agreement, adjusted)
        seen.append((f"{_full_name(entry, comparison)}, {outcome.criterion}", outcome_views))
        rows.append(
            _labels(entry)
            | {"criterion": outcome.criterion, "n": agreement.inputs.n, "stories": outcome.stories}
            | {"first": agreement.first, "second": agreement.second}
            | {"tau": agreement.inputs, "tau_both": agreement.both}
            | {"detectable": outcome.detectable["tau"], "detectable_both": outcome.detectable["tau_both"]}
            | {"permutation": agreement.permutation.p, "permutation_adjusted": adjusted.permutation}
            | {"williams_t": agreement.williams.statistic, "williams": agreement.williams.p}
            | {"williams_adjusted": adjusted.williams, "shown": holds_for(outcome_views, options.swapped)}
        )
    columns = [
        *_label_columns(comparison),
        Column("criterion", "criterion"),
        Column("n", LEVELS[options.level].unit if LEVELS[options.level].group else "n"),
        Column("first", "first", digits=1, factor=100),
        Column("second", "second", digits=1, factor=100),
        Column("tau", "boot-inputs", digits=1, factor=100),
        Column("tau_both", "boot-both", digits=1, factor=100),
        Column("permutation", "perm. p", digits=3, p="two-sided"),
        Column("permutation_adjusted", "adj.", digits=3, p="two-sided"),
        Column("williams_t", "Williams t"),
        Column("williams", "p", digits=3, p="two-sided"),
        Column("williams_adjusted", "adj.", digits=3, p="two-sided"),
        Column("detectable", "detectable", digits=1, factor=100),
        Column("detectable_both", "systems too", digits=1, factor=100),
        Column("shown", "shown for"),
    ]
    where = LEVELS[options.level].over
    notes = [
        *comparison.people,
        comparison.family.text,
        *comparison.family.warnings,
        *questions(options.swapped),
        *_cautions(comparison),
    ]
    notes += [*disagreements(seen), *_untested(comparison)]
    return Table(
        f"Agreement with people: tau-b x100, {where}, and its difference", columns, rows, comparison.signature, notes
    )


def _ratings(comparison: Comparison) -> Table:
    rows = [
        _labels(entry)
        | {"criterion": outcome.criterion, "stories": outcome.stories}
        | {"lost_first": outcome.lost[0], "lost_second": outcome.lost[1]}
        | {"mean_first": outcome.means[0], "mean_second": outcome.means[1]}
        | {"rating": outcome.rating, "d": outcome.size, "detectable": outcome.detectable["rating"]}
        | {"icc_first": outcome.icc_sides[0].value, "icc_second": outcome.icc_sides[1].value, "icc": outcome.icc}
        for entry, outcome in comparison.outcomes()
    ]
    columns = [
        *_label_columns(comparison),
        Column("criterion", "criterion"),
        Column("stories", "stories"),
        Column("lost_first", "lost first"),
        Column("lost_second", "second"),
        Column("mean_first", "mean first"),
        Column("mean_second", "second"),
        Column("rating", "difference of means"),
        Column("d", "d"),
        Column("detectable", "detectable"),
    ]
    notes = [
        "stories: rated on both sides; lost: asked on both sides and without a rating on that one, so left out of both",
        "d: difference over the mean of the sides' standard deviations",
        *_repeats(comparison),
        *_unequal_loss(comparison),
    ]
    if not _nowhere(rows, "icc", notes):
        columns += [
            Column("icc_first", "ICC first", digits=3),
            Column("icc_second", "second", digits=3),
            Column("icc", "difference of ICCs", digits=3),
        ]
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
    columns = [*_label_columns(comparison), Column("criterion", "criterion"), Column("asked", "asked")]
    for name in ("parsed", "explained"):
        if _nowhere(rows, name, notes):
            continue
        columns += [
            Column(f"{name}_first", f"{name} % first", digits=1, factor=100),
            Column(f"{name}_second", "second", digits=1, factor=100),
            Column(name, f"{name}, difference", digits=1, factor=100),
            Column(f"{name}_h", "h"),
            Column(f"{name}_only_first", "only first"),
            Column(f"{name}_only_second", "only second"),
        ]
    if alike:
        notes.append(f"{_count(alike)} left out: both sides parsed and explained exactly the same answers")
    return Table("Answers parsed and explained", columns, rows, comparison.inputs_signature, notes)


def _nowhere(rows: Sequence[Row], key: str, notes: list[str]) -> bool:
    """Whether the estimate `key` is undefined in every row; its reasons then go to `notes`."""
    estimates: list[Estimate] = [row[key] for row in rows]
    if any(estimate.defined for estimate in estimates):
        return False
    notes += dict.fromkeys(joined(f"{_SHORT[key]}: ", str(estimate.reason)) for estimate in estimates)
    return True


def _rate(name: str, outcome: Outcome) -> dict[str, Any]:
    difference = getattr(outcome, name)
    return {
        f"{name}_first": difference.first,
        f"{name}_second": difference.second,
        name: outcome.estimate(name),
        f"{name}_h": difference.h,
        f"{name}_only_first": difference.only_first,
        f"{name}_only_second": difference.only_second,
    }


def _labels(entry: Entry) -> dict[str, Any]:
    return {"dataset": entry.dataset, **dict(entry.result.contrast.shared), "contrast": contrast_name(entry)} | {
        "first_side": entry.result.contrast.first,
        "second_side": entry.result.contrast.second,
    }


def _label_columns(comparison: Comparison) -> list[Column]:
    labels = [_labels(entry) for entry in comparison.entries]
    names = ("dataset", "run", "judge", "eval_prompt", "structured", "parser")
    differing = [name for name in names if len({label.get(name) for label in labels}) > 1]
    return [*(Column(name, name.replace("_", " ")) for name in differing), Column("contrast", "second − first")]


def shared_name(entry: Entry, comparison: Comparison) -> str:
    """Settings that the two sides share, as text, without those that are the same for all contrasts."""
    labels = _labels(entry)
    columns = [column for column in _label_columns(comparison) if column.key != "contrast"]
    return " ".join(str(labels[column.key]) for column in columns if labels.get(column.key) is not None)


def _full_name(entry: Entry, comparison: Comparison) -> str:
    return " ".join(part for part in (shared_name(entry, comparison), contrast_name(entry)) if part)


def _cautions(comparison: Comparison) -> list[str]:
    """Warnings from simulations of one tau, not of a difference of two."""
    sizes = {len(matrix.systems) for matrix in comparison.matrices if bootstrap.both_refused(matrix.system) is None}
    kind, level = _KINDS[comparison.options.both], LEVELS[comparison.options.level].coverage
    cautions = (bootstrap_intervals.cautions("boot-both", kind, level, size) for size in sorted(sizes))
    return [
        joined("boot-both, of one tau: ", note) for note in dict.fromkeys(note for notes in cautions for note in notes)
    ]


def _untested(comparison: Comparison) -> list[str]:
    reasons: dict[str, int] = {}
    for _, outcome in comparison.outcomes():
        for name, test in (("permutation", outcome.agreement.permutation), ("Williams", outcome.agreement.williams)):
            if test.p is None and test.reason:
                reasons[f"no {name} test: {test.reason}"] = reasons.get(f"no {name} test: {test.reason}", 0) + 1
    return [f"{reason} ({_count(count)})" for reason, count in reasons.items()]


def _count(number: int) -> str:
    return "1 comparison" if number == 1 else f"{number} comparisons"


def _repeats(comparison: Comparison) -> list[str]:
    notes: dict[str, None] = {}
    for entry, outcome in comparison.outcomes():
        first, second = outcome.repeats
        if first != second and not outcome.imported:
            sides = entry.result.contrast
            notes[f"{sides.first} has {first} repeats and {sides.second} {second}: only common ones are compared"] = (
                None
            )
    return list(notes)


def _unequal_loss(comparison: Comparison) -> list[str]:
    """Warning where sides lost different shares of ratings: the stories left may be a biased selection."""
    unequal = [
        f"{_full_name(entry, comparison)}, {outcome.criterion} ({100 * (outcome.parse.value or 0):+.1f} % points)"
        for entry, outcome in comparison.outcomes()
        if leaves_zero_out(outcome.parse) or (outcome.parse.low is None and outcome.parse.value)
    ]
    if not unequal:
        return []
    rest = len(unequal) - 6
    more = f"; and {rest} more (table of answers)" if rest > 0 else ""
    why = (
        "such stories are left out of both sides and may differ from the rest (judge coverage: what loss is "
        "associated with)"
    )
    return [f"loss differs between the sides: {'; '.join(unequal[:6])}{more}: {why}"]
