"""StoryER's released samples as arrays: pairs of stories, WP_200, comments, coherence ratings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.inputs.control import FOLDINGS, FOLDS, Surface
from judge.analysis.preference.agreement import PENALTY
from judge.backends.surface import SurfaceBackend
from judge.backends.surface.model import read_card, shipped_model
from judge.base.arrays import Codes, Floats
from judge.base.estimate import Estimate
from judge.base.records import Pair, Story
from judge.inputs.datasets.studies import plotguided, storyer
from judge.inputs.datasets.studies.storyer import read_wp200
from judge.inputs.text_features import length
from judge.reproduce.cell import Place, Printed
from judge.stats.ordering import storyer as upvotes
from judge.stats.regression import ordinal
from judge.stats.resampling.bootstrap import folds_of_groups

# Reasons why StoryER's printed cells cannot be recomputed, and names of the rows that this program adds.

# The ten aspects as the study's tables name them, in the order of its numbers.
ASPECTS = ("opening", "middle", "ending", "character", "scene", "heartwarming", "sad", "horror", "funny", "novelty")

CONTROL = "floor: surface, out of fold"
PEOPLE = "people: one against four"
TABLE_2, OUT_OF_STORY = "floor: most frequent in Table 2", "floor: most frequent in other stories"
TABLE_2_MEANS, UPVOTES = "floor: aspect means of Table 2", "floor: upvotes of the story"
COMMONEST = "floor: commonest class"
ONE_SENTENCE, ANOTHER_STORY = "floor: one sentence for all", "floor: comment on another story"
SCORES = "plotguided_scores"
WHICH_200 = "computed on the 300 stories that were released; the study does not state which 200 of them it used"

_PAIRS = "the 100,000 pairs that the study trained and tested on are not in its repository, which holds a sample"
_FLOORS = "; rows named floor give the score of a guess"
_TABLES: Mapping[str, str] = {
    "rank_sizes": f"{_PAIRS} of the training pairs",
    "aspect_sizes": "the repository holds 100 of 5,964 stories, with 303 comments of the 28,099",
    "preference_ablation": f"{_PAIRS}; each row is a model trained on them",
    "aspect_confidence": f"the repository holds neither the test comments nor the model's answers{_FLOORS}",
    "aspect_rating": f"the repository holds neither the test comments nor the model's answers{_FLOORS}",
    "comments": "the repository holds neither the generated comments nor people's judgments of them",
    "domains": "the repository holds no scores of the study's models, nor which stories of WP_200 were upvoted; of a "
    "judge of your own: judge systems RUN...",
    "horror": "the repository holds no answers of the study's model",
    "objective": f"{_PAIRS}; each row is a model trained on them",
    "sentiment": f"the repository holds no answers of the study's classifier{_FLOORS}",
    "agreement": "the released sample holds one annotation a story",
}
_METHOD = "scores of this method were not released"
_COLUMNS: Mapping[str, str] = {
    "rank": "the 22,887 test pairs are not in the repository (data/test_rank_data.pkl is listed there and absent)",
    "pref200": "PREF200 was not released",
    "wp200": _METHOD,
    "scary200": "neither SCARY200 nor scores of this method were released",
    "coh200": _METHOD,
}
_WEIGHTS: Mapping[str, str] = {
    "wp200": "the study does not state which GPT-2 it used; of one that you choose: judge contamination score "
    "storyer_wp200",
    "scary200": "the study does not state which GPT-2 it used, and SCARY200 was not released",
}
_STARRED = "the repository holds 100 of 5,964 stories, and none is known to be of the starred columns' comments"
_OVERLAP = f"{_FLOORS} on the released 303"
_NOT_HERE = (
    "MANPLTS' scores are not on this machine: judge data fetch plotguided_wp, judge data fetch plotguided_scores"
)


def missing(place: Place, entry: Printed) -> str:
    """Why the data do not give a printed cell."""
    table, _, column = place
    if table == "preference":
        kind = column.partition("_")[0]
        if entry.verdict == "near":
            return _NOT_HERE
        return (_WEIGHTS if entry.verdict == "with weights" else _COLUMNS)[kind]
    if table == "aspect_sizes" and column.endswith("*"):
        return _STARRED
    return _TABLES[table] + (_OVERLAP if table == "comments" and entry.verdict == "floor" else "")


Score = Callable[[Story], float]

# Criteria of the shipped surface model whose ratings stand beside the study's scores.
SURFACE = ("Overall", "Engagement", "Complexity")


# A comment that reads no story, about as long as people's.
SENTENCE = (
    "The {} of this story was good and I liked the way that the author wrote it, but I think that the story could have "
    "been more interesting."
)


@dataclass(frozen=True, eq=False)
class RankedPairs:
    """StoryER's released pairs: the higher story was preferred to the lower one."""

    stories: Mapping[str, Story]
    pairs: tuple[Pair, ...]

    @classmethod
    def of(cls, path: Path) -> RankedPairs:
        """Pairs in a file, without those on which rows disagree."""
        stories = {story.id: story for story in storyer.read_paired(path)}
        return cls(stories, tuple(pair for pair in storyer.read_pairs(path) if len(pair.preferences) == 1))

    @cached_property
    def order(self) -> list[tuple[str, str]]:
        """(higher, lower) ids of each pair."""
        return [(p.first, p.second) if p.preferences[0].value == "first" else (p.second, p.first) for p in self.pairs]

    @cached_property
    def story_prompt(self) -> Codes:
        """Code of each pair's story-prompt."""
        return np.unique([pair.story_prompt for pair in self.pairs], return_inverse=True)[1].astype(np.int64)

    def scored(self, score: Score) -> tuple[Floats, Floats]:
        """Scores of the higher and the lower stories, shape (pairs,)."""
        score_of = {name: score(story) for name, story in self.stories.items()}
        both = np.array([[score_of[higher], score_of[lower]] for higher, lower in self.order], dtype=np.float64)
        return both[:, 0], both[:, 1]

    def sizes(self) -> dict[str, float]:
        """Table 1 for the released pairs: counts, and mean words (by spaces) of preferred and other stories."""
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
    """Stories with the mean human score of each, and optionally a metric's (`others`)."""

    stories: tuple[Story, ...]
    people: Floats
    others: Floats | None = None

    @classmethod
    def wp200(cls, path: Path) -> Scored:
        """WP_200, StoryER's test set, with its human scores."""
        stories = tuple(read_wp200(path))
        return cls(stories, np.array([story.ratings[0].value for story in stories]))

    @classmethod
    def coherence(cls, ratings: Path, scores: Path) -> Scored:
        """The 300 stories from which COH200 was drawn, with mean coherence; `others` is MANPLTS in log odds."""
        stories = tuple(plotguided.read_stories(ratings))
        score_of = plotguided.read_scores(scores)
        people = np.array([np.mean([rating.value for rating in story.ratings]) for story in stories])
        return cls(stories, people, np.array([plotguided.log_odds(score_of[story.text]) for story in stories]))

    def scored(self, score: Score) -> Floats:
        """One score per story."""
        return np.array([score(story) for story in self.stories], dtype=np.float64)

    @property
    def raters(self) -> Floats:
        """Single ratings, (stories, raters); columns are positions in the file, not persons."""
        return np.array([[rating.value for rating in story.ratings] for story in self.stories])


@dataclass(frozen=True, eq=False)
class Comments:
    """Human comments on aspects 0 to 9 of stories, one entry each; `story` is a code. `upvotes` is the story's, NaN
    where unknown; `words` are separated by blanks; `aspects` is their number."""

    aspect: Codes
    rating: Floats
    story: Codes
    upvotes: Floats
    words: Floats
    texts: tuple[str, ...]
    aspects: int = 10

    @classmethod
    def of(cls, path: Path) -> Comments:
        rows = [
            (comment.aspect - 1, comment.rating, at, np.nan if entry.upvotes is None else entry.upvotes, comment.text)
            for at, entry in enumerate(storyer.read_commented(path))
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
        """For each comment, a fixed sentence in which only the aspect's name varies."""
        return [SENTENCE.format(names[aspect].lower()) for aspect in self.aspect]

    def of_another_story(self) -> list[str]:
        """For each comment, the next on the same aspect; the last one gets the first."""
        by_aspect: dict[int, list[int]] = {}
        for at, aspect in enumerate(self.aspect.tolist()):
            by_aspect.setdefault(aspect, []).append(at)
        following = {at: own[(i + 1) % len(own)] for own in by_aspect.values() for i, at in enumerate(own)}
        return [self.texts[following[at]] for at in range(len(self.texts))]

    @property
    def chosen(self) -> NDArray[np.int64]:
        """Numbers of comments, shape (stories, aspects)."""
        counts = np.zeros((int(self.story.max()) + 1, self.aspects), dtype=np.int64)
        np.add.at(counts, (self.story, self.aspect), 1)
        return counts


def scores() -> dict[str, Score]:
    """Scores without a language model: the story's length, and the surface model's ratings, rescaled to 0 to 1."""
    surface = SurfaceBackend(read_card(shipped_model()))

    def rated(criterion: str) -> Score:
        return lambda story: (surface.rate(story, criterion).rating - 1) / 4

    return {"longer wins": lambda story: float(length(story.text))} | {
        f"surface {criterion}": rated(criterion) for criterion in SURFACE
    }


def accuracies(pairs: RankedPairs, higher: Floats, lower: Floats) -> tuple[Estimate, Estimate, Estimate]:
    """Accuracy as StoryER defines it (ties are wrong), with ties as one half, and the study's Dis. Dis is the mean
    score of the preferred story minus that of the other."""
    return (
        upvotes.accuracy(higher, lower, pairs.story_prompt, tie=upvotes.TIE_WRONG),
        upvotes.accuracy(higher, lower, pairs.story_prompt, tie=upvotes.TIE_HALF),
        upvotes.distance(higher, lower, pairs.story_prompt),
    )


# Surface baseline for StoryER's pairs: a pairwise logistic regression on surface features, evaluated out of fold.


def out_of_fold(pairs: RankedPairs, seed: int = 1) -> Floats:
    """Log odds that the surface baseline gives to the more upvoted story; above 0 = a correct prediction. Each pair is
    predicted by models fitted without any pair of its story-prompt."""
    difference = _differences(pairs, _rows(list(pairs.stories.values()), prompts=True))
    lead = np.where(np.arange(len(pairs.order)) % 2 == 0, 1.0, -1.0)
    groups = [str(code) for code in pairs.story_prompt]
    folds = min(FOLDS, len(set(groups)))
    runs = [
        ordinal.out_of_fold(difference * lead[:, None], lead, folds_of_groups(groups, folds, seed + turn), PENALTY)
        for turn in range(FOLDINGS)
    ]
    return np.asarray(np.mean(runs, axis=0) * lead, dtype=np.float64)


def scored(pairs: RankedPairs, stories: Sequence[Story]) -> Floats:
    """Score by the surface model fitted on all pairs, without texts of story-prompts."""
    difference = _differences(pairs, _rows(list(pairs.stories.values()), prompts=False))
    spread = np.sqrt((difference**2).mean(axis=0))
    scale = np.where(spread > 0, spread, 1.0)
    weights = ordinal.fit(difference / scale, np.ones(len(difference)), PENALTY)
    return np.asarray((_rows(stories, prompts=False) / scale) @ np.where(spread > 0, weights, 0.0), dtype=np.float64)


def _rows(stories: Sequence[Story], *, prompts: bool) -> Floats:
    # A story without words has features 0.
    frame = pd.DataFrame(
        {"text": [s.text for s in stories], "story_prompt": [s.story_prompt if prompts else "" for s in stories]},
        index=[s.id for s in stories],
    )
    surface = Surface.of(frame)
    return np.where(surface.blank[:, None], 0.0, surface.rows)


def _differences(pairs: RankedPairs, rows: Floats) -> Floats:
    """More upvoted minus other story, (pairs, features)."""
    row_of = {name: at for at, name in enumerate(pairs.stories)}
    both = np.array([[row_of[higher], row_of[lower]] for higher, lower in pairs.order])
    return np.asarray(rows[both[:, 0]] - rows[both[:, 1]], dtype=np.float64)
