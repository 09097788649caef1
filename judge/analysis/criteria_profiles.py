"""Profiles of people and of each judge x Eval-Prompt: how their criteria correlate, and how they use the scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from judge.analysis.frames import signed
from judge.analysis.inputs.rating_sources import Source, common_criteria, sources
from judge.analysis.inputs.resamples import story_prompts_drawn
from judge.analysis.options.table_options import CriteriaOptions
from judge.answers.journal import JournalReader
from judge.asking.run_folder import ResultFolder, cost_of, read_manifest
from judge.base.arrays import Codes, Floats, Masks
from judge.base.estimate import Estimate
from judge.base.records import Scale
from judge.ratings.rating_matrix import RatingMatrix
from judge.ratings.ratings_table import RatingsTable, RunFacts
from judge.stats.bias import halo
from judge.stats.bias.given_quality import CROWDED, GivenQuality, share_at_end
from judge.stats.bias.halo import Multitrait
from judge.stats.bias.rating_bias import without_leniency
from judge.stats.bias.scale_use import ScaleUse, scale_use
from judge.stats.resampling import bootstrap, jackknife
from judge.stats.resampling.bootstrap import Resamples
from judge.stats.resampling.jackknife import Test, Weights

# Halo test: whether a judge's rating of one criterion follows human ratings of the other criteria.


ONE_CRITERION = "undefined with fewer than 2 criteria that people rated too"
NO_PERSONS = (
    "undefined: who gave which rating is not known, so that one rater's ratings of two criteria cannot be compared"
)
NO_DIFFERENCE = (
    "undefined: the differences between people's ratings of two criteria, or of two stories, hardly exceed their error"
)
UNRATED = "undefined: no story that the judge rated has two of people's ratings of every criterion"


def halo_test(matrix: RatingMatrix, pairs: Sequence[tuple[int, int]]) -> Test:
    """Halo in points: change of a judge's rating of one criterion per point of the mean human rating of other criteria,
    at equal human ratings of the criterion itself; the mean over criteria.

    `pairs` holds a judge's rows in the matrix, each with the index of its human criterion. Only stories with ratings of
    all these criteria by the judge and by two people are used. Criteria whose human ratings vary too little beyond
    error are left out of the mean; it is undefined if none remains."""
    criteria = list(dict.fromkeys(j for _, j in pairs))
    if len(criteria) < 2:
        return _undefined(ONE_CRITERION)
    persons = _persons(matrix, criteria)
    if persons is None:
        return _undefined(NO_PERSONS)
    whole = np.asarray(~np.isnan(matrix.judge[[i for i, _ in pairs]]).any(axis=0), dtype=bool)
    at = {j: own for own, j in enumerate(criteria)}
    sums = np.where(np.isnan(persons), 0.0, persons).sum(axis=0), np.isnan(persons).sum(axis=0)
    parts = [_criterion_part(matrix, i, j, persons[at[j]], _others(persons[at[j]], *sums, len(at)), whole)
             for i, j in pairs]  # fmt: skip
    if not parts[0].used.any():
        return _undefined(UNRATED)
    kept = [part for part in parts if part.reason() is None]
    if not kept:
        crowded = all(part.reason() == CROWDED for part in parts)
        return _undefined(CROWDED if crowded else NO_DIFFERENCE, int(parts[0].used.sum()))

    def mean(weights: Weights, *, curved: bool = True) -> Floats:
        return np.asarray(np.mean([part.slope(weights, curved=curved) for part in kept], axis=0), dtype=np.float64)

    used = kept[0].used
    every = used[None, :].astype(np.float64)
    bias = float(mean(every)[0] - mean(every, curved=False)[0])
    return jackknife.against_zero(mean, matrix.story_prompt, used, tail="greater", bias=bias)


def _criterion_part(
    matrix: RatingMatrix, cell: int, criterion: int, own: Floats, others: Floats, whole: Masks
) -> GivenQuality:
    # `own` and `others` have shape (n stories, people); `others` are means over the other criteria.
    people = np.where(np.isnan(others), np.nan, own)
    judge = np.where(whole, matrix.judge[cell], np.nan)
    at_end = share_at_end(matrix.by_rater(criterion).ratings)
    return GivenQuality.of(judge, people, matrix.system, other=others, at_end=at_end)


def _others(own: Floats, total: Floats, missing: Codes, criteria: int) -> Floats:
    """Means over all other criteria, from the sums over all; NaN where another one has no rating."""
    gone = np.isnan(own)
    return np.where(missing > gone, np.nan, (total - np.where(gone, 0.0, own)) / (criteria - 1))


def _persons(matrix: RatingMatrix, criteria: Sequence[int]) -> Floats | None:
    """Human ratings less leniency, shape (criteria, n stories, people), one person a column; None if unknown."""
    raters = [matrix.by_rater(j) for j in criteria]
    if any(criterion.ascending for criterion in raters):
        return None
    if not all(criterion.known for criterion in raters):
        # The first rating of each criterion is taken to be by one person, and so on; leniency is not subtracted.
        positions = [matrix.by_position(j) for j in criteria]
        columns = max(ratings.shape[1] for ratings in positions)
        return np.stack([_padded(ratings, columns) for ratings in positions])
    names = list(dict.fromkeys(name for criterion in raters for name in criterion.names))
    out = np.full((len(criteria), matrix.n, len(names)), np.nan)
    for k, criterion in enumerate(raters):
        out[k][:, [names.index(name) for name in criterion.names]] = without_leniency(criterion.ratings)
    return out


def _padded(ratings: Floats, columns: int) -> Floats:
    out = np.full((ratings.shape[0], columns), np.nan)
    out[:, : ratings.shape[1]] = ratings
    return out


def _undefined(reason: str, n: int = 0) -> Test:
    return Test(Estimate.undefined(reason, n), None, None, "greater", 0)


NOBODY = "undefined: nobody rated these criteria"


@dataclass(frozen=True, slots=True, eq=False)
class TauMatrix:
    """Tau-b between criteria in rows and columns; NaN = undefined. `n` counts stories or systems."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    tau: Floats
    n: Codes

    @classmethod
    def of(cls, rows: Sequence[str], x: Floats, columns: Sequence[str] = (), y: Floats | None = None) -> TauMatrix:
        """Tau-b between rows of x, or of x and y: shape (criteria, stories or systems), NaN = no rating."""
        rated, other = ~np.isnan(x), ~np.isnan(x if y is None else y)
        n = rated.astype(np.int64) @ other.T.astype(np.int64)
        tau = halo.tau_matrix(x) if y is None else halo.tau_matrix(x, y)
        return cls(tuple(rows), tuple(columns or rows), tau, n)


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """The profile of people or of one judge: correlations between criteria, and use of the scale.

    `overall` and `system` are tau between criteria over stories and over system means; `halo` is their mean over
    stories, and its n counts pairs of criteria. `stories` have a rating on two criteria or more. `excess` is the halo
    compared with people (`halo_test`), in points, and `across` the tau between the judge's criteria that people rated
    too (rows) and the human criteria, summarised by `multitrait`; None for people, and where there is no common
    criterion. `use` is over all criteria together. `off_points`: a criterion has more distinct ratings than points."""

    source: Source
    overall: TauMatrix
    system: TauMatrix
    stories: int
    halo: Estimate
    excess: Estimate | None
    across: TauMatrix | None
    multitrait: Multitrait | None
    use: ScaleUse
    use_of: tuple[ScaleUse, ...]
    off_points: bool


def profiles(
    matrices: Sequence[RatingMatrix], options: CriteriaOptions, scales_by_name: Mapping[str, Scale]
) -> list[Profile]:
    """Profiles of people and of each judge x Eval-Prompt; all intervals of a dataset use one set of resamples."""
    source_profiles = []
    for matrix in matrices:
        drawn = None if options.ci == "none" else story_prompts_drawn(matrix, options.resamples, options.seed)
        group = sources(matrix)
        people = next((source for source in group if source.is_people), None)
        source_profiles += [_profile(source, people, drawn, scales_by_name, options) for source in group]
    return source_profiles


def scales(table: RatingsTable, default: Scale | None = None) -> dict[str, Scale]:
    """Scales in the result folders by criterion (lower case); `default` for criteria without one."""
    scales_by_name = {criterion.name.casefold(): criterion.scale for fact in table.facts for criterion in fact.criteria}
    if default is not None:
        for name in table.frame["criterion"].dropna().unique():
            scales_by_name.setdefault(str(name).casefold(), default)
    return scales_by_name


def _profile(
    source: Source,
    people: Source | None,
    drawn: Resamples | None,
    scales_by_name: Mapping[str, Scale],
    options: CriteriaOptions,
) -> Profile:
    matrix, values = source.matrix, source.by_story
    overall = TauMatrix.of(source.criteria, values)
    units = np.unique(matrix.story_prompt).size
    own = _with_interval(halo.mean_tau(overall.tau), values, drawn, units)
    names = [] if people is None or source.is_people else common_criteria(source, people)
    excess, across, summary = None, None, None
    if not source.is_people:
        excess = Estimate.undefined(NOBODY)
        if people is not None and names:
            mine, theirs = source.part(names), people.part(names)
            excess = _excess(mine, theirs, options) if len(source.criteria) > 1 else own
            across = TauMatrix.of(names, mine.by_story, theirs.criteria, theirs.by_story)
            summary = halo.multitrait(across.tau)
    singles = [source.ratings(k) for k in range(len(source.criteria))]
    use_of = tuple(
        _use([single], values[[k]], [name], scales_by_name)
        for k, (single, name) in enumerate(zip(singles, source.criteria, strict=True))
    )
    return Profile(
        source=source,
        overall=overall,
        system=TauMatrix.of(source.criteria, halo.means_by_group(values, matrix.system)),
        stories=int(((~np.isnan(values)).sum(axis=0) >= min(2, len(source.criteria))).sum()),
        halo=own,
        excess=excess,
        across=across,
        multitrait=summary,
        use=_use(singles, values, source.criteria, scales_by_name),
        use_of=use_of,
        off_points=_off_points(source, use_of, scales_by_name),
    )


def _excess(judge: Source, people: Source, options: CriteriaOptions) -> Estimate:
    estimate = halo_test(judge.matrix, list(zip(judge.rows, people.rows, strict=True))).estimate
    return replace(estimate, low=None, high=None, method=None) if options.ci == "none" else estimate


def _with_interval(estimate: Estimate, values: Floats, drawn: Resamples | None, units: int) -> Estimate:
    if drawn is None or not estimate.defined:
        return estimate
    method = "boot-inputs, expanded percentile, 95 %" + (f"; {estimate.method}" if estimate.method else "")
    return bootstrap.expanded(estimate, halo.resampled_mean_tau(values, drawn), units, method)


def _use(
    singles: Sequence[Floats], values: Floats, names: Sequence[str], scales_by_name: Mapping[str, Scale]
) -> ScaleUse:
    own = {scales_by_name.get(name.casefold()) for name in names}
    # The ends are used only if all these criteria share one scale.
    scale = own.pop() if len(own) == 1 else None
    ratings = np.concatenate([single.reshape(-1) for single in singles])
    if scale is None:
        return scale_use(ratings, values)
    return scale_use(ratings, values, step=float(scale.step), scale=(float(scale.min), float(scale.max)))


def _off_points(source: Source, use_of: Sequence[ScaleUse], scales_by_name: Mapping[str, Scale]) -> bool:
    scales_of = (scales_by_name.get(name.casefold()) for name in source.criteria)
    return any(scale and use.distinct > len(scale.points()) for scale, use in zip(scales_of, use_of, strict=True))


# Cost and quality of asking for several criteria in one answer, compared with one criterion per answer.

COLUMNS = (
    *("dataset", "run", "judge", "eval_prompt", "asked", "criteria", "calls", "prompt_tokens", "completion_tokens"),
    *("cost", "lost", "halo", "halo_low", "halo_high", "validity", "reason"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Asking:
    """How one judge x Eval-Prompt was asked, with its results and cost. `together`: one answer rates all criteria.
    `calls` returned the answers; their tokens are None where the server did not report them, `dollars` where no price
    is known. `lost` is the share of the requested ratings that no answer gave."""

    profile: Profile
    together: bool
    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    dollars: float | None
    lost: float | None


def askings(table: RatingsTable, profiles: Sequence[Profile]) -> tuple[Asking, ...]:
    """One `Asking` per judge x Eval-Prompt if some were asked for several criteria in one answer; otherwise empty."""
    if not any(fact.joint for fact in table.facts):
        return ()
    facts = {(fact.run, fact.judge): fact for fact in table.facts}
    taken = {run_judge: _taken(fact) for run_judge, fact in facts.items()}
    requests = []
    for profile in profiles:
        source = profile.source
        run_judge, prompt = (str(source.run), source.judge), str(source.eval_prompt)
        usage = taken.get(run_judge, {}).get(prompt)
        if usage is not None:
            requests.append(Asking(profile, prompt in facts[run_judge].joint, *usage, _lost(profile)))
    return tuple(requests)


def _taken(fact: RunFacts) -> Mapping[str, tuple[int, int | None, int | None, float | None]]:
    """Calls, input tokens, output tokens and dollars by Eval-Prompt, from a result folder; empty for imports."""
    folder = ResultFolder(fact.path)
    if not folder.journal.is_file():
        return {}
    manifest = read_manifest(folder.manifest)
    with JournalReader(folder.journal) as journal, journal.snapshot():
        return {
            name: (
                *(counts.calls, counts.prompt_tokens, counts.completion_tokens),
                cost_of(journal.spending(name), manifest).dollars,
            )
            for name, counts in journal.taken().items()
        }


def _lost(profile: Profile) -> float | None:
    source = profile.source
    asked = sum(int(source.matrix.asked[row].sum()) for row in source.rows)
    return 1 - int(source.counts.sum()) / asked if asked else None


def frame(requests: Sequence[Asking], signature: str, notes: Sequence[str]) -> pd.DataFrame:
    """Cost and quality of asking for criteria together or one by one, one row per judge x Eval-Prompt."""
    rows = []
    for asking in requests:
        source, halo, summary = asking.profile.source, asking.profile.halo, asking.profile.multitrait
        rows.append(
            (
                *(source.matrix.dataset, *source.labels().values(), words(asking), len(source.criteria), asking.calls),
                *(
                    asking.prompt_tokens,
                    asking.completion_tokens,
                    asking.dollars,
                    asking.lost,
                    halo.value,
                    halo.low,
                    halo.high,
                ),
                *(summary.validity.value if summary else None, halo.reason),
            )
        )
    return signed(pd.DataFrame(rows, columns=list(COLUMNS)), signature, notes)


def words(asking: Asking) -> str:
    """``together`` (in one answer) or ``one by one``."""
    return "together" if asking.together else "one by one"
