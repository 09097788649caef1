"""Draws studies: stories with skewed qualities, people with scales of their own, judges of a stated kind.

The program's statistics think of variance components and normal errors. So that they are not tested against their own
assumptions, a study here has none of them: story-prompts differ by a skewed (gamma) effect and stories by a
heavy-tailed one (Student's t, 5 degrees of freedom), errors are heavy-tailed too, and every person answers through
thresholds of their own, unevenly spaced, so that leniency, use of the scale and noise differ between people. A person's
errors on two criteria of one story go together. The exchangeable person (`one_more`) is drawn as each of the people is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.base.records import Criterion, Scale
from judge.ratings.ratings_table import COLUMNS, RatingsTable, RunFacts

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

THRESHOLDS = np.array([-1.6, -0.7, 0.4, 1.3])
"""Where a typical person goes from 1 to 2, ..., 4 to 5, in standard deviations of quality: uneven."""


@dataclass(frozen=True, slots=True)
class World:
    """How studies are drawn. Standard deviations are in units of the story's own quality (1)."""

    systems: int = 10
    story_prompts: int = 30
    stories: int = 1
    """Stories of each system for each story-prompt."""
    people: int = 3
    criteria: int = 1
    system_sd: float = 0.5
    prompt_sd: float = 0.6
    shared_sd: float = 0.7
    """What the criteria of one story have in common."""
    noise: float = 1.0
    """Spread of a person's error; persons differ around it."""
    shift: float = 0.0
    """Added to quality: 2 puts people at the ceiling of the scale, -2 at its floor."""
    own_scales: float = 1.0
    """How much people differ in thresholds and noise; 0 = everyone answers as the typical person does."""


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """One study of n stories: quality (criteria, n), people (criteria, n, people), judges (criteria, n, repeats)."""

    world: World
    system: Codes
    story_prompt: Codes
    words: Floats
    quality: Floats
    people: Floats
    judges: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of stories."""
        return int(self.system.size)

    @property
    def mean(self) -> Floats:
        """People's mean, (criteria, n)."""
        return np.asarray(np.nanmean(self.people, axis=2), dtype=np.float64)

    def with_judges(self, **judges: Floats) -> Study:
        """The study with judges added; ratings (criteria, n) or (criteria, n, repeats), NaN = lost."""
        wide = {name: said if said.ndim == 3 else said[..., None] for name, said in judges.items()}
        return replace(self, judges={**self.judges, **wide})

    def table(self, *, known: bool = True, texts: bool = False) -> RatingsTable:
        """The ratings table that `judge` would read; with `known`, each person's column has a name."""
        names = tuple(f"criterion {c}" for c in range(self.quality.shape[0]))
        frames = [self._rows(names, self.people, "rater", None, known)]
        frames += [self._rows(names, said, "judge", judge, known) for judge, said in self.judges.items()]
        frame = pd.concat(frames, ignore_index=True)[list(COLUMNS)]
        frame["repeat"] = frame["repeat"].astype("Int64")
        stories = pd.DataFrame(
            {
                "dataset": "simulated",
                "story": [f"s{i}" for i in range(self.n)],
                "story_prompt": [f"prompt {p}" for p in self.story_prompt],
                "system": [f"system {s}" for s in self.system],
                "words": self.words,
                "text": ["word " * int(words) if texts else None for words in self.words],
            }
        ).set_index(["dataset", "story"])
        return RatingsTable(frame, stories, tuple(self._fact(judge, names) for judge in self.judges))

    def _rows(self, names: tuple[str, ...], said: Floats, source: str, judge: str | None, known: bool) -> pd.DataFrame:
        criterion, story, column = (axis.reshape(-1) for axis in np.indices(said.shape))
        rating = said.reshape(-1)
        rows: dict[str, Any] = {
            "run": judge or "simulated",
            "judge": judge,
            "dataset": "simulated",
            "story": np.char.add("s", story.astype(str)),
            "story_prompt": np.char.add("prompt ", self.story_prompt[story].astype(str)),
            "system": np.char.add("system ", self.system[story].astype(str)),
            "criterion": np.array(names)[criterion],
            "eval_prompt": None if judge is None else "ep1",
            "source": source,
            "rater": np.char.add("w", column.astype(str)) if judge is None and known else None,
            "repeat": column if judge else None,
            "rating": rating,
            "status": np.where(np.isnan(rating), "no_rating", "ok"),
            "flags": "",
            "explanation": None,
        }
        frame = pd.DataFrame(rows)
        return frame[~np.isnan(rating)] if judge is None else frame

    def _fact(self, judge: str, names: tuple[str, ...]) -> RunFacts:
        criteria = tuple(Criterion(name, f"C{i}", "", Scale(1, 5, 1), ()) for i, name in enumerate(names))
        repeats = self.judges[judge].shape[2]
        return RunFacts(
            run=judge,
            judge=judge,
            dataset="simulated",
            revision=None,
            repeats=repeats,
            criteria=criteria,
            eval_prompts=("ep1",),
            parser="ours",
            notes=(),
            control=False,
            path=Path(judge),
            single=True,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """One person: how noisily they read, and where their thresholds stand."""

    noise: float
    thresholds: Floats


class Studies:
    """Draws studies of one world; all randomness comes from the generator given."""

    def __init__(self, world: World, rng: np.random.Generator) -> None:
        self.world, self.rng = world, rng

    def system_effects(self) -> Floats:
        """Quality of systems, (criteria, systems): most of it shared by the criteria."""
        world = self.world
        shared = 0.8 * self.rng.uniform(-1.7, 1.7, world.systems)
        own = 0.6 * self.rng.uniform(-1.7, 1.7, (world.criteria, world.systems))
        return np.asarray(world.system_sd * (shared + own), dtype=np.float64)

    def study(
        self, systems: Floats | None = None, readers: Sequence[Reader] | None = None, story_prompts: int | None = None
    ) -> Study:
        """One study without judges; of these systems (`system_effects`), or of new ones.

        With `readers` these people rate (`reader`), and with `story_prompts` there are so many, instead of the world's.
        """
        world = self.world if story_prompts is None else replace(self.world, story_prompts=story_prompts)
        effects = self.system_effects() if systems is None else systems
        system, prompt = (axis.reshape(-1) for axis in np.indices((world.systems, world.story_prompts)))
        system, prompt = np.repeat(system, world.stories), np.repeat(prompt, world.stories)
        n = system.size
        prompts = world.prompt_sd * (self.rng.gamma(2.0, 1.0, world.story_prompts) - 2.0) / np.sqrt(2.0)
        shared = world.shared_sd * self._heavy((n,))
        own = np.sqrt(max(0.0, 1 - world.shared_sd**2)) * self._heavy((world.criteria, n))
        quality = effects[:, system] + prompts[prompt] + shared + own + world.shift
        words = np.round(np.exp(5.2 + 0.45 * (0.5 * shared + self.rng.standard_normal(n))))
        said = (
            [self.person(quality) for _ in range(world.people)]
            if readers is None
            else [self.read(reader, quality) for reader in readers]
        )
        people = np.stack(said, axis=2)
        return Study(world, system, prompt, np.maximum(words, 20), quality, people)

    def person(self, quality: Floats, repeats: int | None = None) -> Floats:
        """One more person's ratings of stories of a quality (criteria, n); with `repeats`, read so many times over."""
        return self.read(self.reader(), quality, repeats)

    def reader(self) -> Reader:
        """One more person."""
        differ = self.world.own_scales
        noise = self.world.noise * (1 + differ * (self.rng.uniform(0.7, 1.3) - 1))
        moved, wider, uneven = self.rng.normal(0, 0.4), self.rng.uniform(0.7, 1.3) - 1, self.rng.normal(0, 0.15, 4)
        return Reader(noise, np.sort(THRESHOLDS + differ * (moved + wider * THRESHOLDS + uneven)))

    def read(self, reader: Reader, quality: Floats, repeats: int | None = None) -> Floats:
        """A person's ratings of stories of a quality (criteria, n); with `repeats`, read so many times over."""
        noise, thresholds = reader.noise, reader.thresholds
        opinion = quality + 0.5 * noise * self._heavy(quality.shape[-1:]) + 0.5 * noise * self._heavy(quality.shape)
        readings = [
            1.0 + np.searchsorted(thresholds, opinion + 0.7 * noise * self._heavy(quality.shape))
            for _ in range(repeats or 1)
        ]
        said = np.stack(readings, axis=2) if repeats else readings[0]
        return np.asarray(said, dtype=np.float64)

    def one_more(self, study: Study) -> Floats:
        """A judge that is exactly one more person, (criteria, n)."""
        return self.person(study.quality)

    def noise_judge(self, study: Study) -> Floats:
        """A judge whose ratings have nothing to do with the stories, (criteria, n)."""
        return self.rng.choice(np.arange(1.0, 6.0), size=study.quality.shape, p=[0.1, 0.2, 0.3, 0.3, 0.1])

    def _heavy(self, shape: tuple[int, ...]) -> Floats:
        """Student's t with 5 degrees of freedom, scaled to variance 1."""
        return np.asarray(self.rng.standard_t(5, shape) * np.sqrt(3 / 5), dtype=np.float64)
