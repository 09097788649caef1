"""Compares an old and a new judge on the same stories: equivalence tests, crosswalks, and changed verdicts.

A non-significant difference is not taken for equivalence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judge.analysis.inputs.candidates import match
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.options.agreement_options import SuccessionOptions
from judge.analysis.options.signature import signature_parts
from judge.analysis.succession.result import Changed, Crosswalk, Heir, Needed, Story, Succession, decided
from judge.base.arrays import Codes, Floats, Masks, renumbered
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.wording import Advice
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.correlation import coefficients, kendall
from judge.stats.estimation import means
from judge.stats.estimation.means import Equivalence, tost_of
from judge.stats.estimation.sample_size import Spread, for_equivalence, spread
from judge.stats.regression.calibration import fit_calibration
from judge.stats.resampling import resampled_correlations as resampled_tau
from judge.stats.resampling.bootstrap import Factor, Resamples, deal

# Aligns the ratings of two judges: same story, same text, same criterion, same Eval-Prompt.


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Ratings by the old and the new judge of their n common stories, on one criterion with one Eval-Prompt. `repeats`,
    shape (n, k), are the old judge's single ratings; `people` are human means, None for the `reason`."""

    dataset: str
    criterion: str
    eval_prompt: str
    stories: tuple[str, ...]
    systems: tuple[str, ...]
    story_prompt: Codes
    old: Floats
    new: Floats
    people: Floats | None
    repeats: Floats
    reason: str | None


def judge_of(table: RatingsTable, side: str) -> str:
    """Name of the only judge. Raises SpecError if there is none or several; the message calls the table `side`."""
    names = [str(name) for name in table.frame.loc[table.frame["source"] == "judge", "judge"].dropna().unique()]
    if len(names) != 1:
        has = f"has {len(names)} judges: {', '.join(names)}" if names else "has no judge's rating"
        field = f"{side.lower()}_judge"
        raise SpecError(f"{side} {has}", hint=Advice(f"name one: {{{field}}}") if names else None)
    return names[0]


def pairs(old: RatingsTable, new: RatingsTable, options: SuccessionOptions) -> tuple[list[Pair], list[str]]:
    """Ratings of both judges for each common criterion and Eval-Prompt, and sentences on what was left out. Raises
    SpecError without a common dataset, or a criterion with the same Eval-Prompt."""
    before = {matrix.dataset: matrix for matrix in build(numbers(old), drop_systems=options.drop_systems)}
    after = {matrix.dataset: matrix for matrix in build(numbers(new), drop_systems=options.drop_systems)}
    shared = [name for name in before if name in after]
    if not shared:
        raise SpecError(
            f"the two judges rated no dataset in common: {', '.join(before) or 'none'}; {', '.join(after) or 'none'}",
            hint="run the new judge on the old one's stories",
        )
    all_pairs: list[Pair] = []
    notes: list[str] = []
    for name in shared:
        dataset_pairs, dataset_notes = _of_dataset(before[name], after[name], options)
        all_pairs += dataset_pairs
        notes += dataset_notes
    if not all_pairs:
        raise SpecError(
            "the two judges share no criterion with the same Eval-Prompt: "
            f"{_asked(before.values())}, and {_asked(after.values())}",
            hint="ask the new judge with the old one's Eval-Prompts",
        )
    return all_pairs, notes


def _of_dataset(before: RatingMatrix, after: RatingMatrix, options: SuccessionOptions) -> tuple[list[Pair], list[str]]:
    at, other, notes = _aligned(before, after)
    later = {(cell.criterion.casefold(), cell.eval_prompt): i for i, cell in enumerate(after.cells)}
    with_people = before if before.criteria else after
    rows = at if with_people is before else other
    partners = match(with_people, options.against)
    partner = {
        (cell.criterion.casefold(), cell.eval_prompt): j
        for cell, j in zip(with_people.cells, partners.partner, strict=True)
    }
    dataset_pairs = []
    for i, cell in enumerate(before.cells):
        key = (cell.criterion.casefold(), cell.eval_prompt)
        if key not in later:
            notes.append(f"{before.dataset}: {cell.criterion} with {cell.eval_prompt} was asked of the old judge only")
            continue
        j = partner.get(key)
        dataset_pairs.append(
            Pair(
                dataset=before.dataset,
                criterion=cell.criterion,
                eval_prompt=cell.eval_prompt,
                stories=tuple(str(before.stories["story"].iloc[k]) for k in at),
                systems=tuple(before.systems[before.system[k]] if before.system[k] >= 0 else "" for k in at),
                story_prompt=before.story_prompt[at],
                old=before.judge[i][at],
                new=after.judge[later[key]][other],
                people=None if j is None else with_people.people[j][rows],
                repeats=before.wide(i)[at],
                reason=None if j is not None else str(partners.reason or "nobody rated this criterion"),
            )
        )
    return dataset_pairs, [*notes, *partners.notes]


def _aligned(before: RatingMatrix, after: RatingMatrix) -> tuple[Codes, Codes, list[str]]:
    """Indices of the common stories, and notes; stories whose texts differ are left out."""
    row_of = {str(story): k for k, story in enumerate(after.stories["story"])}
    at, other, differ = [], [], 0
    for k, (story, text) in enumerate(zip(before.stories["story"], before.stories["text"], strict=True)):
        there = row_of.get(str(story))
        if there is None:
            continue
        again = str(after.stories["text"].iloc[there] or "")
        if text and again and str(text) != again:
            differ += 1
            continue
        at.append(k)
        other.append(there)
    notes = []
    if differ:
        notes.append(f"{before.dataset}: {differ} stories have another text in the other run and are left out")
    alone = before.n + after.n - 2 * (len(at) + differ)
    if alone:
        notes.append(f"{before.dataset}: {alone} stories are in one of the two runs only and are left out")
    return np.array(at, dtype=np.int64), np.array(other, dtype=np.int64), notes


def _asked(matrices: Iterable[RatingMatrix]) -> str:
    cells = [cell for matrix in matrices for cell in matrix.cells]
    return ", ".join(dict.fromkeys(f"{cell.criterion} {cell.eval_prompt}" for cell in cells)) or "nothing"


_FEW = "fewer than 5 story-prompts, or nothing varies between them"
_KINDS = ("linear", "isotonic")
_MOST_POINTS = 9


def succession(old: RatingsTable, new: RatingsTable, options: SuccessionOptions | None = None) -> Succession:
    """Tests of whether the judge of `new` may replace that of `old`, for each criterion and Eval-Prompt. Raises
    SpecError if a table has several judges, or nothing is in common."""
    options = options or SuccessionOptions()
    names = judge_of(old, "OLD"), judge_of(new, "NEW")
    aligned, notes = pairs(old, new, options)
    compared = [_compared(pair, options) for pair in aligned]
    changed = sorted((story for _, some in compared for story in some), key=_most_changed)
    matrices = [matrix for table in (old, new) for matrix in build(table, drop_systems=options.drop_systems)]
    parts = signature_parts(old, matrices[:1], options, intervals="jackknife-90 %", extra=(f"new:{names[1]}",))
    return Succession(
        old=names[0],
        new=names[1],
        heirs=tuple(heir for heir, _ in compared),
        stories=tuple(changed),
        options=options,
        signature_parts=parts,
        notes=(*old.notes, *new.notes, *notes),
    )


def _most_changed(story: Story) -> tuple[float, str, str]:
    return -abs(story.crossed - story.old), story.story, story.criterion


def _compared(pair: Pair, options: SuccessionOptions) -> tuple[Heir, list[Story]]:
    both = ~(np.isnan(pair.old) | np.isnan(pair.new))
    unit = renumbered(pair.story_prompt[both])
    old, new = pair.old[both], pair.new[both]
    prompts = int(unit.max(initial=-1)) + 1
    each = old.size / max(1, prompts)
    taus, agreement, scatter = agreement_test(pair, both, unit, options)
    level, level_scatter = _level(new - old, unit, options)
    crossed = {kind: _out_of_fold(new, old, unit, kind, options) for kind in _KINDS}
    names = ("the new judge's ratings", "the old judge's ratings")
    heir = Heir(
        dataset=pair.dataset,
        criterion=pair.criterion,
        eval_prompt=pair.eval_prompt,
        stories=int(old.size),
        story_prompts=prompts,
        tau_old=taus[0],
        tau_new=taus[1],
        agreement=agreement,
        level=level,
        alike=coefficients.correlate(new, old, names=names, unit="stories"),
        raw=_rmse(new, old),
        needed=_needed(agreement, scatter, each, options),
        needed_level=_needed(level, level_scatter, each, options),
        crosswalks=tuple(_crosswalk(kind, new, old, crossed[kind]) for kind in _KINDS),
        changed=_changed(pair, both, crossed["isotonic"], options),
    )
    return heir, list(_stories(pair, both, crossed["isotonic"], options))


def agreement_test(
    pair: Pair, both: Masks, unit: Codes, options: SuccessionOptions
) -> tuple[tuple[Estimate, Estimate], Equivalence, Spread | None]:
    """Taus of the old and the new judge with people, the equivalence test of their difference (new minus old), and its
    spread over story-prompts (None without a test). `both` marks the stories that the two rated; `unit` has the
    story-prompt's code of each."""
    bounds = (-options.margin, options.margin)
    if pair.people is None:
        nothing = Estimate.undefined(pair.reason or "nobody rated this criterion")
        return (nothing, nothing), Equivalence(nothing, bounds), None
    people, old, new = pair.people[both], pair.old[both], pair.new[both]
    rated = ~np.isnan(people)
    people, old, new = people[rated], old[rated], new[rated]
    unit = renumbered(unit[rated])
    sides = [
        coefficients.correlate(
            side, people, names=(f"the {who} judge's ratings", "the people's ratings"), unit="stories"
        )
        for who, side in (("old", old), ("new", new))
    ]
    if sides[0].value is None or sides[1].value is None:
        lost = next(side for side in sides if side.value is None)
        return (sides[0], sides[1]), Equivalence(Estimate.undefined(lost.reason or "undefined"), bounds), None
    difference = Estimate(sides[1].value - sides[0].value, n=int(people.size))
    size = int(unit.max()) + 1
    counts = (1 - np.eye(size)).astype(np.int32)
    codes = np.stack([kendall.codes(old), kendall.codes(new)])
    without = resampled_tau.tau_b(Resamples((Factor(counts, unit),), "jackknife"), codes, kendall.codes(people))
    scatter = spread(without[1] - without[0])
    if scatter is None:
        same = bool(np.array_equal(codes[0], codes[1]))
        why = "both judges rank the stories alike: there is no difference to test" if same else _FEW
        return (sides[0], sides[1]), Equivalence(replace(difference, reason=f"no test: {why}"), bounds), None
    difference = replace(difference, method="jackknife by story-prompt")
    test = tost_of(difference, scatter.error, scatter.effective, *bounds, skew=scatter.skew)
    return (sides[0], sides[1]), test, scatter


def _level(differences: Floats, unit: Codes, options: SuccessionOptions) -> tuple[Equivalence, Spread | None]:
    """Equivalence test of new minus old mean ratings, and their spread over story-prompts."""
    bounds = (-options.points, options.points)
    if not differences.size:
        return Equivalence(Estimate.undefined("no story was rated by both judges"), bounds), None
    estimate = Estimate(float(differences.mean()), n=int(differences.size))
    error, clusters = means.clustered_error(differences, unit)
    if error is None or clusters < 5:
        return Equivalence(replace(estimate, reason=f"no test: {_FEW}"), bounds), None
    test = tost_of(replace(estimate, method="clustered by story-prompt"), error, clusters - 1, *bounds)
    return test, Spread(error * float(np.sqrt(clusters)), float("inf"), clusters) if error > 0 else None


def _needed(test: Equivalence, scatter: Spread | None, each: float, options: SuccessionOptions) -> Needed:
    value = test.difference.value
    if scatter is None or value is None or decided(test) != "undecided":
        return Needed(None, None)
    margin = test.bounds[1]

    def more(difference: float) -> int | None:
        total = for_equivalence(scatter, difference, margin, power=options.power).value
        return None if total is None else max(0, round((total - scatter.clusters) * each))

    return Needed(more(value), more(0.0))


def _out_of_fold(new: Floats, old: Floats, unit: Codes, kind: str, options: SuccessionOptions) -> Floats:
    """New ratings on the old judge's scale, by curves fitted without the story-prompt of the story."""
    predicted = np.full(new.shape, np.nan)
    folds = deal(unit, options.folds, np.random.default_rng(options.seed))
    for fold in np.unique(folds):
        out = folds == fold
        predicted[out] = fit_calibration(new[~out], old[~out], kind).predict(new[out])  # type: ignore[arg-type]
    return predicted


def _crosswalk(kind: str, new: Floats, old: Floats, predicted: Floats) -> Crosswalk:
    curve = fit_calibration(new, old, kind)  # type: ignore[arg-type]
    if curve.reason:
        return Crosswalk(kind, (), Estimate.undefined(curve.reason, n=int(new.size)))  # type: ignore[arg-type]
    whole = np.arange(np.ceil(new.min()), np.floor(new.max()) + 1)
    at = whole if 2 <= whole.size <= _MOST_POINTS else np.linspace(new.min(), new.max(), 5)
    points = tuple((float(x), float(y)) for x, y in zip(at, curve.predict(at), strict=True))
    return Crosswalk(kind, points, _rmse(predicted, old))  # type: ignore[arg-type]


def _rmse(first: Floats, second: Floats) -> Estimate:
    both = ~(np.isnan(first) | np.isnan(second))
    if not both.any():
        return Estimate.undefined("no story was rated by both judges")
    return Estimate(float(np.sqrt(np.mean((first[both] - second[both]) ** 2))), n=int(both.sum()))


def _verdicts(ratings: Floats, options: SuccessionOptions) -> Floats:
    """Nearest whole number, or whether the rating is at least the cut (1 or 0); NaN without a rating."""
    if options.cut is None:
        return np.floor(ratings + 0.5)
    return np.where(np.isnan(ratings), np.nan, (ratings >= options.cut - 1e-9).astype(np.float64))


def _changed(pair: Pair, both: Masks, crossed: Floats, options: SuccessionOptions) -> Changed:
    old = _verdicts(pair.old[both], options)
    own = Estimate.undefined("the old judge has one answer to each query")
    if pair.repeats.shape[1] > 1:
        answers = _verdicts(pair.repeats[both], options)
        own = _share(answers[:, 0], answers[:, 1])
    raw = _share(old, _verdicts(pair.new[both], options))
    return Changed(raw, _share(old, _verdicts(crossed, options)), own)


def _share(first: Floats, second: Floats) -> Estimate:
    both = ~(np.isnan(first) | np.isnan(second))
    if not both.any():
        return Estimate.undefined("no story has both verdicts")
    return Estimate(float((first[both] != second[both]).mean()), n=int(both.sum()))


def _stories(pair: Pair, both: Masks, crossed: Floats, options: SuccessionOptions) -> Iterator[Story]:
    rows: Sequence[int] = np.flatnonzero(both).tolist()
    old, new = _verdicts(pair.old[both], options), _verdicts(crossed, options)
    for position, row in enumerate(rows):
        if np.isnan(crossed[position]) or old[position] == new[position]:
            continue
        yield Story(
            dataset=pair.dataset,
            story=pair.stories[row],
            system=pair.systems[row],
            criterion=pair.criterion,
            eval_prompt=pair.eval_prompt,
            old=float(pair.old[row]),
            new=float(pair.new[row]),
            crossed=float(crossed[position]),
        )
