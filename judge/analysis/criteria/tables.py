"""Printed tables about criteria: a summary, then a few matrices (tau below, tau of system means above the diagonal)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge.analysis.criteria.criteria import Criteria, View
from judge.analysis.criteria.profiles import Profile, words
from judge.analysis.frames import long_table
from judge.analysis.systems.tables import FEW
from judge.base.printing.tables import Column, Table
from judge.base.printing.values import column_keys
from judge.base.wording import Advice, Note
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.bias.scale_use import ScaleUse

# Below this number of systems a tau over system means is noted as weak.
FEW_SYSTEMS = 10

# Above this number of criteria a matrix, which nobody reads on a screen, is printed only in full tables.
MANY = 50

_LONG: Mapping[View, str] = {
    "halo": "Halo and validity",
    "pairs": "Tau-b between criteria",
    "multitrait": "Tau-b of the judge's criteria with people's",
    "scale-use": "Scale use",
    "together": "Several criteria in one answer",
}

_SUMMARY = "Criteria: mean tau-b x100 between them"


def tables(result: Criteria, *, full: bool = False, long: bool = False) -> list[Table]:
    """A summary, the cost of asking for several criteria at once, scale use, and matrices of tau. `full` prints every
    judge's matrices and the scale use of every criterion; `long` prints the long frames instead.
    """
    profiles, several_datasets = result.profiles, len(result.matrices) > 1
    several = any(len(profile.source.criteria) > 1 for profile in profiles)
    if long:
        frames = {view: result.view(view) for view in _LONG}
        printed = [
            long_table(_LONG[view], frame, frame.attrs["signature"]) for view, frame in frames.items() if len(frame)
        ]
    else:
        printed = [replace(_summary(profiles, several_datasets), signature=result.signature)] if several else []
        printed += [replace(_together(result, several_datasets), signature=result.signature)] if result.askings else []
        bare = [_scale_use(profiles, several_datasets=several_datasets, full=full)]
        bare += [part for matrix in result.matrices for part in _matrices(matrix, profiles, full=full)]
        printed += [replace(part_table, signature=result.bare_signature) for part_table in bare]
    notes = [*result.notes, *_notes(result, several=several)]
    notes += _left_out(result) if several and not full and not long else []
    return [*printed[:-1], replace(printed[-1], notes=(*printed[-1].notes, *dict.fromkeys(notes)))]


def _labels(several_datasets: bool) -> list[Column]:
    columns = [Column("dataset", "dataset")] if several_datasets else []
    return [*columns, Column("judge", "judge"), Column("eval_prompt", "eval prompt")]


def _summary(profiles: Sequence[Profile], several_datasets: bool) -> Table:
    rows = []
    for profile in profiles:
        summary = profile.multitrait
        own = f"{summary.own_best} of {summary.rows}" if summary and summary.rows else None
        rows.append(
            {
                "dataset": profile.source.matrix.dataset,
                **profile.source.labels(),
                "criteria": len(profile.source.criteria),
            }
            | {"stories": profile.stories, "halo": profile.halo, "excess": profile.excess, "own": own}
            | {"validity": summary.validity if summary else None}
            | {"heterotrait": summary.heterotrait if summary else None}
        )
    columns = [
        *_labels(several_datasets),
        Column("criteria", "criteria"),
        Column("stories", "stories"),
        Column("halo", "between criteria", digits=1, factor=100),
    ]
    if all(profile.source.is_people for profile in profiles):
        return Table(_SUMMARY, columns, rows, "")
    columns += [
        Column("excess", "halo, points"),
        Column("validity", "same criterion", digits=1, factor=100),
        Column("heterotrait", "other criteria", digits=1, factor=100),
        Column("own", "own is best"),
    ]
    return Table(f"{_SUMMARY}, and with people's", columns, rows, "")


def _together(result: Criteria, several_datasets: bool) -> Table:
    rows: list[dict[str, Any]] = [
        {"dataset": asking.profile.source.matrix.dataset, **asking.profile.source.labels(), "asked": words(asking)}
        | {
            "criteria": len(asking.profile.source.criteria),
            "calls": asking.calls,
            "cost": asking.dollars,
            "lost": asking.lost,
        }
        | {
            "prompt_tokens": asking.prompt_tokens,
            "completion_tokens": asking.completion_tokens,
            "halo": asking.profile.halo,
        }
        | {"validity": asking.profile.multitrait.validity if asking.profile.multitrait else None}
        for asking in result.askings
    ]
    columns = [
        *_labels(several_datasets),
        Column("asked", "asked for criteria"),
        Column("criteria", "criteria"),
        Column("calls", "calls"),
        Column("prompt_tokens", "tokens in"),
        Column("completion_tokens", "tokens out"),
        Column("cost", "cost", money=True),
        Column("lost", "ratings lost %", digits=1, factor=100),
        Column("halo", "between criteria", digits=1, factor=100),
        Column("validity", "with people's", digits=1, factor=100),
    ]
    return Table("Several criteria in one answer beside one by one: mean tau-b x100", columns, rows, "")


def _scale_use(profiles: Sequence[Profile], *, several_datasets: bool, full: bool) -> Table:
    rows = []
    for profile in profiles:
        parts: list[tuple[str | None, ScaleUse]] = [("all", profile.use)]
        if full and len(profile.source.criteria) > 1:
            parts = [*zip(profile.source.criteria, profile.use_of, strict=True), ("all", profile.use)]
        rows += [
            {"dataset": profile.source.matrix.dataset, **profile.source.labels(), "criterion": name, **_use(use)}
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


def _matrices(matrix: RatingMatrix, profiles: Sequence[Profile], *, full: bool) -> Iterator[Table]:
    own = [profile for profile in profiles if profile.source.matrix is matrix and len(profile.source.criteria) > 1]
    judges = [profile for profile in own if not profile.source.is_people]
    for profile in own:
        if not (full or (len(profile.source.criteria) <= MANY and (profile.source.is_people or len(judges) <= FEW))):
            continue
        name = f"{matrix.dataset}: {profile.source.name}"
        lower = np.tril(np.ones(profile.overall.tau.shape, dtype=np.bool_), k=-1)
        both = np.where(lower, profile.overall.tau, profile.system.tau)
        np.fill_diagonal(both, np.nan)
        title = f"Tau-b x100 between criteria, {name} (below: over stories; above: over system means)"
        yield _square(title, both, profile.source.criteria, profile.source.criteria, "criterion")
        if profile.across is not None and len(profile.across.rows) > 1:
            title = f"Tau-b x100 with people's criteria, {name} (rows: the judge's)"
            yield _square(title, profile.across.tau, profile.across.rows, profile.across.rows, "judge's criterion")


def _square(title: str, values: NDArray[np.float64], rows: Sequence[str], columns: Sequence[str], corner: str) -> Table:
    keys = column_keys(columns, ("criterion",))
    cells = [
        {"criterion": name} | dict(zip(keys, map(float, line), strict=True))
        for name, line in zip(rows, values, strict=True)
    ]
    heads = [Column(key, title, digits=0, factor=100) for key, title in zip(keys, columns, strict=True)]
    return Table(title, [Column("criterion", corner), *heads], cells, "")


def _notes(result: Criteria, *, several: bool) -> Iterator[str]:
    profiles, options = result.profiles, result.options
    judged = any(not profile.source.is_people for profile in profiles)
    if several:
        yield (
            "between criteria: mean tau of ratings of different criteria; it rises as error falls, so that a "
            "judge that is "
            "more consistent than people has a higher value even without halo"
        )
        if judged:
            yield (
                "halo: points that the judge adds to a criterion for one point more of people's other criteria, at "
                "equal ratings by people of the criterion itself; corrected for people's error, while the "
                "judge's error cancels (one repeat is enough); jackknife by story-prompt"
            )
            yield (
                "same criterion, other criteria: the judge's tau with people's same and other criteria; own is "
                "best: number of "
                "the judge's criteria that agree with people's same criterion more than with any other"
            )
        if options.ci != "none":
            drawn = f"{options.resamples} resamples of story-prompts"
            yield f"intervals of tau: expanded percentile, {drawn}, the same for all rows"
        for matrix in {id(profile.source.matrix): profile.source.matrix for profile in profiles}.values():
            prompts = f"{np.unique(matrix.story_prompt).size} story-prompts"
            few = ": these few systems are weak evidence at system level" if len(matrix.systems) < FEW_SYSTEMS else ""
            yield f"{matrix.dataset}: {matrix.n} stories for {prompts} by {len(matrix.systems)} systems{few}"
    else:
        yield "one criterion: nothing to compare between criteria"
    yield (
        "entropy: of single ratings rounded to the scale's points (5 points used equally often: 2.32 bits); tied "
        "pairs: of "
        "stories, by their mean rating"
    )
    if result.askings:
        yield "calls, tokens and cost are those of the whole run, whatever stories or criteria are chosen here"
        if len({profile.together for profile in result.askings}) > 1:
            yield (
                "asked together, a judge sees its earlier ratings as it writes the next: where "
                "its criteria then correlate more with each other, but not with people's, halo is likely"
            )
    if any(profile.source.of_means for profile in profiles):
        yield "imported ratings are means of repeats: their entropy is that of rounded means"
    if any(profile.off_points for profile in profiles if profile.source.is_people):
        yield "people's ratings here are not points of the scale (means of several people?): entropy of rounded ratings"


def _left_out(result: Criteria) -> Iterator[str]:
    for matrix in result.matrices:
        own = [profile for profile in result.profiles if profile.source.matrix is matrix]
        judges = sum(not profile.source.is_people for profile in own)
        most = max((len(profile.source.criteria) for profile in own), default=0)
        if most > MANY:
            sentence = f"{matrix.dataset}: matrices of more than {MANY} criteria are left out here"
            yield Note(sentence, Advice("choose with {criterion}, or print all with {full}", full=True), joint="; ")
        if judges > FEW:
            sentence = f"{matrix.dataset}: the matrices of {judges} judges x Eval-Prompts are left out here"
            choose = Advice("choose with {judge} and {eval_prompt}, or print all with {full}", full=True)
            yield Note(sentence, choose, joint="; ")
