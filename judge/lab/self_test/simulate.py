"""Simulates judges with known faults on stories of known quality, and writes them as a result folder.

Each story has a true quality on each criterion. Three people rate it with random error, and an honest judge rates it
three times with the same error as a person. The honest judge loses some ratings at random. Each other judge is honest
except for one fault of a stated size. The seed determines all random numbers.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from judge.base.records import Criterion
from judge.ratings.ratings_table import COLUMNS

Floats = NDArray[np.float64]

CRITERIA = ("Coherence", "Engagement", "Surprise")
PROMPTS, SYSTEMS, RATERS, REPEATS = 50, 10, 3, 3
OWN = "house-writer"
"""The system that stands for the judges' own."""

HONEST = "honest"
ERROR = 0.8
"""Standard deviation of one person's, and of one repeat's, error, in points."""


@dataclass(frozen=True, slots=True, eq=False)
class Stories:
    """Simulated stories.

    Attributes
    ----------
    quality : array of float
        True quality in points, shape (criteria, stories).
    length : array of float
        Log length in standard deviations, one per story.
    system, story_prompt : array of int
        Codes of each story's system and story-prompt.
    """

    quality: Floats
    length: Floats
    system: NDArray[np.int64]
    story_prompt: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a simulated judge.

    Attributes
    ----------
    diagnostic : str
        The diagnostic that must find the fault; "" for the honest judge, which has none.
    size : str
        Size of the fault in words.
    think, say : callable or None
        `think` changes the judge's opinions before they become ratings; `say` changes the ratings. None = no
        change.
    """

    diagnostic: str
    size: str
    think: Callable[[Floats, Stories, np.random.Generator], Floats] | None = None
    say: Callable[[Floats, Stories, np.random.Generator], Floats] | None = None


def _length(opinion: Floats, stories: Stories, rng: np.random.Generator) -> Floats:  # noqa: ARG001
    return opinion + 0.3 * stories.length


def _own(opinion: Floats, stories: Stories, rng: np.random.Generator) -> Floats:  # noqa: ARG001
    return np.asarray(opinion + 0.5 * (stories.system == 0), dtype=np.float64)


def _compress(opinion: Floats, stories: Stories, rng: np.random.Generator) -> Floats:  # noqa: ARG001
    return 3.0 + 0.6 * (opinion - 3.0)


def _halo(opinion: Floats, stories: Stories, rng: np.random.Generator) -> Floats:  # noqa: ARG001
    overall = opinion.mean(axis=0, keepdims=True)
    return np.asarray(overall + 0.4 * (opinion - overall), dtype=np.float64)


def _stick(ratings: Floats, stories: Stories, rng: np.random.Generator) -> Floats:  # noqa: ARG001
    return np.asarray(np.where(rng.random(ratings.shape) < 0.15, 4.0, ratings), dtype=np.float64)


def _lose(ratings: Floats, stories: Stories, rng: np.random.Generator) -> Floats:
    chance = 0.1 * np.exp(0.6 * (stories.quality - 3.0))[..., None]
    return np.asarray(np.where(rng.random(ratings.shape) < chance, np.nan, ratings), dtype=np.float64)


def _lose_blindly(ratings: Floats, stories: Stories, rng: np.random.Generator) -> Floats:  # noqa: ARG001
    return np.asarray(np.where(rng.random(ratings.shape) < 0.1, np.nan, ratings), dtype=np.float64)


FAULTS: dict[str, Fault] = {
    "lenient": Fault("leniency", "+0.2 points", think=lambda o, s, r: o + 0.2),  # noqa: ARG005
    "lengthy": Fault("length", "+0.3 points per sd of log length", think=_length),
    "compressed": Fault("compression", "differences x 0.6", think=_compress),
    "stuck": Fault("stuck", "15 % of ratings are 4 whatever the story", say=_stick),
    "haloed": Fault("halo", "60 % of what sets criteria apart is lost", think=_halo),
    "partial": Fault("self-preference", "+0.5 points for its own system", think=_own),
    "dropping": Fault("loss", "10 % lost, 1.8 times as likely for each point of quality", say=_lose),
}
"""Judge -> its fault."""


def write_folder(folder: Path, seed: int) -> None:
    """Write one simulated study as a result folder of imported ratings.

    It has the ratings of people, of an honest judge (without faults), and of judges with one known fault each.
    """
    rng = np.random.default_rng(seed)
    stories = _stories(rng)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "imported.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        writer.writerows(_people(stories, rng))
        for name, fault in {HONEST: Fault("", "", say=_lose_blindly), **FAULTS}.items():
            writer.writerows(_judge(name, fault, stories, rng))
    words = np.round(np.exp(5.0 + 0.5 * stories.length)).astype(int)
    with (folder / "imported_stories.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["dataset", "story", "words"])
        writer.writerows(["simulated", f"s{i}", int(count)] for i, count in enumerate(words))
    records = [Criterion(name, name[:2].upper(), "").record() for name in CRITERIA]
    (folder / "manifest.json").write_bytes(orjson.dumps({"criteria": records, "notes": [f"simulated, seed {seed}"]}))


def _stories(rng: np.random.Generator) -> Stories:
    """Simulated stories. Criteria have a part of their quality in common, longer stories are better, and systems differ
    in quality.
    """
    n = PROMPTS * SYSTEMS
    system, story_prompt = np.repeat(np.arange(SYSTEMS), PROMPTS), np.tile(np.arange(PROMPTS), SYSTEMS)
    length = rng.standard_normal(n)
    middle = (SYSTEMS - 1) / 2
    shared = 0.5 * rng.standard_normal(n) + 0.3 * length + 0.4 * (system - middle) / middle
    shared = shared + 0.3 * rng.standard_normal(PROMPTS)[story_prompt]
    quality = 3.0 + shared + 0.5 * rng.standard_normal((len(CRITERIA), n))
    return Stories(quality, length, system, story_prompt)


def _people(stories: Stories, rng: np.random.Generator) -> list[list[Any]]:
    ratings = _rounded(stories.quality[..., None] + ERROR * rng.standard_normal((*stories.quality.shape, RATERS)))
    return [
        [*_place(stories, i, None, c), None, "rater", f"w{r}", None, ratings[c, i, r], "ok", "", None]
        for c in range(len(CRITERIA))
        for i in range(ratings.shape[1])
        for r in range(RATERS)
    ]


def _judge(name: str, fault: Fault, stories: Stories, rng: np.random.Generator) -> list[list[Any]]:
    opinion = stories.quality
    if fault.think is not None:
        opinion = fault.think(opinion, stories, rng)
    ratings = _rounded(opinion[..., None] + ERROR * rng.standard_normal((*opinion.shape, REPEATS)))
    if fault.say is not None:
        ratings = fault.say(ratings, stories, rng)
    rows = []
    for c in range(len(CRITERIA)):
        for i in range(ratings.shape[1]):
            for r in range(REPEATS):
                value = ratings[c, i, r]
                end = [None, "no_rating"] if np.isnan(value) else [value, "ok"]
                rows.append([*_place(stories, i, f"simulated/{name}", c), "ep1", "judge", None, r, *end, "", None])
    return rows


def _place(stories: Stories, i: int, judge: str | None, criterion: int) -> list[Any]:
    """First values of a row in the ratings table of a simulated study, from the dataset's column to that of the
    criterion.

    `i` is the story's number, and `judge` is None for a human rating.
    """
    system = OWN if stories.system[i] == 0 else f"writer {stories.system[i]}"
    prompt = f"prompt {stories.story_prompt[i]}"
    return ["simulated", judge, "simulated", f"s{i}", prompt, system, CRITERIA[criterion]]


def _rounded(values: Floats) -> Floats:
    return np.asarray(np.clip(np.round(values), 1, 5), dtype=np.float64)
