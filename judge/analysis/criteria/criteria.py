"""Analysis of criteria: correlations between criteria, halo, agreement with people, and use of the scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import pandas as pd

from judge.analysis.criteria.profiles import Asking, Profile, TauMatrix, askings, profiles, scales
from judge.analysis.criteria.profiles import frame as askings_frame
from judge.analysis.frames import signed
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.options.signature import NO_INTERVAL, joined, signature_parts
from judge.analysis.options.table_options import CriteriaOptions
from judge.base.errors import SpecError, unknown
from judge.base.estimate import Estimate
from judge.base.records import Scale
from judge.ratings.rating_matrix import RatingMatrix, build

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable

View = Literal["halo", "pairs", "multitrait", "scale-use", "together"]

_CONSTANT = "undefined: a constant side, or fewer than 3 stories or systems"
_LABELS = ("dataset", "run", "judge", "eval_prompt")
_Rows = Iterator[tuple[object, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Criteria:
    """Profiles (correlations between criteria, and scale use) of people and of each judge x Eval-Prompt. `askings` is
    empty unless some judge was asked for several criteria in one answer. `signature_parts` belong to tables with
    intervals, `bare_parts` to tables without.
    """

    profiles: tuple[Profile, ...]
    options: CriteriaOptions
    matrices: tuple[RatingMatrix, ...] = field(repr=False)
    signature_parts: tuple[str, ...]
    bare_parts: tuple[str, ...]
    notes: tuple[str, ...]
    askings: tuple[Asking, ...] = ()

    @property
    def signature(self) -> str:
        return joined(self.signature_parts)

    @property
    def bare_signature(self) -> str:
        """Signature line of tables without intervals."""
        return joined(self.bare_parts)

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
        Eval-Prompt, if some answers rate several criteria.
        """
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
    criteria whose scale is in no result folder; `notes` are added to those of the result.
    """
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
        bare_parts=signature_parts(table, matrices, options, extra=extra, intervals=NO_INTERVAL),
        notes=tuple(dict.fromkeys([*(note for fact in table.facts for note in fact.notes), *notes])),
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
        (
            *("criterion", "ratings", "entropy", "modal_share", "modal_point", "distinct", "ties", "outside"),
            "reason",
        ),
        _use_rows,
    ),
}
