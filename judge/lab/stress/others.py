"""A fixed sample of stories of a dataset with their nouns and verbs, from which perturbations of other stories take
material.

The sample is drawn from the whole dataset, so that it does not depend on the order of stories or on which stories are
changed.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from judge.base.fingerprint import digest
from judge.base.records import Story
from judge.inputs.perturbations.english.tagging import Tagger
from judge.inputs.perturbations.perturbation import Token, Words

SAMPLE = 128
"""Stories kept of each system."""

_TAGS = ("NN", "NNS", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ")
_SHORTEST = 3


@dataclass(frozen=True, slots=True, eq=False)
class Others:
    """Sample of stories of a dataset, from which perturbations of other stories take material: the sampled stories and
    their nouns and verbs, each by name of the system.
    """

    stories: Mapping[str, Sequence[Story]]
    words: Mapping[str, Sequence[Words]]

    def stories_for(self, story: Story) -> list[Story]:
        """Sampled stories that may serve as material for a given story: those of its system for other story-prompts or,
        if there are none, those of all systems for other story-prompts.
        """
        own = [other for other in self.stories.get(story.system, ()) if _other(other.story_prompt, other.id, story)]
        return own or [
            other for some in self.stories.values() for other in some if _other(other.story_prompt, other.id, story)
        ]

    def words_for(self, story: Story) -> list[Words]:
        """Nouns and verbs that may serve as material for a given story. They come from sampled stories of its system
        for other story-prompts or, if there are none, from those of all systems for other story-prompts.
        """
        own = [word for word in self.words.get(story.system, ()) if _other(word.story_prompt, "", story)]
        return own or [word for some in self.words.values() for word in some if _other(word.story_prompt, "", story)]


def _other(story_prompt: str, name: str, story: Story) -> bool:
    return name != story.id and (story_prompt != story.story_prompt or not story_prompt.strip())


def sampled(stories: Iterable[Story], seed: int, tagger: Tagger | None) -> Others:
    """A random sample of at most 128 stories of each system, with their nouns and verbs if there is a tagger (a model
    that tags words).
    """
    heaps: dict[str, list[tuple[int, str, Story]]] = {}
    for story in stories:
        heap = heaps.setdefault(story.system, [])
        entry = (-int.from_bytes(digest(f"{seed}\x00{story.id}", 8), "little"), story.id, story)
        if len(heap) < SAMPLE:
            heapq.heappush(heap, entry)
        elif entry > heap[0]:
            heapq.heapreplace(heap, entry)
    kept = {system: [story for _, _, story in sorted(heap, reverse=True)] for system, heap in sorted(heaps.items())}
    words: dict[str, list[Words]] = {}
    if tagger is not None:
        for system, some in kept.items():
            tagged = tagger.tagged(story.text for story in some)
            words[system] = [
                Words(token.text.lower(), token.lemma, token.tag, story.story_prompt)
                for story, tokens in zip(some, tagged, strict=True)
                for token in tokens
                if _usable(token)
            ]
    return Others(kept, words)


def _usable(token: Token) -> bool:
    return (
        token.tag in _TAGS
        and token.pos in ("NOUN", "VERB")
        and token.text.isalpha()
        and token.text.isascii()
        and len(token.text) >= _SHORTEST
    )
