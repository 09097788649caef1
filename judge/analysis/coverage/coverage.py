"""Coverage as one result: repeats requested, answered and rated, and whether lost ratings differ from kept ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from judge.analysis.coverage.by_quality import DISTANCE, RATING, gaps, requested
from judge.analysis.coverage.counts import WHY_AMBIGUOUS, Counts, count, said
from judge.analysis.frames import signed
from judge.analysis.inputs.candidates import match
from judge.analysis.inputs.label_criteria import numbers, scale_of
from judge.analysis.options.signature import Signed, joined, signature_parts
from judge.analysis.options.table_options import CoverageOptions
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cells_of, plain, titled
from judge.base.records import Scale
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.estimation import paired_differences
from judge.stats.estimation.proportions import PERMUTATIONS, Association, mean_bounds, with_group, with_number

# Tests whether the ratings that a judge failed to give differ from those it gave; findings in sentences.

_ALPHA = 0.05
# Judges with an Eval-Prompt that are named; the rest are counted.
_LONGEST = 6

SYSTEM, LENGTH = "system", "length"
_TEST = "means, jackknife"


@dataclass(frozen=True, slots=True)
class LossTest:
    """One test: is a judge's loss of ratings associated with a variable? `kind` is the variable: system, length, human
    rating, or its distance from the mean; `against` is its name in tables. `words` say what the
    judge does if the test finds something, where people's ratings are tested."""

    run: str
    judge: str
    eval_prompt: str
    criterion: str
    kind: str
    against: str
    test: Association
    words: str = ""


def loss_tests(matrices: Sequence[RatingMatrix], rng: np.random.Generator) -> tuple[LossTest, ...]:
    """Tests of loss against system, length, human rating and its distance from the mean, where a rating was lost. `rng`
    is used for permutation tests, which are made where counts are small."""
    return tuple(
        test
        for matrix in matrices
        for i, partner in enumerate(match(matrix).partner)
        for test in (*_against_stories(matrix, i, rng), *_against_people(matrix, i, partner))
    )


def tests_against_people(matrices: Sequence[RatingMatrix]) -> tuple[LossTest, ...]:
    """Tests of loss against human ratings; unlike other tests of loss, they need no `rng`."""
    return tuple(
        test
        for matrix in matrices
        for i, partner in enumerate(match(matrix).partner)
        for test in _against_people(matrix, i, partner)
    )


def findings(tests: Sequence[LossTest]) -> tuple[str, ...]:
    """A sentence for each kind of loss that goes with human ratings: p is adjusted by Holm's method over all tests
    against these, and the level is .05."""
    family = [test for test in tests if test.words and test.test.p is not None]
    if not family:
        return ()
    p = np.array([test.test.p for test in family], dtype=np.float64)
    adjusted = paired_differences.adjust(p, "holm", family="tests of loss").p
    groups_by_fault: dict[str, dict[str, list[str]]] = {}
    for test, value in zip(family, adjusted, strict=True):
        if value < _ALPHA:
            groups = groups_by_fault.setdefault(test.words, {})
            groups.setdefault(f"{test.judge} with {test.eval_prompt}", []).append(test.criterion)
    return tuple(_sentence(words, groups, len(family)) for words, groups in groups_by_fault.items())


def _against_stories(matrix: RatingMatrix, i: int, rng: np.random.Generator) -> Iterator[LossTest]:
    asked = matrix.asked[i] > 0
    lost = (matrix.valid[i] < matrix.asked[i])[asked]
    if not lost.any():
        return
    cell = matrix.cells[i]._asdict()
    words = matrix.stories["words"].to_numpy(dtype=np.float64)[asked]
    by_system = with_group(lost, matrix.system[asked], rng)
    yield LossTest(**cell, kind=SYSTEM, against="system", test=by_system)
    yield LossTest(**cell, kind=LENGTH, against="length in words", test=with_number(lost, words))


def _against_people(matrix: RatingMatrix, i: int, same: int | None) -> Iterator[LossTest]:
    if same is None and len(matrix.criteria) == 1 and not matrix.declared:
        same = 0  # loss is tested against what people rated, even where another criterion has the equal name
    if same is None:
        return
    wanted = requested(matrix, i, same)
    asked = wanted > 0
    lost = (matrix.valid[i] < wanted)[asked]
    if not lost.any():
        return
    cell, people, name = matrix.cells[i]._asdict(), matrix.people[same][asked], f"people's {matrix.criteria[same]}"
    # What sets lost and kept apart is shown by ranks; whether that is chance is the one test of loss.
    middle = float(np.nanmean(people)) if not np.isnan(people).all() else 0.0
    shown = {RATING: (name, people), DISTANCE: (f"{name}, distance from its mean", np.abs(people - middle).round(9))}
    for gap in gaps(matrix, i, same):
        against, number = shown[gap.kind]
        ranks, test = with_number(lost, number), gap.test
        reason = None if test.p is not None else ranks.reason or test.estimate.reason
        ranks = replace(ranks, test=_TEST if test.p is not None else "none", p=test.p, reason=reason)
        yield LossTest(**cell, kind=gap.kind, against=against, test=ranks, words=gap.words)


def _sentence(words: str, groups: dict[str, list[str]], tests: int) -> str:
    family = f"Holm, p < .05, {tests} tests" if tests > 1 else "p < .05"
    each = "each " if len(groups) > 1 else ""
    return (
        f"loss goes with people's ratings: {'; '.join(_named(groups))} {each}{words} ({family}); "
        "the numbers here are for the stories that were kept"
    )


def _named(groups: dict[str, list[str]]) -> Iterator[str]:
    for name, criteria in list(groups.items())[:_LONGEST]:
        yield f"{name} ({', '.join(criteria)})"
    if len(groups) > _LONGEST:
        yield f"and {len(groups) - _LONGEST} more"


# Bounds of a mean rating over the possible values of missing repeats; lowest and highest points of scales.

SCALE_UNKNOWN = "the criterion's scale is in no result folder; a criteria set that is given to the import holds it"


@dataclass(frozen=True, slots=True)
class Bound:
    """Bounds of a judge's mean rating with one Eval-Prompt on one criterion, over the repeats it was asked for. The
    interval of `mean` goes from all `missing` repeats at the lowest point of the `scale` to all at the highest. `ends`
    name these for labels. `scale` is None if no result folder holds it; `mean` then has bounds only if no repeat is
    missing, since the ratings seen need not reach the ends."""

    run: str
    judge: str
    eval_prompt: str
    criterion: str
    mean: Estimate
    scale: tuple[float, float] | None
    missing: int
    ends: tuple[str, str] | None = None


def bounds(matrices: Sequence[RatingMatrix], scales: Mapping[str, tuple[float, float]]) -> tuple[Bound, ...]:
    """Bounds of every mean rating, over all values of missing repeats. `scales` has the ends of scales."""
    return tuple(
        _bound(matrix, i, scales.get(cell.criterion), scale_of(matrix, cell.criterion))
        for matrix in matrices
        for i, cell in enumerate(matrix.cells)
    )


def _bound(matrix: RatingMatrix, i: int, scale: tuple[float, float] | None, labels: Scale | None) -> Bound:
    ratings = matrix.repeats(i)
    # A repeat that was never planned is not missing: only asked ones are counted.
    lost = int(matrix.asked[i].sum() - matrix.valid[i].sum())
    values = np.concatenate([ratings[~np.isnan(ratings)], np.full(lost, np.nan)])
    ends = None if labels is None else (labels.labels[0], labels.labels[-1])
    mean = mean_bounds(values, *(scale or (0.0, 0.0)))
    if scale is None and lost and mean.defined:
        mean = replace(mean.without_interval(SCALE_UNKNOWN), method=None)
    return Bound(**matrix.cells[i]._asdict(), mean=mean, scale=scale, missing=lost, ends=ends)


def scales_of(table: RatingsTable) -> dict[str, tuple[float, float]]:
    """Lowest and highest point of each criterion's scale, where a result folder holds it."""
    ends: dict[str, tuple[float, float]] = {}
    for fact in table.facts:
        for criterion in fact.criteria:
            scale = getattr(criterion, "scale", None)
            if scale is not None:
                ends[str(getattr(criterion, "name", criterion))] = (float(scale.min), float(scale.max))
    return ends


@dataclass(frozen=True, slots=True)
class Coverage(Signed):
    """Repeats requested, answered and rated; tests of whether ratings are lost at random; bounds of mean ratings.
    `total` has one row, or none where no judge was asked. `tests` are of each run x judge x Eval-Prompt x criterion
    that lost a rating; their p values are not adjusted. `findings` has a sentence for each kind of loss that is
    associated with human ratings."""

    total: Counts
    by_eval_prompt: Counts
    by_criterion: Counts
    by_system: Counts
    tests: tuple[LossTest, ...]
    findings: tuple[str, ...]
    bounds: tuple[Bound, ...]
    options: CoverageOptions
    tested_parts: tuple[str, ...]
    bound_parts: tuple[str, ...]

    @property
    def share(self) -> float | None:
        """Share of requested repeats that have a rating; None when nothing was requested."""
        return self.total.rows[0].share if self.total.rows else None

    @property
    def frame(self) -> pd.DataFrame:
        """One row per judge and Eval-Prompt."""
        return signed(self.by_eval_prompt.frame, self.signature, self.notes)


def coverage(table: RatingsTable, options: CoverageOptions | None = None) -> Coverage:
    """Counts of repeats, tests of whether ratings are lost at random, and bounds of mean ratings."""
    options = options or CoverageOptions()
    matrices = build(table, drop_systems=options.drop_systems)

    def counted(*by: str) -> Counts:
        return count(table, by, drop_systems=options.drop_systems)

    def parts(*extra: str) -> tuple[str, ...]:
        return signature_parts(table, matrices, options, without=("seed",), extra=extra)

    # What goes with loss, and what a mean could be, is told of ratings that have a mean.
    averaged = numbers(table)
    of_numbers = matrices if averaged is table else build(averaged, drop_systems=options.drop_systems)
    tests = loss_tests(of_numbers, np.random.default_rng(options.seed))
    return Coverage(
        total=counted("source"),
        by_eval_prompt=counted("judge", "eval_prompt"),
        by_criterion=counted("judge", "criterion"),
        by_system=counted("judge", "system"),
        tests=tests,
        findings=findings(tests),
        bounds=bounds(of_numbers, scales_of(table)),
        options=options,
        signature_parts=parts(),
        tested_parts=parts(f"perm:{PERMUTATIONS}/seed{options.seed}"),
        bound_parts=parts("bounds:worst-best"),
        notes=averaged.notes,
    )


# Printed tables of coverage, and the line on coverage that is printed before statistics.

_WHY_NOTES = {
    "list": '(list): ambiguous answers whose only number is the "1." of a list',
    "quoted": "(quoted): ambiguous answers whose only rating is quoted from the story or from somebody's speech",
}
_CODES = "the mean of labels is that of their codes, 0 upwards: of two labels the share of the second"


def tables(result: Coverage) -> list[Table]:
    """Counts by Eval-Prompt, criterion and system, tests of loss, and bounds of mean ratings."""
    counts = (result.by_eval_prompt, result.by_criterion, result.by_system)
    return [
        *(_count_table(run_count, result) for run_count in counts),
        _association_table(result),
        _bounds_table(result),
    ]


def sentence(total: Counts) -> str:
    """The numbers of repeats requested, answered and rated, and of lost repeats by status."""
    if not total.rows:
        return "no judge was asked"
    (row,) = total.rows
    lost = [f"{name} {number}" for name, number in row.lost.items() if number]
    tail = f" ({', '.join(lost)})" if lost else ""
    answered = f", {row.answered} answered" if total.came != "imported" else ""
    return f"{row.asked} {total.came}{answered}, {row.rated} rated, {100 * row.share:.1f} %{tail}"


def with_coverage(
    table: RatingsTable, printed: Sequence[Table], form: str, drop_systems: Sequence[str] = ()
) -> list[Table]:
    """The tables with a line on coverage: above the first for ``table`` and ``md``, else as first note of each."""
    line = f"coverage: {sentence(count(table, ('source',), drop_systems=drop_systems))}"
    if form in ("table", "md"):
        return [replace(other, above=_above(other.above, line)) if i == 0 else other for i, other in enumerate(printed)]
    return [replace(other, notes=(line, *other.notes)) for other in printed]


def _above(verdict: str, line: str) -> str:
    return f"{verdict} ({line})" if verdict else line


def _count_table(counts: Counts, result: Coverage) -> Table:
    columns = [Column(name, name.replace("_", " ")) for name in (*counts.by, "stories")]
    columns += [Column("asked", counts.came), *plain("answered", "rated")]
    columns.append(Column("share", "rated %", digits=1, factor=100))
    columns += [
        Column(name, f"({name})" if name in WHY_AMBIGUOUS else name) for name in (*counts.causes, *counts.flags)
    ]
    title = "Coverage by " + " and ".join(name.replace("eval_prompt", "Eval-Prompt") for name in counts.by)
    rows: list[dict[str, Any]] = [
        dict(zip(counts.by, row.labels, strict=True))
        | cells_of(row, "stories", "asked", "answered", "rated", "share")
        | {**row.lost, **row.why}
        for row in counts.rows
    ]
    notes = dict.fromkeys([*result.notes, *(_WHY_NOTES[flag] for flag in counts.flags)])
    return Table(title, columns, rows, result.signature, tuple(notes))


def _association_table(result: Coverage) -> Table:
    p_values = [test.test.p for test in result.tests if test.test.p is not None]
    strong = sum(p < _ALPHA for p in p_values)
    if not result.tests:
        rows_asked = [said(row.rated, row.asked, {}, result.total.came).removesuffix(".") for row in result.total.rows]
        notes = [f"nothing was lost: {words}" for words in rows_asked]
    else:
        notes = [
            "unit: the story, lost when one of its ratings is missing; p is not adjusted",
            f"{len(p_values)} tests, {strong} with p < .05 ({_ALPHA * len(p_values):.1f} expected from chance alone)",
            "effect: Cramér's V for systems; for numbers the chance that a lost story has the higher one (.50 = none)",
        ]
    columns = [
        *plain("judge", "eval_prompt", "criterion"),
        Column("with", "loss and"),
        Column("n", "stories"),
        *plain("lost", "test", "effect"),
        Column("correlation", "r"),
        Column("p", "p", digits=3, p="row"),
        *titled(tail="tail", reason="why not"),
    ]
    rows = [_tested(test) for test in result.tests]
    return Table("Is loss associated with the stories?", columns, rows, joined(result.tested_parts), notes)


def _tested(loss: LossTest) -> dict[str, Any]:
    test = loss.test
    return {
        **cells_of(loss, "judge", "eval_prompt", "criterion"),
        "with": loss.against,
        **cells_of(test, "n", "lost", "test", "effect", "correlation", "p", "tail", "reason"),
    }


def _bounds_table(result: Coverage) -> Table:
    columns = [
        *plain("judge", "eval_prompt", "criterion", "missing", "scale"),
        Column("mean", "mean [worst, best]", digits=2),
    ]
    labelled = any(bound.ends is not None for bound in result.bounds)
    note = "bounds, not confidence intervals: every missing rating at the lowest, or at the highest, point of the scale"
    rows = [_bounded(bound) for bound in result.bounds]
    return Table(
        "Mean rating and its bounds", columns, rows, joined(result.bound_parts), [note, *([_CODES] if labelled else [])]
    )


def _bounded(bound: Bound) -> dict[str, Any]:
    ends = bound.ends or (None if bound.scale is None else tuple(f"{end:g}" for end in bound.scale))
    return {
        **cells_of(bound, "judge", "eval_prompt", "criterion", "missing", "mean"),
        "scale": None if ends is None else "-".join(ends),
    }
