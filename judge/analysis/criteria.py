"""Analysis of criteria: correlations between criteria, halo, agreement with people, and use of the scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from judge.analysis.criteria_profiles import Asking, Profile, TauMatrix, askings, profiles, scales, words
from judge.analysis.criteria_profiles import frame as askings_frame
from judge.analysis.frames import long_table, signed
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.inputs.resamples import FEW_SYSTEMS
from judge.analysis.options.signature import NO_INTERVAL, Signed, signature, signature_parts
from judge.analysis.options.table_options import CriteriaOptions
from judge.analysis.systems_tables import FEW
from judge.base.arrays import Floats
from judge.base.errors import SpecError, unknown
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cells_of, hundredths, plain, titled
from judge.base.printing.text_layout import column_keys
from judge.base.records import Scale
from judge.base.wording import Advice, Note
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.bias.scale_use import ScaleUse

View = Literal["halo", "pairs", "multitrait", "scale-use", "together"]

_CONSTANT = "undefined: a constant side, or fewer than 3 stories or systems"
_LABELS = ("dataset", "run", "judge", "eval_prompt")
_Rows = Iterator[tuple[object, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Criteria(Signed):
    """Profiles (correlations between criteria, and scale use) of people and of each judge x Eval-Prompt. `askings` is
    empty unless some judge was asked for several criteria in one answer. `signature_parts` belong to tables with
    intervals, `bare_signature` to tables without."""

    profiles: tuple[Profile, ...]
    options: CriteriaOptions
    matrices: tuple[RatingMatrix, ...] = field(repr=False)
    bare_signature: str
    askings: tuple[Asking, ...] = ()

    @property
    def frame(self) -> pd.DataFrame:
        """The view on halo: ratings of different criteria correlate more than the criteria themselves do."""
        return self.view("halo")

    def view(self, view: View) -> pd.DataFrame:
        """The long frame of one view; all views have `dataset, run, judge, eval_prompt` and `reason`.

        ``halo``: one row per source of ratings (people, or a judge x Eval-Prompt): `halo` is the mean tau-b between
        criteria; `excess` the change of the judge's rating of a criterion per point of the human ratings of other
        criteria, at equal human ratings of the criterion itself; `validity` and `heterotrait` the mean tau-b of judge
        and people on the same criterion, and on different criteria; `own_best` the number, out of `own_rows`, of
        criteria on which the judge correlates most with people's ratings of the same criterion.

        ``pairs``: one row per level (overall, system) and pair of criteria. ``multitrait``: one row per `criterion` of
        the judge and human criterion `against`. ``scale-use``: one row per criterion, and one for all, with the number
        of `ratings`, `entropy`, the share of the most frequent point, the number of `distinct` ratings, `ties` (share
        of pairs of stories rated equally) and `outside` (ratings outside the scale). ``together``: one row per judge x
        Eval-Prompt, if some answers rate several criteria."""
        if view == "together":
            return askings_frame(self.askings, self.signature, self.notes)
        if view not in _VIEWS:
            raise SpecError(unknown("view", view, [*_VIEWS, "together"]))
        chosen = _VIEWS[view]
        rows = [
            (profile.source.matrix.dataset, *profile.source.labels().values(), *row)
            for profile in self.profiles
            for row in chosen.rows(profile)
        ]
        line = self.signature if chosen.has_intervals else self.bare_signature
        return signed(pd.DataFrame(rows, columns=[*_LABELS, *chosen.columns]), line, self.notes)


def criteria(
    table: RatingsTable,
    options: CriteriaOptions | None = None,
    *,
    scale: Scale | None = None,
    notes: Sequence[str] = (),
) -> Criteria:
    """Tau between criteria, halo, agreement with people, and scale use, for people and each judge. `scale` applies to
    criteria whose scale is in no result folder; `notes` are added to those of the result."""
    options = options or CriteriaOptions()
    table = numbers(table)
    matrices = build(table, drop_systems=options.drop_systems)
    source_profiles = profiles(matrices, options, scales(table, scale))
    extra = _people_only(matrices)
    tested = ["ci:jackknife"] if any(profile.excess and profile.excess.method for profile in source_profiles) else []
    return Criteria(
        profiles=tuple(source_profiles),
        options=options,
        matrices=matrices,
        signature_parts=signature_parts(table, matrices, options, extra=[*extra, *tested]),
        bare_signature=signature(table, matrices, options, extra=extra, intervals=NO_INTERVAL),
        notes=(*table.notes, *notes),
        askings=askings(table, source_profiles),
    )


def _people_only(matrices: Sequence[RatingMatrix]) -> list[str]:
    if any(matrix.cells for matrix in matrices):
        return []
    names = dict.fromkeys(name for matrix in matrices for name in matrix.criteria)
    return [f"crit:{','.join(names)}"] if names else []


def _halo_rows(profile: Profile) -> _Rows:
    excess = profile.excess or Estimate(None, 0)
    summary = profile.multitrait
    reasons = dict.fromkeys(e.reason for e in (profile.halo, excess) if e.reason)
    yield (
        *(len(profile.source.criteria), profile.stories, profile.halo.value, profile.halo.low, profile.halo.high),
        *(excess.value, excess.low, excess.high),
        *((summary.validity.value, summary.heterotrait.value) if summary else (None, None)),
        *((summary.own_best, summary.rows) if summary else (None, None)),
        "; ".join(reasons) or None,
    )


def _pair_rows(profile: Profile) -> _Rows:
    for level, matrix in (("overall", profile.overall), ("system", profile.system)):
        for i, name in enumerate(matrix.rows):
            for j in range(i):
                yield (level, name, matrix.columns[j], *_tau(matrix, i, j))


def _multitrait_rows(profile: Profile) -> _Rows:
    if profile.across is None:
        return
    for i, name in enumerate(profile.across.rows):
        for j, other in enumerate(profile.across.columns):
            yield (name, other, *_tau(profile.across, i, j))


def _tau(matrix: TauMatrix, i: int, j: int) -> tuple[float | None, int, str | None]:
    value, n = float(matrix.tau[i, j]), int(matrix.n[i, j])
    return (None, n, _CONSTANT) if np.isnan(value) else (value, n, None)


def _use_rows(profile: Profile) -> _Rows:
    parts = list(zip((*profile.source.criteria, "all"), (*profile.use_of, profile.use), strict=True))
    for name, use in parts if len(profile.source.criteria) > 1 else parts[:1]:
        yield (
            *(name, use.entropy.n, use.entropy.value, use.modal_share.value, use.modal_point, use.distinct),
            *(use.ties.value, use.outside, use.entropy.reason or use.ties.reason),
        )


class _View(NamedTuple):
    columns: tuple[str, ...]
    rows: Callable[[Profile], _Rows]
    has_intervals: bool = False


_VIEWS: Mapping[str, _View] = {
    "halo": _View(
        (
            *("criteria", "stories", "halo", "halo_low", "halo_high", "excess", "excess_low", "excess_high"),
            *("validity", "heterotrait", "own_best", "own_rows", "reason"),
        ),
        _halo_rows,
        has_intervals=True,
    ),
    "pairs": _View(("level", "criterion", "with", "tau", "n", "reason"), _pair_rows),
    "multitrait": _View(("criterion", "against", "tau", "n", "reason"), _multitrait_rows),
    "scale-use": _View(
        (*("criterion", "ratings", "entropy", "modal_share", "modal_point", "distinct", "ties", "outside"), "reason"),
        _use_rows,
    ),
}


# Printed tables about criteria: a summary, then a few matrices (tau below, tau of system means above the diagonal).

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
    judge's matrices and the scale use of every criterion; `long` prints the long frames instead."""
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
    return [*columns, *plain("judge", "eval_prompt")]


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
            | {**cells_of(profile, "stories", "halo", "excess"), "own": own}
            | {"validity": summary.validity if summary else None}
            | {"heterotrait": summary.heterotrait if summary else None}
        )
    columns = [
        *_labels(several_datasets),
        *plain("criteria", "stories"),
        Column("halo", "between criteria", digits=1, factor=100),
    ]
    if all(profile.source.is_people for profile in profiles):
        return Table(_SUMMARY, columns, rows, "")
    columns += [
        Column("excess", "halo, points"),
        *hundredths(validity="same criterion", heterotrait="other criteria"),
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
        | {**cells_of(asking, "prompt_tokens", "completion_tokens"), "halo": asking.profile.halo}
        | {"validity": asking.profile.multitrait.validity if asking.profile.multitrait else None}
        for asking in result.askings
    ]
    columns = [
        *_labels(several_datasets),
        Column("asked", "asked for criteria"),
        *plain("criteria", "calls"),
        *titled(prompt_tokens="tokens in", completion_tokens="tokens out"),
        Column("cost", "cost", money=True),
        *hundredths(lost="ratings lost %", halo="between criteria", validity="with people's"),
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
        *titled(ratings="ratings", entropy="entropy, bits", modal="commonest point"),
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
        **cells_of(use, "distinct", "ties", "outside"),
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


def _square(title: str, values: Floats, rows: Sequence[str], columns: Sequence[str], corner: str) -> Table:
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
            "between criteria: mean tau of ratings of different criteria; it rises as error falls, so that a judge "
            "that is more consistent than people has a higher value even without halo"
        )
        if judged:
            yield (
                "halo: points that the judge adds to a criterion for one point more of people's other criteria, at "
                "equal ratings by people of the criterion itself; corrected for people's error, while the "
                "judge's error cancels (one repeat is enough); jackknife by story-prompt"
            )
            yield (
                "same criterion, other criteria: the judge's tau with people's same and other criteria; own is best: "
                "number of the judge's criteria that agree with people's same criterion more than with any other"
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
        "pairs: of stories, by their mean rating"
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
