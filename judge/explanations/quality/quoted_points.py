"""Scale points whose guidelines a text quotes, detected by words that occur in only one guideline of the criterion."""

from __future__ import annotations

import itertools
import re

from judge.base.records import Criterion

_WORD = re.compile(r"[a-z0-9]+")
_PERSON = {"me": "you", "i": "you", "my": "your", "we": "you", "us": "you"}
# Share of a sentence's own pairs of words from which on it counts as quoted.
QUOTED = 0.6

Pairs = frozenset[tuple[str, str]]


class QuotedPoints:
    """Detector of quotations from one criterion's guidelines, by word bigrams that only one guideline has. They are
    counted sentence by sentence. Grammatical person is ignored ("surprised me" equals "surprised you")."""

    def __init__(self, criterion: Criterion) -> None:
        self.criterion = criterion
        points = criterion.scale.points() if criterion.guidelines else ()
        self._own = tuple(zip(points, _own_pairs(criterion.guidelines), strict=True))

    def of(self, text: str) -> tuple[tuple[float, float], ...]:
        """(scale point, quoted share) for each guideline that the text quotes, largest share first. Of the own bigrams
        of the sentence quoted most, the share that the text has; quoted from 0.6 (`QUOTED`)."""
        if not self._own:
            return ()
        text_pairs = _pairs(text)
        points = []
        for point, parts in self._own:
            share = max((len(own & text_pairs) / len(own) for own in parts), default=0.0)
            if share >= QUOTED:
                points.append((point, share))
        return tuple(sorted(points, key=lambda one: -one[1]))


def _own_pairs(guidelines: tuple[str, ...]) -> tuple[tuple[Pairs, ...], ...]:
    """For each guideline, each sentence's own word bigrams; sentences with fewer than two are left out."""
    whole = [_pairs(guideline) for guideline in guidelines]
    result = []
    for i, guideline in enumerate(guidelines):
        others: Pairs = frozenset().union(*(pairs for other, pairs in enumerate(whole) if other != i))
        parts = (_pairs(sentence) - others for sentence in re.split(r"(?<=[.!?])\s+", guideline))
        result.append(tuple(part for part in parts if len(part) > 1))
    return tuple(result)


def _pairs(text: str) -> Pairs:
    words = [_PERSON.get(w, w) for w in _WORD.findall(text.lower().replace("’", "").replace("'", ""))]
    return frozenset(itertools.pairwise(words))
