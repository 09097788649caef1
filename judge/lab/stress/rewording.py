"""Paraphrases of sentences of stories, from a model or from a file of back-translations."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random

import orjson

from judge.backends.short_questions import ask_each, question
from judge.base.errors import BackendError, DataError
from judge.base.records import Query, Response, Story
from judge.inputs.datasets.files.source_file import json_lines
from judge.inputs.perturbations.perturbation import rng_of
from judge.inputs.perturbations.sentences import protected, sentences, words

# Acceptance rules for paraphrases: similar in meaning, different in wording.

MOST_BLEU = 0.6
LEAST_COSINE = 0.8
LEAST_OVERLAP = 0.3
FEWEST_WORDS = 5
_LONG, _STEM = 4, 4
_SHORTER, _LONGER = 0.5, 2.0


def bleu_1(sentence: str, other: str) -> float:
    """BLEU-1 with `sentence` as reference: clipped precision of words, with brevity penalty."""
    reference, candidate = _words(sentence), _words(other)
    if not candidate:
        return 0.0
    counts = Counter(reference)
    hits = sum(min(count, counts[word]) for word, count in Counter(candidate).items())
    return (
        hits
        / len(candidate)
        * (1.0 if len(candidate) >= len(reference) else math.exp(1 - len(reference) / len(candidate)))
    )


def overlap(sentence: str, other: str) -> float:
    """Share of words of four letters or more whose first four also begin a word of `other`; 1 without such words."""
    long = {word[:_STEM] for word in _words(sentence) if len(word) >= _LONG}
    return len(long & {word[:_STEM] for word in _words(other)}) / len(long) if long else 1.0


def complaint(sentence: str, other: str) -> str | None:
    """Why `other` is no paraphrase by form and wording, regardless of meaning; None where accepted."""
    if len(sentences(other)) != 1 or "\n" in other:
        return "not one sentence"
    if Counter(_placeholders(sentence)) != Counter(_placeholders(other)):
        return "other placeholders"
    if not _SHORTER <= len(_words(other)) / max(1, len(_words(sentence))) <= _LONGER:
        return "of another length"
    return None if bleu_1(sentence, other) < MOST_BLEU else "too many of the same words"


def nearness(pairs: Sequence[tuple[str, str]], encoder: str | None) -> list[bool]:
    """Whether each pair is similar enough in meaning by the sentence encoder, None = by words."""
    if not pairs:
        return []
    if encoder is None:
        return [overlap(sentence, other) >= LEAST_OVERLAP for sentence, other in pairs]
    from judge.inputs.embedding import embed

    texts = [text for pair in pairs for text in pair]
    vectors = embed(texts, encoder, None).vectors
    return [bool(a @ b >= LEAST_COSINE) for a, b in zip(vectors[::2], vectors[1::2], strict=True)]


def _words(text: str) -> list[str]:
    return [text[start:end].lower() for start, end in words(text)]


def _placeholders(text: str) -> list[str]:
    return [text[start:end] for start, end in protected(text)]


# Paraphrases of sentences by a model. Each sentence is requested once, and the answers are kept in a file.

# Changes with what is asked.
FORM = 1

ASKED = (
    "Say the following sentence in other words. Keep its meaning, its tense, every name and every part in square "
    "brackets; change as many of the other words and as much of their order as you can. Write the new sentence and "
    "nothing else.\n\nSentence: {sentence}\n\nNew sentence:"
)
# Sentences asked about for each story: more than are needed, since some rewordings are not taken.
EACH = 4

_LONGEST = 80


class Rewriter:
    """Paraphrases of sentences requested from one model. `encoder` is the folder of the sentence encoder that compares
    meanings; None = words are compared."""

    def __init__(
        self, model: str, kept: Path, *, encoder: str | None = None, seed: int = 1, base_url: tuple[str, ...] = ()
    ) -> None:
        self.model, self.kept, self.encoder, self.seed = model, kept, encoder, seed
        self._base_url = base_url
        self._answers = dict(_stored(kept, model)) if kept.exists() else {}
        self._taken: dict[str, str] = {}
        self.asked = 0
        self.reasons: Counter[str] = Counter()
        """Why rewordings were not taken, or did not come."""

    def prepare(self, stories: Iterable[Story]) -> None:
        """Request paraphrases that are not stored, and keep those similar in meaning and different in wording."""
        chosen = dict.fromkeys(sentence for story in stories for sentence in self._chosen(story))
        missing = [sentence for sentence in chosen if sentence not in self._answers]
        if missing:
            asked = [question("rewording", ASKED.format(sentence=each), each, longest=_LONGEST) for each in missing]
            ask_each(self.model, asked, self._hear, base_url=self._base_url)
        self._look(chosen)

    def of(self, story: Story) -> Mapping[str, str]:
        """Accepted paraphrases of a story's sentences."""
        return {sentence: self._taken[sentence] for sentence in self._chosen(story) if sentence in self._taken}

    def _chosen(self, story: Story) -> list[str]:
        # At most `EACH` sentences, in a random order that depends only on the seed and the story.
        texts = [story.text[start:end] for start, end in sentences(story.text)]
        long = list(
            dict.fromkeys(text for text in texts if len(list(words(text))) >= FEWEST_WORDS and "\n" not in text)
        )
        rng: Random = rng_of(self.seed, "rewording", story.id)
        rng.shuffle(long)
        return long[:EACH]

    def _look(self, chosen: Iterable[str]) -> None:
        pairs = []
        for sentence in chosen:
            rewording = self._answers.get(sentence)
            if rewording is None:
                continue
            wrong = complaint(sentence, rewording)
            if wrong is None:
                pairs.append((sentence, rewording))
            else:
                self.reasons[wrong] += 1
        for (sentence, rewording), near in zip(pairs, nearness(pairs, self.encoder), strict=True):
            if near:
                self._taken[sentence] = rewording
            else:
                self.reasons["not near enough in meaning"] += 1

    def _hear(self, query: Query, answer: Response | BackendError) -> None:
        self.asked += 1
        if isinstance(answer, BackendError):
            self.reasons["no answer"] += 1
            return
        sentence, rewording = query.story.text, _sentence_of(answer)
        self._answers[sentence] = rewording
        line = {"rewriter": self.model, "form": FORM, "sentence": sentence, "text": rewording}
        try:
            # One line as soon as an answer arrives: an interrupted generation pays for no sentence twice.
            with self.kept.open("ab") as stream:
                stream.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}", file=self.kept) from error


def _sentence_of(response: Response) -> str:
    """The answer without "New sentence:" at the start and enclosing quotation marks."""
    text = response.text.strip().removeprefix("New sentence:").strip()
    return text[1:-1] if len(text) > 1 and text[0] in '"“' and text[-1] in '"”' else text


def _stored(path: Path, model: str) -> Iterable[tuple[str, str]]:
    for row, line in json_lines(path):
        if not isinstance(line, dict) or not {"rewriter", "form", "sentence", "text"} <= line.keys():
            raise DataError(
                "not a line of rewordings", file=path, row=row, hint="give another name, or delete the file"
            )
        if line["rewriter"] == model and line["form"] == FORM:
            yield line["sentence"], line["text"]
