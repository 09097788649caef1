"""Stems of words by two versions of Porter's algorithm. Stems are cached."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from judge.base.errors import MissingExtraError


@lru_cache(maxsize=1 << 17)
def porter(word: str) -> str:
    """Stem by the original algorithm of Porter (1980), as ROUGE-1.5.5 uses it."""
    return str(_stemmer("ORIGINAL_ALGORITHM").stem(word))


@lru_cache(maxsize=1 << 17)
def nltk_stem(word: str) -> str:
    """Stem by Porter's algorithm with NLTK's extensions, as NLTK's METEOR uses it."""
    return str(_stemmer("NLTK_EXTENSIONS").stem(word))


@cache
def _stemmer(mode: str) -> Any:
    try:
        from nltk.stem.porter import PorterStemmer
    except ImportError as error:
        raise MissingExtraError("ROUGE and METEOR, whose words are stemmed,", "measures") from error
    return PorterStemmer(mode)
