"""Tables that compare systems: wide tables of one judge or one criterion at a time.

How people rate the systems, and whether judges find the same differences, is always shown. The tables of each judge are
printed only if there are few judges, or on request, because a run can hold ten systems x six criteria x twenty judges
and Eval-Prompts. The long table holds everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from judge.analysis.frames import long_table
from judge.analysis.inputs.rating_sources import Source, sources
from judge.analysis.systems import AVERAGE, Standing, Systems
from judge.base.errors import OptionError
from judge.base.printing.tables import Column, Table, cells_of, plain, titled
from judge.base.printing.text_layout import column_keys
from judge.base.wording import Advice, Note
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats import near_ties
from judge.stats.estimation.paired_differences import Difference

# Up to so many judges x Eval-Prompts each has its own tables without being asked for.
FEW = 4

# Judges x Eval-Prompts side by side in a table by criterion.
ACROSS = 6

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
    result: Systems,
    *,
    by: str = "auto",
    rank: bool = False,
    differences: bool = False,
    full: bool = False,
    long: bool = False,
) -> list[Table]:
    """Tables of systems: wide, or with `long` one table with one row for each number. `by` is ``judge`` (criteria as
    columns), ``criterion`` (judges as columns) or ``auto`` (``criterion`` if there is only one, else ``judge``). `rank`
    prints ranks instead of means, `differences` all pairs of systems; `full` leaves nothing out."""
    if by not in ("auto", "judge", "criterion"):
        raise OptionError("by", by, allowed=("auto", "judge", "criterion"))
    if differences and long:
        printed = [long_table("Differences between systems", result.differences, result.difference_signature)]
    elif differences:
        printed = [_difference_table(result, full=full)]
    elif long:
        printed = [long_table("Systems", result.frame, result.signature)]
    else:
        printed = [part for m in result.matrices for part in _wide_tables(m, result, by=by, rank=rank, full=full)]
        printed += [part for matrix in result.matrices for part in _separation_tables(matrix, result)]
    notes = [*result.notes, *_notes(result, rank=rank or long, differences=differences)]
    if not (full or long):
        notes += [note for matrix in result.matrices if (note := _left_out(matrix, differences=differences))]
    return [*printed[:-1], replace(printed[-1], notes=(*printed[-1].notes, *dict.fromkeys(notes)))] if printed else []


def _shown(result: Systems, matrix: RatingMatrix, *, full: bool) -> list[list[Standing]]:
    """Results of the sources that get a table, people first; without many judges unless `full`."""
    groups: dict[int, list[Standing]] = {}
    for standing in result.standings:
        if standing.source.matrix is matrix:
            groups.setdefault(id(standing.source), []).append(standing)
    own = list(groups.values())
    judges = [group for group in own if not group[0].source.is_people]
    return own if full or len(judges) <= FEW else [group for group in own if group[0].source.is_people]


def _left_out(matrix: RatingMatrix, *, differences: bool) -> str | None:
    judges = sum(not source.is_people for source in sources(matrix))
    if judges > FEW:
        sentence = f"{matrix.dataset}: {judges} judges x Eval-Prompts: their own tables are left out here"
        choose = Advice("choose with {judge} and {eval_prompt}, or print all with {full}", full=True)
        return Note(sentence, choose, joint="; ")
    several = any(len(source.criteria) > 1 for source in sources(matrix))
    if not (differences and several):
        return None
    return Note("differences on average over criteria", Advice("all criteria: {full}", full=True), joint="; ")


def _wide_tables(matrix: RatingMatrix, result: Systems, *, by: str, rank: bool, full: bool) -> Iterator[Table]:
    shown = _shown(result, matrix, full=full)
    if not shown:
        return
    order = _order(shown[0][-1])

    def made(group: Sequence[Standing], titles: Sequence[str]) -> Table:
        if rank:
            return _rank_table(group, order, titles, result)
        half_width = result.options.mean_interval != "boot"
        return _mean_table(group, order, titles, result, half_width=half_width)

    one_criterion = len({standing.criterion.casefold() for group in shown for standing in group}) == 1
    if by == "judge" or (by == "auto" and not one_criterion):
        for group in shown:
            yield made(group, [standing.criterion for standing in group])
        return
    names = dict.fromkeys(standing.criterion for group in shown for standing in group)
    for criterion in names:
        row = [
            standing for group in shown for standing in group if standing.criterion.casefold() == criterion.casefold()
        ]
        people = [standing for standing in row if standing.source.is_people]
        judges = [standing for standing in row if not standing.source.is_people]
        for start in range(0, max(1, len(judges)), ACROSS):
            part = [*people, *judges[start : start + ACROSS]]
            yield made(part, [_called(standing.source, result) for standing in part])


def _order(standing: Standing) -> list[int]:
    return near_ties.descending([mean.value for mean in standing.mean])


def _called(source: Source, result: Systems) -> str:
    """Name of a source in titles: "labels" if no reader gave them."""
    return "labels" if source.is_people and source.matrix.dataset in result.labelled else source.name


def _title(group: Sequence[Standing], subject: str, result: Systems) -> str:
    source = group[0].source
    same = all(standing.source is source for standing in group)
    about = _called(source, result) if same else f"{group[0].criterion}, by judge"
    return f"{subject}, {source.matrix.dataset}: {about}"


def _main(group: Sequence[Standing]) -> Standing:
    """The column whose letters are printed: the average over criteria of one source, else the first source's."""
    return group[-1] if group[-1].source is group[0].source else group[0]


def _whose(group: Sequence[Standing], result: Systems) -> str:
    main = _main(group)
    return main.criterion if group[-1].source is group[0].source else _called(main.source, result)


def _mean_table(
    group: Sequence[Standing], order: Sequence[int], titles: Sequence[str], result: Systems, *, half_width: bool
) -> Table:
    matrix, letters = group[0].source.matrix, _main(group).groups
    keys = column_keys(titles, ("system", "stories", "group"))
    rows = [
        {"system": matrix.systems[s], "stories": _stories(group, s), "group": letters[s] or None}
        | {key: standing.mean[s] for key, standing in zip(keys, group, strict=True)}
        for s in order
    ]
    columns = plain("system", "stories")
    shares = [result.share_of(standing) for standing in group]
    same = len(set(shares)) == 1
    for key, title, share in zip(keys, titles, shares, strict=True):
        if share is None:
            columns.append(Column(key, title, half_width=half_width))
        else:
            named = f"{title} %" if same else f"{title}, {share} %"
            columns.append(Column(key, named, digits=1, factor=100, half_width=half_width))
    columns.append(Column("group", f"group ({_whose(group, result)})" if len(group) > 1 else "group"))
    subject = f"Share of {shares[0]}" if same and shares[0] else "Mean rating"
    return Table(_title(group, subject, result), columns, rows, result.signature)


def _rank_table(group: Sequence[Standing], order: Sequence[int], titles: Sequence[str], result: Systems) -> Table:
    matrix, main = group[0].source.matrix, _main(group)
    keys = column_keys(titles, ("system", "stories", "set", "best"))
    rows = []
    for s in order:
        row: dict[str, Any] = {"system": matrix.systems[s], "stories": _stories(group, s)}
        row |= {key: _rank(standing, s) for key, standing in zip(keys, group, strict=True)}
        low, high = main.sets[s]
        row |= {"set": f"{low}-{high}" if main.rank[s].defined else None, "best": float(main.best[s])}
        rows.append(row)
    columns = plain("system", "stories")
    columns += [Column(key, title) for key, title in zip(keys, titles, strict=True)]
    columns += [Column("set", "ranks left"), Column("best", "best in %", digits=0, factor=100)]
    notes = (f"ranks left, best in %: {_whose(group, result)}",) if len(group) > 1 else ()
    return Table(_title(group, "Rank [interval] group", result), columns, rows, result.signature, notes)


def _rank(standing: Standing, s: int) -> str:
    rank = standing.rank[s]
    if rank.value is None:
        return "no rating"
    ends = "" if rank.low is None or rank.high is None else f" [{rank.low:.0f}, {rank.high:.0f}]"
    return f"{rank.value:.0f}{ends} {standing.groups[s]}"


def _stories(group: Sequence[Standing], s: int) -> int | str:
    counts = [standing.stories[s] for standing in group]
    return counts[0] if min(counts) == max(counts) else f"{min(counts)}-{max(counts)}"


def _separation_tables(matrix: RatingMatrix, result: Systems) -> Iterator[Table]:
    rows = [row for row in result.separation.rows if row.dataset == matrix.dataset]
    if not rows:
        return
    people_word = "labels" if matrix.dataset in result.labelled else "people"
    columns = [
        *plain("judge", "eval_prompt", "criteria", "stories"),
        Column("level", f"judge minus {people_word}", half_width=True),
        Column("people", f"{people_word} tell apart"),
        *titled(
            same="of these: judge alike",
            silent="judge does not",
            reversed="judge in reverse",
            alone="judge alone",
            pairs="pairs",
        ),
    ]
    note = (
        "pairs of systems told apart (two-sided paired t tests, Holm, 5 %) on average over criteria, on stories rated "
        "on both sides; rows: most alike first, else as the runs have them"
    )
    title = f"Do judges tell the same systems apart as {people_word}? {matrix.dataset}"
    rows = sorted(rows, key=lambda row: (-row.same, row.reversed))
    keys = [column.key for column in columns]
    yield Table(title, columns, [cells_of(row, *keys) for row in rows], result.separation.signature, (note,))


def _difference_table(result: Systems, *, full: bool) -> Table:
    rows = [
        _difference(standing, pair)
        for matrix in result.matrices
        for group in _shown(result, matrix, full=full)
        for standing in (group if full else group[-1:])
        for pair in _best_first(standing)
    ]
    columns = [Column("dataset", "dataset")] if len(result.matrices) > 1 else []
    columns += plain("judge", "eval_prompt", "criterion")
    columns += [Column("system", "system"), Column("against", "minus"), Column("difference", "difference")]
    columns += [Column("n", "story-prompts"), Column("t", "t"), Column("p", "p", digits=4, p="two-sided")]
    columns += [Column("p_adjusted", "p (Holm)", digits=4, p="two-sided")]
    columns += [Column("family", "tests")]
    if any(row["test"] == "sign" for row in rows):
        columns.append(Column("test", "test"))
    title = "Differences between systems on the same story-prompts"
    return Table(title, columns, rows, result.difference_signature)


def _best_first(standing: Standing) -> list[Difference]:
    position = {s: k for k, s in enumerate(_order(standing))}
    return sorted(standing.differences, key=lambda pair: sorted((position[pair.first], position[pair.second])))


def _difference(standing: Standing, pair: Difference) -> dict[str, Any]:
    names = standing.source.matrix.systems
    return {
        "dataset": standing.source.matrix.dataset,
        **standing.source.labels(),
        "criterion": standing.criterion,
        "system": names[pair.first],
        "against": names[pair.second],
        "difference": pair.estimate,
        "n": pair.estimate.n,
        **cells_of(pair, "t", "p", "p_adjusted"),
        "family": standing.family,
        "test": pair.test,
    }


def _notes(result: Systems, *, rank: bool, differences: bool) -> Iterator[str]:
    options, standings = result.options, result.standings
    over = (
        "the pairs of one judge and criterion"
        if options.holm_over == "cell"
        else "all pairs of all judges and criteria"
    )
    tests = f"two-sided paired t tests on the story-prompts that both systems have, p adjusted by Holm over {over}"
    if differences:
        yield f"{tests}; low to high is a 95 % interval for one pair alone"
    else:
        yield "rows: systems from the highest mean down, that of the group column in the dataset's first table"
        yield _HOW[options.mean_interval]
        if options.mean_interval == "as-published" and any(standing.source.of_means for standing in standings):
            yield "imported ratings are means of repeats: their interval as published is over these means"
        yield f"group: systems that share a letter were not told apart at 5 %; {tests}"
    if rank and not differences:
        yield f"[ranks]: 95 % spread over {options.resamples} resamples of story-prompts, the same ones for all systems"
        yield "ranks left: those the tests leave possible; all of them hold together with 95 %"
    if any(standing.criterion == AVERAGE for standing in standings):
        yield "average: of stories with a rating on every criterion, each criterion the same weight"
    for matrix in result.matrices:
        if not matrix.criteria:
            yield f"nobody rated the stories of {matrix.dataset}: judges only"
        lost = sum(
            sum(standing.unrated)
            for standing in standings
            if standing.source.matrix is matrix and standing.criterion != AVERAGE
        )
        if lost and not differences:
            yield (
                f"{matrix.dataset}: {lost} ratings of stories are missing; means are over each system's own rated "
                "stories, groups over story-prompts that both systems have"
            )
