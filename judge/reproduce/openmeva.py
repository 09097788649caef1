"""OpenMEVA (Guan et al. 2021, ACL) as far as its released human ratings (MANS) allow. Each story's five ratings are in
ascending order, so that who gave which is lost. Agreement can therefore be measured only by statistics that treat
raters as exchangeable."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np

from judge.base.arrays import Floats
from judge.base.estimate import Estimate
from judge.inputs.datasets.locate import need
from judge.inputs.datasets.sources import FILES
from judge.inputs.datasets.studies.openmeva import SYSTEMS, read_stories
from judge.reproduce.cell import Place, published
from judge.reproduce.study import Family, Options, Study
from judge.stats.agreement import icc, krippendorff
from judge.stats.estimation import means
from judge.stats.resampling import bootstrap

SETS = ("mans_roc", "mans_wp")
COUNTS, SPREAD, MEANS, SDS = "mans_counts", "mans_spread", "mans_system_means", "mans_system_sds"
ALPHA, ICC, REFUSED = "mans_alpha", "mans_icc", "mans_refused"
# The study prints one alpha a set, to two decimals; the interval alpha is the one that has them.
PRINTED_ALPHA = "alpha_as_printed"

ALPHA_LEVELS: tuple[krippendorff.Level, ...] = ("interval", "nominal", "ratio")
PRINTED_LEVEL: krippendorff.Level = "interval"
ONE_WAY = ("ICC(1,1)", "ICC(1,k)")
ALL = "all"
RESAMPLED = "95 % over resampled story-prompts"
NEEDS_RATERS = ("ICC(2,1)", "ICC(2,k)", "ICC(3,1)", "ICC(3,k)", "Kendall's W", "leave-one-rater-out ceiling")
_NO_SCORES = "MANS's files hold no scores of UNION, a metric that the study trained; "
_NO_AUTOS = (
    "this program reads no file of AUTOS, the study's perturbed stories, and no scores of UNION, the metric that it "
)
_LABELS = "trained; with labelled stories of your own: judge correlate RUN --layout separation --labels RULE"
UNION = {
    "union_correlation": _NO_SCORES + "with scores of your own: judge import FILE, "
    "judge correlate RUN --coefficient pearson",
    "union_discrimination": _NO_AUTOS + _LABELS,
    "union_invariance": _NO_AUTOS + _LABELS,
}


class Mans:
    """One set of stories from MANS; `ratings` has shape (systems, story-prompts, 5), as stored."""

    def __init__(self, path: Path) -> None:
        listed: dict[str, list[list[float]]] = {system: [] for system in SYSTEMS}
        for story in read_stories(path):
            listed[story.system].append([rating.value for rating in story.ratings])
        self.ratings: Floats = np.array([listed[system] for system in SYSTEMS])

    @property
    def stories(self) -> Floats:
        """The ratings, shape (stories, 5)."""
        return self.ratings.reshape(-1, self.ratings.shape[-1])

    @property
    def sorted_lists(self) -> int:
        """Number of stories whose ratings are in ascending order."""
        return int((np.diff(self.stories, axis=1) >= 0).all(axis=1).sum())


def study(options: Options) -> Study:
    """The study OpenMEVA on the files of this machine. Raises DataError if one is missing."""
    paths = {name: need(FILES[name][0], name) for name in SETS}
    sets = {name: Mans(path) for name, path in paths.items()}
    return Study("openmeva", paths, [_mans(sets, options), _refused(sets), _union()])


def _mans(sets: Mapping[str, Mans], options: Options) -> Family:
    return Family.of(
        partial(values, sets, options),
        {PRINTED_ALPHA: 2, COUNTS: 0, SPREAD: 1, MEANS: 2, SDS: 2, ALPHA: 3, ICC: 3},
        remarks=lambda place: ("over stories' means; corrected: n - 1",) if place[0] == SDS else (),
    )


def values(sets: Mapping[str, Mans], options: Options) -> dict[Place, tuple[float | None, Estimate]]:
    """Cells of the tables about MANS: counts, means and standard deviations over stories, Krippendorff's alpha, and
    one-way ICCs. Corrected means have t intervals, alpha bootstrap intervals (over story-prompts), ICCs F intervals."""
    cells: dict[Place, tuple[float | None, Estimate]] = {}
    for name, mans in sets.items():
        prompt, stories_count = np.arange(mans.ratings.shape[1]), mans.stories.shape[0]
        within = np.ptp(mans.stories, axis=1) <= 1
        plain = {(COUNTS, name, key): float(count) for key, count in _counts(mans).items()}
        plain[SPREAD, name, "% of stories within one point"] = 100 * float(within.mean())
        cells |= {place: (value, Estimate(value, n=stories_count)) for place, value in plain.items()}
        for system, stories in _by_system(mans).items():
            ours = means.clustered(stories, np.tile(prompt, stories.size // prompt.size))
            cells[MEANS, name, system] = (float(stories.mean()), ours)
            cells[SDS, name, system] = (float(stories.std()), Estimate(float(stories.std(ddof=1)), n=stories.size))
        alphas = _alphas(mans, options)
        cells |= {(ALPHA, name, level): (alpha.value, alpha) for level, alpha in alphas.items()}
        cells[PRINTED_ALPHA, name, PRINTED_LEVEL] = cells[ALPHA, name, PRINTED_LEVEL]
        family = icc.family(mans.stories)
        cells |= {(ICC, name, form): (family[form].estimate.value, family[form].estimate) for form in ONE_WAY}
    return cells


def _alphas(mans: Mans, options: Options) -> dict[krippendorff.Level, Estimate]:
    once = np.ones((1, mans.stories.shape[0]), dtype=np.int64)
    drawn = None
    if options.resamples:
        unit = np.tile(np.arange(mans.ratings.shape[1]), len(SYSTEMS))
        drawn = bootstrap.draw(unit, options.resamples, np.random.default_rng(options.seed), "boot-inputs")
    alphas: dict[krippendorff.Level, Estimate] = {}
    for level in ALPHA_LEVELS:
        resampled = krippendorff.resampled(mans.stories, level)
        alpha = Estimate(float(resampled(once)[0]), n=mans.stories.shape[0])
        alphas[level] = alpha if drawn is None else bootstrap.percentile(alpha, drawn.values(resampled), RESAMPLED)
    return alphas


def _by_system(mans: Mans) -> dict[str, Floats]:
    """Each story's mean rating by system, and of all systems under `ALL`."""
    stories = mans.ratings.mean(axis=-1)
    return dict(zip(SYSTEMS, stories, strict=True)) | {ALL: stories.reshape(-1)}


def _counts(mans: Mans) -> dict[str, int]:
    stories = mans.stories
    counts = {"stories": stories.shape[0], "story-prompts": mans.ratings.shape[1], "ratings": stories.size}
    counts |= {f"rated {point}": int((stories == point).sum()) for point in range(1, 6)}
    return counts | {"lists in ascending order": mans.sorted_lists}


def _refused(sets: Mapping[str, Mans]) -> Family:
    """Statistics that need to know who gave which rating are refused with this reason."""
    reasons = {
        name: f"refused: who gave which rating is lost ({mans.sorted_lists} of {mans.stories.shape[0]} lists are "
        "stored in ascending order), and columns of sorted lists would look like raters of very unlike leniency"
        for name, mans in sets.items()
    }
    return Family.of(
        lambda: {(REFUSED, name, form): (None, None) for name in sets for form in NEEDS_RATERS},
        {REFUSED: 3},
        missing=lambda place: reasons[place[1]],
    )


def _union() -> Family:
    """Correlations of UNION, a metric that the study trained, are not in the files."""
    return Family.of(
        lambda: {cell: (None, None) for cell in published("openmeva") if cell[0] in UNION},
        dict.fromkeys(UNION, 4),
        missing=lambda cell: UNION[cell[0]],
    )
