"""StoryER's released samples as arrays: pairs, WP_200, comments, coherence ratings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judge.backends.surface import SurfaceBackend
from judge.backends.surface.model import read_card, shipped_model
from judge.datasets.studies import plotguided, storyer_pairs, storyer_reasons
from judge.datasets.studies.storyer import read_stories as read_wp200
from judge.records import Pair, Story
from judge.stats.estimate import Estimate
from judge.stats.ordering import upvote_order
from judge.text_features import length

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Score = Callable[[Story], float]

SURFACE = ("Overall", "Engagement", "Complexity")
"""Criteria of the shipped surface model whose ratings stand beside the study's scores."""


SENTENCE = (
    "The {} of this story was good and I liked the way that the author wrote it, but I think that the story could have "
    "been more interesting."
)
"""A comment that reads no story, about as long as people's."""


@dataclass(frozen=True, eq=False)
class RankedPairs:
    """The released pairs: stories by id, and for each pair its story-prompt's code, the higher and the lower story."""

    stories: Mapping[str, Story]
    pairs: tuple[Pair, ...]

    @classmethod
    def of(cls, path: Path) -> RankedPairs:
        """Pairs in a file, without those on which its rows disagree, whose order is unknown."""
        stories = {story.id: story for story in storyer_pairs.read_stories(path)}
        return cls(stories, tuple(pair for pair in storyer_pairs.read_pairs(path) if len(pair.preferences) == 1))

    @cached_property
    def order(self) -> list[tuple[str, str]]:
        """Ids of the higher and the lower story of each pair."""
        return [(p.first, p.second) if p.preferences[0].value == "first" else (p.second, p.first) for p in self.pairs]

    @cached_property
    def story_prompt(self) -> Codes:
        """Code of each pair's story-prompt."""
        return np.unique([pair.story_prompt for pair in self.pairs], return_inverse=True)[1].astype(np.int64)

    def scored(self, score: Score) -> tuple[Floats, Floats]:
        """A score of the higher and of the lower story of each pair."""
        score_of = {name: score(story) for name, story in self.stories.items()}
        both = np.array([[score_of[higher], score_of[lower]] for higher, lower in self.order], dtype=np.float64)
        return both[:, 0], both[:, 1]

    def sizes(self) -> dict[str, float]:
        """Counts of Table 1 for a set of pairs; words are separated by blanks and averaged over stories."""
        higher = dict.fromkeys(name for name, _ in self.order)
        lower = dict.fromkeys(name for _, name in self.order)
        return {
            "prompts": float(np.unique(self.story_prompt).size),
            "high": float(len(higher)),
            "words_high": self._words(higher),
            "low": float(len(lower)),
            "words_low": self._words(lower),
            "pairs": float(len(self.pairs)),
        }

    def _words(self, names: Mapping[str, None]) -> float:
        return float(np.mean([len(self.stories[name].text.split()) for name in names]))


@dataclass(frozen=True, eq=False)
class Scored:
    """Stories with people's mean score of each, and optionally a score by another rater: arrays of shape (n,)."""

    stories: tuple[Story, ...]
    people: Floats
    others: Floats | None = None

    @classmethod
    def wp200(cls, path: Path) -> Scored:
        """Stories of WP_200 with people's scores."""
        stories = tuple(read_wp200(path))
        return cls(stories, np.array([story.ratings[0].value for story in stories]))

    @classmethod
    def coherence(cls, ratings: Path, scores: Path) -> Scored:
        """The 300 stories from which the study took the 200 of COH200, with MANPLTS' scores as log-odds."""
        stories = tuple(plotguided.read_stories(ratings))
        score_of = plotguided.read_scores(scores)
        people = np.array([np.mean([rating.value for rating in story.ratings]) for story in stories])
        return cls(stories, people, np.array([plotguided.log_odds(score_of[story.text]) for story in stories]))

    def scored(self, score: Score) -> Floats:
        """A score of each story."""
        return np.array([score(story) for story in self.stories], dtype=np.float64)

    @property
    def raters(self) -> Floats:
        """Single ratings, shape (n, raters), in the order of the file: columns are positions, not persons."""
        return np.array([[rating.value for rating in story.ratings] for story in self.stories])


@dataclass(frozen=True, eq=False)
class Comments:
    """Single comments, arrays of shape (n,): aspect 0-9, rating, story, the story's upvotes, number of words between
    blanks, text.
    """

    aspect: Codes
    rating: Floats
    story: Codes
    upvotes: Floats
    words: Floats
    texts: tuple[str, ...]
    aspects: int = 10

    @classmethod
    def of(cls, path: Path) -> Comments:
        """Comments in a file."""
        rows = [
            (comment.aspect - 1, comment.rating, at, np.nan if entry.upvotes is None else entry.upvotes, comment.text)
            for at, entry in enumerate(storyer_reasons.read_commented(path))
            for comment in entry.comments
        ]
        return cls(
            aspect=np.array([row[0] for row in rows], dtype=np.int64),
            rating=np.array([row[1] for row in rows], dtype=np.float64),
            story=np.array([row[2] for row in rows], dtype=np.int64),
            upvotes=np.array([row[3] for row in rows], dtype=np.float64),
            words=np.array([len(row[4].split()) for row in rows], dtype=np.float64),
            texts=tuple(row[4] for row in rows),
        )

    def one_sentence(self, names: Sequence[str]) -> list[str]:
        """A baseline text in place of each comment: one sentence in which only the aspect's name varies."""
        return [SENTENCE.format(names[aspect].lower()) for aspect in self.aspect]

    def of_another_story(self) -> list[str]:
        """A baseline text in place of each comment: the file's next comment on the same aspect; for the last, the
        first.
        """
        by_aspect: dict[int, list[int]] = {}
        for at, aspect in enumerate(self.aspect.tolist()):
            by_aspect.setdefault(aspect, []).append(at)
        following = {at: own[(i + 1) % len(own)] for own in by_aspect.values() for i, at in enumerate(own)}
        return [self.texts[following[at]] for at in range(len(self.texts))]

    @property
    def chosen(self) -> NDArray[np.int64]:
        """Counts of choices of each aspect in each story, shape (stories, aspects)."""
        counts = np.zeros((int(self.story.max()) + 1, self.aspects), dtype=np.int64)
        np.add.at(counts, (self.story, self.aspect), 1)
        return counts


def scores() -> dict[str, Score]:
    """Scores that need no model: the story's length, and the unrounded ratings of the shipped surface model, rescaled
    to 0 to 1.
    """
    surface = SurfaceBackend(read_card(shipped_model()))

    def rated(criterion: str) -> Score:
        return lambda story: (surface.rate(story, criterion).rating - 1) / 4

    return {"longer wins": lambda story: float(length(story.text))} | {
        f"surface {criterion}": rated(criterion) for criterion in SURFACE
    }


def accuracies(pairs: RankedPairs, higher: Floats, lower: Floats) -> tuple[Estimate, Estimate, Estimate]:
    """Acc as the study defines it, Acc with ties counted one half, and Dis, from the scores of both stories of each
    pair.
    """
    return (
        upvote_order.accuracy(higher, lower, pairs.story_prompt, tie=upvote_order.TIE_WRONG),
        upvote_order.accuracy(higher, lower, pairs.story_prompt, tie=upvote_order.TIE_HALF),
        upvote_order.distance(higher, lower, pairs.story_prompt),
    )
