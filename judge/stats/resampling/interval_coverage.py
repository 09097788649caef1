"""Coverage of bootstrap intervals as measured in simulations, and warnings to users that follow from it.

`DEFAULTS` and `STORIES_FOR_FEW` hold the coverage of the default intervals of `judge correlate` by coefficient, level
and number of story-prompts, as printed by `python -m tests.benchmarks.simulations.intervals`. `MEASURED` holds the
coverage of each kind of interval of tau-b by resampling design, as printed by `python -m tests.benchmarks.coverage`.
All are percentages of simulated studies in which the 95 % interval contained the true value, with 1,000 resamples each
(a test repeats some simulations with fewer studies). The results for the kinds of intervals:

- over all stories, percentile and BCa intervals are near 95 % where one kind of unit is drawn and there are
  many units; expanded percentile intervals are near 95 % also with few units;
- where systems and story-prompts are both drawn, intervals are too wide, because each story's own variance
  enters three times; `intervals.calibrated` corrects this over all stories, but not at system level;
- at system level, percentile intervals are too wide, and BCa is the better choice where systems are drawn.
  Where the systems are fixed, neither kind covers the correlation of the systems' true means; for that, see
  `true_means`.
"""

from __future__ import annotations

from typing import Literal

from judge.base.wording import Advice, Note

Kind = Literal["expanded", "percentile", "bca", "calibrated percentile", "calibrated bca"]
Level = Literal["overall", "system"]

MEASURED: dict[tuple[str, int, Level], dict[Kind, float]] = {
    # draw, systems, level; 200 independent stories, else 40 story-prompts, 96 with boot-both and 10 systems
    ("boot-stories", 200, "overall"): {"percentile": 94.2, "bca": 94.3},
    ("boot-inputs", 10, "overall"): {"percentile": 93.9, "bca": 94.0},
    ("boot-inputs", 10, "system"): {"percentile": 98.8, "bca": 77.3},
    ("boot-systems", 40, "overall"): {"percentile": 93.3, "bca": 92.8, "expanded": 95.6},
    ("boot-systems", 40, "system"): {"percentile": 96.0, "bca": 96.1, "expanded": 96.9},
    ("boot-systems", 10, "overall"): {"percentile": 87.5, "bca": 85.6, "expanded": 91.9},
    ("boot-systems", 10, "system"): {"percentile": 95.6, "bca": 96.3, "expanded": 99.4},
    ("boot-both", 40, "overall"): {
        "percentile": 98.2,
        "bca": 98.0,
        "calibrated percentile": 94.0,
        "calibrated bca": 93.4,
    },
    ("boot-both", 40, "system"): {
        "percentile": 99.3,
        "bca": 93.8,
        "calibrated percentile": 98.6,
        "calibrated bca": 90.3,
    },
    ("boot-both", 10, "overall"): {
        "percentile": 96.4,
        "bca": 95.0,
        "calibrated percentile": 93.7,
        "calibrated bca": 92.3,
    },
    ("boot-both", 10, "system"): {
        "percentile": 99.8,
        "bca": 96.5,
        "calibrated percentile": 99.3,
        "calibrated bca": 95.6,
    },
}

SMALL_S = 10
# The measured coverage of boot-both with ten systems, for whoever reads an interval of so few.
SMALL_S_CAUTION = (
    "with 10 systems or fewer, intervals for new systems are rough: in simulated studies of 10 systems x 96 "
    "story-prompts 95 % intervals held the true tau-b in 96 % (percentile) or 95 % (BCa) over all stories, and in "
    "99.8 % or 96.5 % at system level, where they were .85 wide"
)

FIXED_SYSTEMS_CAUTION = (
    "BCa is far too narrow at system level where the systems are taken as they are (in simulated studies it held the "
    "true tau-b in 77 % instead of 95 %): use percentile intervals there"
)
WIDE_CAUTION = (
    "percentile intervals at system level are too wide where systems and story-prompts are drawn (in simulated studies "
    "they held the true tau-b in 99 % instead of 95 %); BCa held it in 94 to 97 %"
)


DEFAULTS: dict[tuple[Level, int], dict[str, float]] = {
    # level, story-prompts (of 10 systems, three people): of a judge with opinions of its own about systems
    ("overall", 6): {"kendall": 96.1, "spearman": 96.0, "pearson": 95.1},
    ("overall", 8): {"kendall": 95.7, "spearman": 95.5, "pearson": 94.4},
    ("overall", 12): {"kendall": 94.8, "spearman": 95.0, "pearson": 94.5},
    ("overall", 30): {"kendall": 94.0, "spearman": 94.3, "pearson": 94.0},
    ("overall", 96): {"kendall": 94.9, "spearman": 94.9, "pearson": 94.5},
    ("system", 6): {"kendall": 95.4, "spearman": 95.0, "pearson": 94.6},
    ("system", 8): {"kendall": 95.3, "spearman": 94.7, "pearson": 94.8},
    ("system", 12): {"kendall": 96.3, "spearman": 95.4, "pearson": 95.2},
    ("system", 30): {"kendall": 96.0, "spearman": 95.2, "pearson": 94.8},
    ("system", 96): {"kendall": 96.0, "spearman": 95.0, "pearson": 93.5},
}

# Too narrow with few story-prompts; over all stories, and with more, differences are held as single values are.
LEADS: dict[int, dict[str, float]] = {
    # story-prompts: of the difference of two judges at system level, one of them one more person
    6: {"kendall": 89.8, "spearman": 90.4, "pearson": 90.3},
    8: {"kendall": 88.6, "spearman": 89.6, "pearson": 89.6},
    12: {"kendall": 92.3, "spearman": 93.3, "pearson": 92.5},
}

# With 4 story-prompts and 7 stories of each of 10 systems for each, where stories are drawn; 200 studies.
STORIES_FOR_FEW: dict[Level, dict[str, float]] = {
    "overall": {"kendall": 86.0, "spearman": 84.5, "pearson": 86.5},
    "system": {"kendall": 96.5, "spearman": 96.5, "pearson": 95.0},
}

# With fewer units of what is drawn, a table says what its intervals were worth with as few.
FEW = 30


def few_story_prompts(dataset: str, story_prompts: int, level: str) -> str:
    """Warning that `dataset` has few `story_prompts`, so that stories are resampled and intervals can be too narrow.

    `level` is ``system`` for a correlation over system means; any other counts as over all stories.
    """
    held = _range(STORIES_FOR_FEW[_level(level)])
    return (
        f"{dataset}: only {story_prompts} story-prompts, too few to draw: stories are drawn instead, as if they were "
        "independent, and intervals are too narrow where story-prompts matter (in simulated studies of 4 story-prompts "
        f"95 % intervals held the true value in {held} %)"
    )


def cautions(draw: str, method: str, level: str, units: int) -> tuple[str, ...]:
    """Warnings about a bootstrap interval of tau-b, based on the coverage that such intervals had in simulations.

    `draw` names the resampling design, e.g. ``boot-both``. `method` is ``expanded``, ``true-means``, ``percentile``,
    ``bca`` or ``calibrated``. `level` is as in `few_story_prompts`. `units` counts what is drawn (such as
    story-prompts), or systems where systems and story-prompts both are.
    """
    sentences = []
    fixed = draw in ("boot-inputs", "boot-stories")
    if level == "system" and draw == "boot-both" and method == "percentile":
        sentences.append(WIDE_CAUTION)
    if level == "system" and fixed and method == "bca":
        sentences.append(FIXED_SYSTEMS_CAUTION)
    if draw == "boot-both" and units <= SMALL_S:
        sentences.append(SMALL_S_CAUTION)
    if draw == "boot-systems" and units < FEW:
        sentences.append(_few_systems(_level(level), method, units))
    if draw == "boot-inputs" and units < FEW:
        sentences.append(_few(_level(level), method, units))
    return tuple(sentences)


def _few(level: Level, method: str, units: int) -> str:
    """Warning of few story-prompts, with the coverage simulated for the nearest smaller number (or the smallest)."""
    sizes = sorted(size for measured_level, size in DEFAULTS if measured_level == level)
    near = max((size for size in sizes if size <= units), default=sizes[0])
    warning = f"only {units} story-prompts: "
    if method not in ("expanded", "true-means"):
        narrow = f"{warning}{method} intervals are too narrow with fewer than {FEW}"
        return Note(narrow, Advice("{interval_kind} allows for that", interval_kind="auto"))
    held = f"{warning}in simulated studies with {near}, such 95 % intervals contained the true value in "
    held += f"{_range(DEFAULTS[level, near])} % of cases"
    return held if level != "system" else f"{held}, those of a difference of two judges in {_range(LEADS[near])} %"


def _few_systems(level: Level, method: str, units: int) -> str:
    measured = MEASURED["boot-systems", SMALL_S, level]
    kind: Kind = "bca" if method == "bca" else "percentile" if method == "percentile" else "expanded"
    return (
        f"only {units} systems: in simulated studies with {SMALL_S} systems, 95 % intervals for new systems contained "
        f"the true tau-b in {measured[kind]:g} % of cases"
    )


def _range(measured: dict[str, float]) -> str:
    """Lowest to highest measured coverage, in whole per cent."""
    low, high = (f"{end(measured.values()):.0f}" for end in (min, max))
    return low if low == high else f"{low} to {high}"


def _level(level: str) -> Level:
    return "system" if level == "system" else "overall"
