"""Words by which an answer may name the requested criterion or another criterion."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from judge.answers.parsing.words.vocabulary import word_set

# Aspects that judges rate unasked. A number beside one of them is not the rating of the criterion asked for.
_ASPECTS = word_set(
    "relevance coherence empathy surprise engagement complexity plot pacing dialogue dialog grammar originality "
    "creativity style characters character characterization setting fluency grammaticality likability likeability "
    "consistency suspense humor humour realism ending opening theme tone vocabulary cohesion clarity prose writing "
    "spelling punctuation language narration imagery depth emotion readability worldbuilding"
)
_STEM = 6
"""Letters that a cognate shares (cohere-nt, cohére-nce); fewer would make other words alike."""


@dataclass(frozen=True, slots=True)
class Names:
    """Words by which an answer may name the requested criterion (`asked`), or other criteria and aspects (`others`). Of
    a name of several words, `asked` has all words and `others` only the last one. `asked_stem` is the beginning of the
    requested criterion's name, which inflected forms share.
    """

    asked: frozenset[str]
    asked_stem: str
    others: frozenset[str]

    def is_asked(self, word: str) -> bool:
        """Whether a word in lower case names the requested criterion. Inflected and related words count too (coherent,
        cohérence).
        """
        return word in self.asked or (
            len(word) >= _STEM and len(self.asked_stem) == _STEM and fold(word).startswith(self.asked_stem)
        )

    def is_other(self, word: str) -> bool:
        """Whether a word in lower case names another criterion or aspect."""
        return word in self.others and not self.is_asked(word)


@lru_cache(maxsize=256)
def names(asked: str, others: tuple[str, ...]) -> Names:
    """The words that name the requested criterion (`asked`) and other criteria; cached. If `asked` is empty, every
    known word for an aspect counts as naming the requested criterion.
    """
    asked_words = frozenset(_words(asked)) or _ASPECTS
    stem = fold(_words(asked)[0])[:_STEM] if _words(asked) else ""
    other_words = {_words(other)[-1] for other in others if _words(other)}
    return Names(asked_words, stem, frozenset((other_words | _ASPECTS) - asked_words))


def fold(word: str) -> str:
    """The word without accents."""
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


def _words(name: str) -> list[str]:
    return name.lower().replace("_", " ").replace("-", " ").split()
