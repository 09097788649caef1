"""The tables of systems as people read them: wide, one judge or one criterion at a time. Never computes a figure.

A run can hold ten systems x six criteria x twenty judges and Eval-Prompts. What a researcher asks first is how people
rate the systems and whether judges tell the same systems apart; so those two tables are always printed, each judge's
own only where there are few judges, or where they are asked for. JSON and CSV get the long table with everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judge.analysis.inputs.rating_sources import sources
from judge.analysis.options.signature import signature
from judge.analysis.options.table_options import SystemsOptions
from judge.analysis.systems import separation
from judge.analysis.systems import systems as analysis
from judge.analysis.systems.systems import AVERAGE, Standing
from judge.errors import OptionError
from judge.printing.tables import Column, Table
from judge.rating_matrix import RatingMatrix, build
from judge.stats import near_ties
from judge.stats.estimate import Estimate
from judge.stats.ordering import ranking
from judge.wording import Advice, Note

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

FEW = 4
"""Up to so many judges x Eval-Prompts each has its own tables without being asked for."""

ACROSS = 6
"""Judges x Eval-Prompts side by side in a table by criterion."""

_HOW = {
    "clustered": "± is half of a 95 % t interval with story-prompts as the independent units",
    "as-published": Note(
        "± is half of a 95 % t interval over all ratings as if independent, as the HANNA study printed it; "
        "ratings of one story are not independent",
        Advice("see {mean_interval}", mean_interval="clustered"),
        joint=", ",
    ),
    "boot": "intervals: 95 %, expanded percentile, resamples of story-prompts",
}


def tables(
    table: RatingsTable,
    options: SystemsOptions | None = None,
    *,
    form: str = "table",
    by: str = "auto",
    rank: bool = False,
    differences: bool = False,
    full: bool = False,
) -> list[Table]:
    """Tables of systems: wide for people, long for `form` json and csv.

    `by` is ``judge`` (one table for each judge x Eval-Prompt, criteria as columns), ``criterion`` (the other way round)
    or ``auto`` (by criterion where there is only one). `rank` prints ranks in place of means, `differences` all pairs
    of systems; `full` leaves nothing out.
    """
    if by not in ("auto", "judge", "criterion"):
        raise OptionError("by", by, allowed=("auto", "judge", "criterion"))
    options = options or SystemsOptions()
    matrices = build(table, drop_systems=options.drop_systems)
    found = analysis.standings(matrices, options)
    long = form in ("json", "csv")
    separated: list[Table] = []
    if long:
        made = [_long_table(found, options, differences=differences)]
    elif differences:
        made = [_difference_table(found, options, full=full)]
    else:
        made = [part for m in matrices for part in _wide_tables(m, found, options, by=by, rank=rank, full=full)]
        separated = [part for matrix in matrices for part in separation.tables(matrix)]
    notes = [note for fact in table.facts for note in fact.notes]
    notes += _notes(matrices, found, options, rank=rank or long, differences=differences)
    if not (full or long):
        notes += [note for matrix in matrices if (note := _left_out(matrix, differences=differences))]
    if differences:
        line = signature(table, matrices, options, intervals="paired-t")
    else:
        line = signature(table, matrices, options)
    apart = signature(table, matrices, options, intervals="clustered")
    made = [replace(one, signature=line) for one in made] + [replace(one, signature=apart) for one in separated]
    return [*made[:-1], replace(made[-1], notes=(*made[-1].notes, *dict.fromkeys(notes)))] if made else []


def _long_table(found: Sequence[Standing], options: SystemsOptions, *, differences: bool) -> Table:
    frame = analysis.difference_frame(found, options) if differences else analysis.frame_of(found)
    columns = [Column(str(name), str(name)) for name in frame.columns]
    plain = frame.astype(object).where(frame.notna(), None)
    rows = [{str(key): value for key, value in row.items()} for row in plain.to_dict("records")]
    return Table("Differences between systems" if differences else "Systems", columns, rows, "")


def _shown(found: Sequence[Standing], matrix: RatingMatrix, *, full: bool) -> list[list[Standing]]:
    """Standings of each source that is printed, people first."""
    groups: dict[int, list[Standing]] = {}
    for one in found:
        if one.source.matrix is matrix:
            groups.setdefault(id(one.source), []).append(one)
    own = list(groups.values())
    judges = [group for group in own if not group[0].source.is_people]
    return own if full or len(judges) <= FEW else [group for group in own if group[0].source.is_people]


def _left_out(matrix: RatingMatrix, *, differences: bool) -> str | None:
    judges = sum(not source.is_people for source in sources(matrix))
    if judges > FEW:
        said = f"{matrix.dataset}: {judges} judges x Eval-Prompts: their own tables are left out here"
        choose = Advice("choose with {judge} and {eval_prompt}, or ask for all with {full}", full=True)
        return Note(said, choose, joint="; ")
    several = any(len(source.criteria) > 1 for source in sources(matrix))
    if not (differences and several):
        return None
    return Note("differences on average over criteria", Advice("all criteria: {full}", full=True), joint="; ")


def _wide_tables(
    matrix: RatingMatrix, found: Sequence[Standing], options: SystemsOptions, *, by: str, rank: bool, full: bool
) -> Iterator[Table]:
    shown = _shown(found, matrix, full=full)
    if not shown:
        return
    order = _order(shown[0][-1])

    def made(group: Sequence[Standing], titles: Sequence[str]) -> Table:
        if rank:
            return _rank_table(group, order, titles)
        return _mean_table(group, order, titles, half_width=options.mean_interval != "boot")

    one_criterion = len({one.criterion.casefold() for group in shown for one in group}) == 1
    if by == "judge" or (by == "auto" and not one_criterion):
        for group in shown:
            yield made(group, [one.criterion for one in group])
        return
    names = dict.fromkeys(one.criterion for group in shown for one in group)
    for criterion in names:
        row = [one for group in shown for one in group if one.criterion.casefold() == criterion.casefold()]
        people = [one for one in row if one.source.is_people]
        judges = [one for one in row if not one.source.is_people]
        for start in range(0, max(1, len(judges)), ACROSS):
            part = [*people, *judges[start : start + ACROSS]]
            yield made(part, [one.source.name for one in part])


def _order(one: Standing) -> list[int]:
    """Systems from the highest mean down."""
    return near_ties.descending([mean.value for mean in one.mean])


def _title(group: Sequence[Standing], what: str) -> str:
    source = group[0].source
    same = all(one.source is source for one in group)
    about = source.name if same else f"{group[0].criterion}, by judge"
    return f"{what}, {source.matrix.dataset}: {about}"


def _main(group: Sequence[Standing]) -> Standing:
    """The standing whose groups a table prints: a source's average (its last), or the first of several sources."""
    return group[-1] if group[-1].source is group[0].source else group[0]


def _whose(group: Sequence[Standing]) -> str:
    main = _main(group)
    return main.criterion if group[-1].source is group[0].source else main.source.name


def _mean_table(group: Sequence[Standing], order: Sequence[int], titles: Sequence[str], *, half_width: bool) -> Table:
    """Systems x criteria (or judges): means with intervals, and the letters of the main one."""
    matrix, main = group[0].source.matrix, _main(group)
    letters = main.groups
    rows = [
        {"system": matrix.systems[s], "stories": _stories(group, s), "group": letters[s] or None}
        | {str(k): one.mean[s] for k, one in enumerate(group)}
        for s in order
    ]
    columns = [Column("system", "system"), Column("stories", "stories")]
    columns += [Column(str(k), title, half_width=half_width) for k, title in enumerate(titles)]
    columns.append(Column("group", f"group ({_whose(group)})" if len(group) > 1 else "group"))
    return Table(_title(group, "Mean rating"), columns, rows, "")


def _rank_table(group: Sequence[Standing], order: Sequence[int], titles: Sequence[str]) -> Table:
    """Systems x criteria (or judges): rank, its interval and letters; for the main one also ranks left and best."""
    matrix, main = group[0].source.matrix, _main(group)
    sets, letters = ranking.rank_sets(main.higher), [one.groups for one in group]
    rows = []
    for s in order:
        row: dict[str, Any] = {"system": matrix.systems[s], "stories": _stories(group, s)}
        row |= {str(k): _rank(one, s, letters[k][s]) for k, one in enumerate(group)}
        known = main.rank[s].defined
        row |= {"set": f"{sets[s][0]}-{sets[s][1]}" if known else None, "best": float(main.best[s])}
        rows.append(row)
    columns = [Column("system", "system"), Column("stories", "stories")]
    columns += [Column(str(k), title) for k, title in enumerate(titles)]
    columns += [Column("set", "ranks left"), Column("best", "best in %", digits=0, factor=100)]
    notes = (f"ranks left, best in %: {_whose(group)}",) if len(group) > 1 else ()
    return Table(_title(group, "Rank [interval] group"), columns, rows, "", notes)


def _rank(one: Standing, s: int, letters: str) -> str:
    rank = one.rank[s]
    if rank.value is None:
        return "no rating"
    ends = "" if rank.low is None or rank.high is None else f" [{rank.low:.0f}, {rank.high:.0f}]"
    return f"{rank.value:.0f}{ends} {letters}"


def _stories(group: Sequence[Standing], s: int) -> int | str:
    """Rated stories of a system: one number, or from-to where criteria (or judges) differ."""
    member = group[0].source.matrix.system == s
    counts = [int((~np.isnan(one.by_story[member])).sum()) for one in group]
    return counts[0] if min(counts) == max(counts) else f"{min(counts)}-{max(counts)}"


def _difference_table(found: Sequence[Standing], options: SystemsOptions, *, full: bool) -> Table:
    """Pairs of systems as printed, best systems first; on average over criteria unless `full`."""
    sizes = analysis.family_sizes(found, options)
    matrices = {id(one.source.matrix): one.source.matrix for one in found}
    rows = []
    for matrix in matrices.values():
        for group in _shown(found, matrix, full=full):
            for one in group if full else group[-1:]:
                rows += [_difference(row) for row in _best_first(one, sizes)]
    columns = [Column("dataset", "dataset")] if len(matrices) > 1 else []
    columns += [Column("judge", "judge"), Column("eval_prompt", "eval prompt"), Column("criterion", "criterion")]
    columns += [Column("system", "system"), Column("against", "minus"), Column("estimate", "difference")]
    columns += [Column("n", "story-prompts"), Column("t", "t"), Column("p", "p", digits=4, p="two-sided")]
    columns += [Column("p_adjusted", "p (Holm)", digits=4, p="two-sided")]
    columns += [Column("family", "tests")]
    if any(row["test"] == "sign" for row in rows):
        columns.append(Column("test", "test"))
    return Table("Differences between systems on the same story-prompts", columns, rows, "")


def _best_first(one: Standing, sizes: dict[int, int]) -> list[dict[str, Any]]:
    place = {one.source.matrix.systems[s]: k for k, s in enumerate(_order(one))}
    return sorted(
        analysis.difference_rows(one, sizes),
        key=lambda row: sorted((place[row["system"]], place[row["against"]])),
    )


def _difference(row: dict[str, Any]) -> dict[str, Any]:
    estimate = Estimate(row["difference"], row["n"], row["low"], row["high"], reason=row["reason"])
    return row | {"estimate": estimate, "p": _p(row["p"]), "p_adjusted": _p(row["p_adjusted"])}


def _p(value: float | None) -> str | None:
    return None if value is None else "<.0001" if value < 0.0001 else f"{value:.4f}"


def _notes(
    matrices: Sequence[RatingMatrix],
    found: Sequence[Standing],
    options: SystemsOptions,
    *,
    rank: bool,
    differences: bool,
) -> Iterator[str]:
    over = (
        "the pairs of one judge and criterion"
        if options.holm_over == "cell"
        else "all pairs of all judges and criteria"
    )
    tests = f"two-sided paired t tests on the story-prompts that both systems have, p adjusted by Holm over {over}"
    if differences:
        yield f"{tests}; low to high is a 95 % interval for one pair alone"
    else:
        yield _HOW[options.mean_interval]
        if options.mean_interval == "as-published" and any(one.source.of_means for one in found):
            yield "imported ratings are means of repeats: their interval as published is over these means"
        yield f"group: systems that share a letter were not told apart at 5 %: {tests}"
    if rank and not differences:
        yield f"[ranks]: 95 % spread over {options.resamples} resamples of story-prompts, the same ones for all systems"
        yield "ranks left: those the tests leave possible; all of them hold together with 95 %"
    if any(one.criterion == AVERAGE for one in found):
        yield "average: of stories with a rating on every criterion, each criterion the same weight"
    for matrix in matrices:
        if not matrix.criteria:
            yield f"nobody rated the stories of {matrix.dataset}: judges only"
        lost = sum(sum(one.unrated) for one in found if one.source.matrix is matrix and one.criterion != AVERAGE)
        if lost and not differences:
            yield (
                f"{matrix.dataset}: {lost} ratings of stories are missing; means are over each system's own rated "
                "stories, groups over story-prompts that both systems have"
            )
