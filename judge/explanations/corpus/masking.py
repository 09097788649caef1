"""Masking of the words that tell what a story is about, so that topics are reasons and not stories.

A word is masked where it occurs in explanations of fewer than a third of the story-prompts that its texts would reach
if they lay at random. A word of many texts would reach all story-prompts; there the rule is a third of all of them.
Without the mask, most texts of a topic speak of one story-prompt, whatever the vectors and the method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judge.base.arrays import Codes
from judge.base.late_pattern import late

# Share of the story-prompts within reach in which a word must occur.
SHARE = 1 / 3
# With fewer story-prompts a word of one story cannot be told from a word of the judge.
LEAST_PROMPTS = 10

# Pattern of a word in a masked text, for vectorisers.
WORDS = r"\S+"

_WORD = late(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    """Words that stay, and counts: `words` of all different ones, `running` the share of running words that stay.

    `why` says why nothing is masked; "" where the mask is in force."""

    kept: frozenset[str]
    words: int
    running: float
    why: str = ""

    def masked(self, texts: Sequence[str]) -> list[str]:
        """The texts in lower case with the words that stay, in their order, joined by spaces."""
        if self.why:
            return [" ".join(words_of(text)) for text in texts]
        kept = self.kept
        return [" ".join([word for word in words_of(text) if word in kept]) for text in texts]

    @property
    def note(self) -> str:
        """Sentence on what is masked, for under a table."""
        if self.why:
            return f"no word is masked ({self.why}): topics may be what stories are about"
        return (
            f"masked: {self.words - len(self.kept):,} of {self.words:,} words, used for fewer than a third of the "
            f"story-prompts that they could reach; {100 * self.running:.0f} % of the running words stay"
        )


def words_of(text: str) -> list[str]:
    """Words in lower case, with their apostrophes; numbers and signs are left out."""
    words: list[str] = _WORD.findall(text.lower().replace("’", "'"))
    return words


def mask(texts: Sequence[str], prompt: Codes) -> Mask:
    """The mask for distinct `texts`; `prompt` (n texts,) has the code, 0, 1, ..., of each one's story-prompt."""
    in_texts: Counter[str] = Counter()
    running: Counter[str] = Counter()
    prompts_of: dict[str, set[int]] = {}
    for text, code in zip(texts, prompt.tolist(), strict=True):
        words = words_of(text)
        running.update(words)
        for word in set(words):
            in_texts[word] += 1
            prompts_of.setdefault(word, set()).add(code)
    sizes = np.bincount(prompt)
    sizes = sizes[sizes > 0]
    if sizes.size < LEAST_PROMPTS:
        why = f"fewer than {LEAST_PROMPTS} story-prompts are known"
        return Mask(frozenset(in_texts), len(in_texts), 1.0, why)
    within = {count: reach(count, sizes) for count in set(in_texts.values())}
    kept = frozenset(word for word, seen in prompts_of.items() if len(seen) >= round(SHARE * within[in_texts[word]], 9))
    total = sum(running.values())
    return Mask(kept, len(in_texts), sum(running[word] for word in kept) / total if total else 1.0)


def reach(count: int, sizes: Codes) -> float:
    """Story-prompts in which a word of `count` texts would be expected, if they lay at random among all texts."""
    share = 1 - count / sizes.sum()
    return float((1 - np.power(max(0.0, share), sizes)).sum())
