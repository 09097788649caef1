"""The tables about criteria as people read them: a summary first, few matrices. Never computes a figure.

A matrix of tau is printed with overall tau below the diagonal and tau over system means above it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judge.analysis.criteria import criteria as analysis
from judge.analysis.criteria.criteria import Profile
from judge.analysis.options.signature import NO_INTERVAL, signature
from judge.analysis.options.table_options import CriteriaOptions
from judge.analysis.systems.tables import FEW
from judge.printing.tables import Column, Table
from judge.rating_matrix import RatingMatrix, build
from judge.records import Scale
from judge.stats.bias.scale_use import ScaleUse
from judge.wording import Advice, Note

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

FEW_SYSTEMS = 10
"""Below this number of systems a tau over system means is noted as weak."""

_LONG = {
    "halo": "Halo and validity",
    "pairs": "Tau-b between criteria",
    "multitrait": "Tau-b of the judge's criteria with people's",
    "scale-use": "Scale use",
}

_WITH_INTERVALS = ("halo",)
"""Long tables that have intervals; so has the summary."""

_SUMMARY = "Criteria: mean tau-b x100 between them"


def tables(
    table: RatingsTable,
    options: CriteriaOptions | None = None,
    *,
    form: str = "table",
    full: bool = False,
    scale: Scale | None = None,
    notes: Sequence[str] = (),
) -> list[Table]:
    """Tables about criteria: for people a summary and matrices, for `form` json and csv the long tables.

    `full` prints every judge's matrices and the scale use of every criterion; `scale` is that of people's ratings where
    no result folder tells; `notes` go under the last table.
    """
    options = options or CriteriaOptions()
    matrices = build(table, drop_systems=options.drop_systems)
    known = analysis.scales(table, scale)
    found = analysis.profiles(matrices, options, known)
    several = any(len(one.source.criteria) > 1 for one in found)
    if form in ("json", "csv"):
        views = {view: _long(found, view) for view in _LONG}
        made = [(one, view in _WITH_INTERVALS) for view, one in views.items() if one.rows]
    else:
        made = [(_summary(found, len(matrices) > 1), True)] if several else []
        made.append((_scale_use(found, several_datasets=len(matrices) > 1, full=full), False))
        made += [(part, False) for matrix in matrices for part in _matrices(matrix, found, full=full)]
    said = [note for fact in table.facts for note in fact.notes]
    said += [*notes, *_notes(found, options, known, several=several)]
    said += _left_out(matrices, found) if several and not full and form not in ("json", "csv") else []
    extra = _people_only(matrices)
    tested = ["ci:jackknife"] if any(one.excess and one.excess.method for one in found) else []
    line = signature(table, matrices, options, extra=[*extra, *tested])
    bare = signature(table, matrices, options, extra=extra, intervals=NO_INTERVAL)
    signed = [replace(one, signature=line if has_intervals else bare) for one, has_intervals in made]
    return [*signed[:-1], replace(signed[-1], notes=(*signed[-1].notes, *dict.fromkeys(said)))]


def _people_only(matrices: Sequence[RatingMatrix]) -> list[str]:
    """Without a judge the signature has no criteria to name: people's."""
    if any(matrix.cells for matrix in matrices):
        return []
    names = dict.fromkeys(name for matrix in matrices for name in matrix.criteria)
    return [f"crit:{','.join(names)}"] if names else []


def _long(found: Sequence[Profile], view: str) -> Table:
    frame = analysis.frame_of(found, view)
    plain = frame.astype(object).where(frame.notna(), None)
    rows = [{str(key): value for key, value in row.items()} for row in plain.to_dict("records")]
    return Table(_LONG[view], [Column(str(name), str(name)) for name in frame.columns], rows, "")


def _labels(several_datasets: bool) -> list[Column]:
    columns = [Column("dataset", "dataset")] if several_datasets else []
    return [*columns, Column("judge", "judge"), Column("eval_prompt", "eval prompt")]


def _summary(found: Sequence[Profile], several_datasets: bool) -> Table:
    rows = []
    for one in found:
        summary = one.multitrait
        own = f"{summary.own_best} of {summary.rows}" if summary and summary.rows else None
        rows.append(
            {"dataset": one.source.matrix.dataset, **one.source.labels(), "criteria": len(one.source.criteria)}
            | {"stories": one.stories, "halo": one.halo, "excess": one.excess, "own": own}
            | {"validity": summary.validity if summary else None}
            | {"heterotrait": summary.heterotrait if summary else None}
        )
    columns = [
        *_labels(several_datasets),
        Column("criteria", "criteria"),
        Column("stories", "stories"),
        Column("halo", "between criteria", digits=1, factor=100),
    ]
    if all(one.source.is_people for one in found):
        return Table(_SUMMARY, columns, rows, "")
    columns += [
        Column("excess", "halo, points"),
        Column("validity", "same criterion", digits=1, factor=100),
        Column("heterotrait", "other criteria", digits=1, factor=100),
        Column("own", "own is best"),
    ]
    return Table(f"{_SUMMARY}, and with people's", columns, rows, "")


def _scale_use(found: Sequence[Profile], *, several_datasets: bool, full: bool) -> Table:
    rows = []
    for one in found:
        parts: list[tuple[str | None, ScaleUse]] = [("all", one.use)]
        if full and len(one.source.criteria) > 1:
            parts = [*zip(one.source.criteria, one.use_of, strict=True), ("all", one.use)]
        rows += [
            {"dataset": one.source.matrix.dataset, **one.source.labels(), "criterion": name, **_use(use)}
            for name, use in parts
        ]
    columns = _labels(several_datasets)
    columns += [Column("criterion", "criterion")] if full else []
    columns += [
        Column("ratings", "ratings"),
        Column("entropy", "entropy, bits"),
        Column("modal", "commonest point"),
        Column("share", "its share %", digits=1, factor=100),
        Column("distinct", "distinct values"),
        Column("ties", "tied pairs %", digits=1, factor=100),
    ]
    columns += [Column("outside", "outside scale")] if any(row["outside"] is not None for row in rows) else []
    return Table("Use of the scale", columns, rows, "")


def _use(use: ScaleUse) -> dict[str, Any]:
    point = None if use.modal_point is None else f"{use.modal_point:g}"
    return {
        "ratings": use.entropy.n,
        "entropy": use.entropy,
        "modal": point,
        "share": use.modal_share,
        "distinct": use.distinct,
        "ties": use.ties,
        "outside": use.outside,
    }


def _matrices(matrix: RatingMatrix, found: Sequence[Profile], *, full: bool) -> Iterator[Table]:
    own = [one for one in found if one.source.matrix is matrix and len(one.source.criteria) > 1]
    judges = [one for one in own if not one.source.is_people]
    for one in own:
        if not (full or one.source.is_people or len(judges) <= FEW):
            continue
        name = f"{matrix.dataset}: {one.source.name}"
        lower = np.tril(np.ones(one.overall.shape, dtype=np.bool_), k=-1)
        both = np.where(lower, one.overall, one.system)
        np.fill_diagonal(both, np.nan)
        title = f"Tau-b x100 between criteria, {name} (below: over stories; above: over system means)"
        yield _square(title, both, one.source.criteria, one.source.criteria, "criterion")
        if len(one.common) > 1:
            title = f"Tau-b x100 with people's criteria, {name} (rows: the judge's)"
            yield _square(title, one.across, one.common, one.common, "judge's criterion")


def _square(title: str, values: NDArray[np.float64], rows: Sequence[str], columns: Sequence[str], corner: str) -> Table:
    made = [{"name": name} | {str(j): float(v) for j, v in enumerate(values[i])} for i, name in enumerate(rows)]
    heads = [Column(str(j), name, digits=0, factor=100) for j, name in enumerate(columns)]
    return Table(title, [Column("name", corner), *heads], made, "")


def _notes(
    found: Sequence[Profile], options: CriteriaOptions, known: Mapping[str, Scale], *, several: bool
) -> Iterator[str]:
    judged = any(not one.source.is_people for one in found)
    if several:
        yield (
            "between criteria: mean tau of ratings of different criteria; it rises as error falls, so that a judge "
            "that is steadier than people has more of it without halo"
        )
        if judged:
            yield (
                "halo: points that the judge adds to a criterion for one point more of people's other criteria, at "
                "equal ratings by people of the criterion itself; people's error is taken off, the judge's cancels "
                "(one repeat is enough); jackknife by story-prompt"
            )
            yield (
                "same criterion, other criteria: the judge's tau with people's same and other criteria; own is best: "
                "judge's criteria that agree with people's same criterion more than with any other"
            )
        if options.ci != "none":
            drawn = f"{options.resamples} resamples of story-prompts"
            yield f"intervals of tau: expanded percentile, {drawn}, the same for all rows"
        for matrix in {id(one.source.matrix): one.source.matrix for one in found}.values():
            prompts = f"{np.unique(matrix.story_prompt).size} story-prompts"
            few = ": these few systems prove little at system level" if len(matrix.systems) < FEW_SYSTEMS else ""
            yield f"{matrix.dataset}: {matrix.n} stories for {prompts} by {len(matrix.systems)} systems{few}"
    else:
        yield "one criterion: nothing to compare between criteria"
    yield (
        "entropy: of single ratings rounded to the scale's points (5 points used alike: 2.32 bits); tied pairs: of "
        "stories, by their mean rating"
    )
    if any(one.source.of_means for one in found):
        yield "imported ratings are means of repeats: their entropy is that of rounded means"
    if any(_off_points(one, known) for one in found if one.source.is_people):
        yield "people's ratings here are not points of the scale (means of several people?): entropy of rounded ratings"


def _off_points(one: Profile, known: Mapping[str, Scale]) -> bool:
    """Whether a criterion has more distinct ratings than its scale has points."""
    scales = (known.get(name.casefold()) for name in one.source.criteria)
    return any(scale and use.distinct > len(scale.points()) for scale, use in zip(scales, one.use_of, strict=True))


def _left_out(matrices: Sequence[RatingMatrix], found: Sequence[Profile]) -> Iterator[str]:
    for matrix in matrices:
        judges = sum(not one.source.is_people for one in found if one.source.matrix is matrix)
        if judges > FEW:
            said = f"{matrix.dataset}: the matrices of {judges} judges x Eval-Prompts are left out here"
            choose = Advice("choose with {judge} and {eval_prompt}, or ask for all with {full}", full=True)
            yield Note(said, choose, joint="; ")
