"""A parsed text: children, subjects, finite verbs and sentences of its tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from judge.perturbations.english.tokens import PLACEHOLDER
from judge.perturbations.perturbation import Token

SUBJECTS = frozenset({"nsubj", "nsubjpass", "expl", "csubj"})
AUXILIARIES = frozenset({"aux", "auxpass"})
MODALS = frozenset({"can", "could", "may", "might", "must", "shall", "should", "will", "would", "ca", "wo", "sha"})
FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})


class Parse:
    """The tokens of a text with the indices that perturbations use."""

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
        """Positions of a token's dependents of the given kinds."""
        return [child for child in self._children[at] if self.tokens[child].dependency in among]

    def subtree(self, at: int) -> list[int]:
        """Positions of a token and all its descendants, in order."""
        inside, left = [], [at]
        while left:
            here = left.pop()
            inside.append(here)
            left += self._children[here]
        return sorted(inside)

    def subject(self, verb: int) -> int | None:
        """The place of a verb's subject."""
        subjects = self.children(verb, SUBJECTS)
        return subjects[0] if subjects else None

    def finite(self, verb: int) -> int | None:
        """The position of the verb or of its first auxiliary, whichever is finite; None where neither is."""
        auxiliaries = self.children(verb, AUXILIARIES)
        first = min([verb, *auxiliaries])
        return first if self.tokens[first].tag in FINITE else None

    def sentence_of(self, at: int) -> range:
        """The places of the sentence that a token stands in."""
        return self.sentences[self.tokens[at].sentence]

    def begins(self, at: int) -> bool:
        """Whether the token begins a sentence or a quotation."""
        start = self.sentence_of(at).start
        before = self.tokens[start:at]
        return all(token.pos == "PUNCT" for token in before) or before[-1].text in ("``", "“", '"')

    @property
    def small(self) -> bool:
        """Whether the text has no capitals at all, not even of I."""
        return not any(token.text[:1].isupper() for token in self.tokens if not token.text.startswith("["))

    def last_mark(self, sentence: range) -> str:
        """The mark that ends a sentence, quotation marks aside; "" where none does."""
        for at in reversed(sentence):
            word = self.tokens[at].text
            if word[0].isalnum() or PLACEHOLDER.match(word):
                return ""
            if word[0] in ".!?…":
                return word[0]
        return ""

    def words(self) -> Iterator[int]:
        """Places of nouns, verbs, adjectives and adverbs that are one plain word: no name, auxiliary or placeholder."""
        for at, token in enumerate(self.tokens):
            if (
                token.pos in ("NOUN", "VERB", "ADJ", "ADV")
                and token.text.isalpha()
                and len(token.text) > 1
                and not self._glued(at)
            ):
                yield at

    def _glued(self, at: int) -> bool:
        """Whether a hyphen or apostrophe ties the token to its neighbour."""
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
