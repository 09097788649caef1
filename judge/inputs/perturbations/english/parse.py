"""A syntactically parsed text: dependents, subjects, finite verbs and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from judge.inputs.perturbations.english.tokens import PLACEHOLDER
from judge.inputs.perturbations.perturbation import Token

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
        """Position of a verb's subject; None where it has none."""
        subjects = self.children(verb, SUBJECTS)
        return subjects[0] if subjects else None

    def finite(self, verb: int) -> int | None:
        """Position of the finite verb: the verb itself or its first auxiliary. None where neither is finite."""
        auxiliaries = self.children(verb, AUXILIARIES)
        first = min([verb, *auxiliaries])
        return first if self.tokens[first].tag in FINITE else None

    def sentence_of(self, at: int) -> range:
        """Positions of the sentence that contains a token."""
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
        """The punctuation mark that ends a sentence, without regard to quotation marks; "" where there is none."""
        for at in reversed(sentence):
            word = self.tokens[at].text
            if word[0].isalnum() or PLACEHOLDER.match(word):
                return ""
            if word[0] in ".!?…":
                return word[0]
        return ""

    def words(self) -> Iterator[int]:
        """Positions of nouns, verbs, adjectives and adverbs that consist of letters alone. Names, auxiliaries and
        placeholders are left out.
        """
        for at, token in enumerate(self.tokens):
            if (
                token.pos in ("NOUN", "VERB", "ADJ", "ADV")
                and token.text.isalpha()
                and len(token.text) > 1
                and not self._glued(at)
            ):
                yield at

    def _glued(self, at: int) -> bool:
        """Whether a hyphen or apostrophe joins the token to the next or previous token."""
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
