"""Inflected forms of English words, from the package lemminflect."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from judge.base.errors import MissingExtraError

_BE = {"VB": "be", "VBD": "was", "VBG": "being", "VBN": "been", "VBP": "are", "VBZ": "is"}
_INFLECTED = frozenset({"NNS", "VBD", "VBG", "VBN", "VBZ", "JJR", "JJS", "RBR", "RBS"})


@lru_cache(maxsize=1 << 15)
def inflected(lemma: str, tag: str) -> str | None:
    """The inflected form of a lemma for a Penn Treebank tag."""
    if lemma == "be":
        return _BE.get(tag)
    if tag in ("NN", "VB", "JJ", "RB"):
        return lemma
    if tag == "VBP":
        return lemma
    if tag not in _INFLECTED:
        return None
    forms = _package().getInflection(lemma, tag)
    return str(forms[0]) if forms else None


@cache
def _package() -> Any:
    try:
        import lemminflect
    except ImportError as error:
        raise MissingExtraError("perturbations that inflect words", "stress") from error
    return lemminflect
