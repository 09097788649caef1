"""A model that has seen none of the stories: how often does its share "seen" look like contamination?

Scores are heavy-tailed and skewed; texts of one book (or stories for one story-prompt) share part of theirs. A labelled
set of seen and unseen texts, whose seen ones score higher, gives the threshold by the program's rule; unseen stories
are drawn as its unseen texts are. Through `threshold.all_by_rule` and `report.report`, which `judge contamination
report` prints. Beside it stands a study in which 40 % of the stories were seen.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from judge.backends.protocol import ScorerFacts
from judge.contamination.report import report
from judge.contamination.scores_file import FORMAT, Row, ScoresFile, with_thresholds
from judge.contamination.thresholds import all_by_rule
from tests.benchmarks.simulations.runner import Bar, Outcome, run, scene
from tests.benchmarks.simulations.worlds import Codes, Floats, Studies, World

Flags = NDArray[np.bool_]

NAME = "min_k_20"


def scores(seen: Flags, cluster: Codes, rng: np.random.Generator, shared: float) -> Floats:
    """Scores (n,), of which `shared` is the cluster's part of the spread."""
    of_cluster = (rng.gamma(2.0, 1.0, int(cluster.max()) + 1) - 2.0)[cluster] / np.sqrt(2)
    own = rng.standard_t(5, seen.size) * np.sqrt(3 / 5)
    return np.asarray(1.2 * seen + np.sqrt(shared) * of_cluster + np.sqrt(1 - shared) * own, dtype=np.float64)


def scores_file(source: str, values: Floats, label: Flags | None, group: Codes | None) -> ScoresFile:
    """A scores file of these scores, texts named s0, s1, ..."""
    rows = tuple(
        Row(
            id=f"s{i}",
            text=f"{source} {i}",
            system=None if label is not None else "Human",
            label=None if label is None else bool(label[i]),
            group=None if group is None else f"book {group[i]}",
            tokens=100,
            truncated=False,
            scores={NAME: float(value)},
            undefined={},
        )
        for i, value in enumerate(values)
    )
    facts = ScorerFacts(model="m", revision=None, tokenizer=None, weights="w", vocabulary=1, context=1000)
    header = {
        "format": FORMAT,
        "source": source,
        "judge": "hf/m",
        "reference": None,
        "settings": {},
        "texts": len(rows),
    }
    header |= {"model": {name: getattr(facts, name) for name in facts.__dataclass_fields__}, "truncated": 0}
    return ScoresFile({**header, "thresholds": {}, "without_threshold": {}, "notes": []}, rows)


def study(seed: int, *, rule: str, texts: int, books: int, systems: int, seen: float) -> Outcome:
    """One study of 96 story-prompts: is the share above what is expected of unseen texts?"""
    rng = np.random.default_rng(seed)
    drawn = Studies(World(systems=systems, story_prompts=96), rng).study()
    book = np.arange(texts) if not books else np.arange(texts) % books
    shared = 0.4 if books or systems > 1 else 0.0
    label = book % 2 == 0
    group = book if books else None
    labelled = scores_file("books", scores(label, book, rng, shared if books else 0.0), label, group)
    known = rng.uniform(size=drawn.n) < seen
    values = scores(known, drawn.story_prompt, rng, shared if systems > 1 else 0.0)
    calibrated = all_by_rule(labelled, rule).header["thresholds"]
    stories = with_thresholds(scores_file("simulated", values, None, None), calibrated)
    one = report(drawn.with_judges(judge=drawn.mean).table(), [stories]).rows[0]
    rate, unseen, corrected = one.rate, one.unseen, one.corrected
    in_set = calibrated[NAME]["false_positive"]
    found: Outcome = {
        "seen, corrected, wholly above 0": None if corrected.value is None else float((corrected.low or 0.0) > 0),
        "rate wholly above the set's own unseen texts": float(rate.low > in_set),
        "seems seen x100": 100 * rate.value,
        "of unseen texts x100": 100 * unseen.value,
    }
    if corrected.low is not None:
        found["truth inside the corrected interval"] = float(corrected.low <= known.mean() <= corrected.high)
    return found


SCENES = [
    scene(
        f"{'none' if not seen else '40 %'} of {96 * systems} stories seen, rule {rule}, {texts} labelled texts"
        + (f" of {books} books" if books else ""),
        study,
        {} if seen else {"seen, corrected, wholly above 0": Bar(high=5.0)},
        rule=rule,
        texts=texts,
        books=books,
        systems=systems,
        seen=seen,
    )
    for seen in (0.0, 0.4)
    for rule in ("fpr=0.05", "youden")
    for texts, books, systems in ((100, 0, 1), (400, 0, 1), (400, 40, 5))
]

if __name__ == "__main__":
    sys.exit(run(SCENES, __doc__))
