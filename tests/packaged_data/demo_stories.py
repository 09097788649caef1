"""Makes the packaged demo set: twelve originals, three mechanical damages of each, labels by rule. Never asks anyone.

`python -m tests.packaged_data.demo_stories` rewrites `judge/inputs/datasets/demo_stories.jsonl` from
`demo_originals.yaml`, which lies beside this file; the result is the same on every machine.

**The labels are by construction.** An original's label is the grade its author gave it; a damaged version's label is
that grade minus a fixed deduction for the damage and the criterion (`DEDUCTIONS`), and never below 1. No reader has
rated these stories: `judge.inputs.datasets.studies.LABELS_NOTE` stands wherever the labels are printed.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from judge.base.errors import DataError
from judge.base.files import package_file
from judge.inputs.datasets.studies import LABELS_NOTE

ORIGINALS = Path(__file__).with_name("demo_originals.yaml")

RATER = "construction"
SEED = 20
CRITERIA = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")
SYSTEMS = ("original", "looped", "shuffled", "spliced")
LOWEST, HIGHEST = 1, 5

DEDUCTIONS: dict[str, dict[str, int]] = {
    "original": dict.fromkeys(CRITERIA, 0),
    # the opening stays on its prompt, but the story stops there: no development and no ending
    "looped": {"Relevance": 1, "Coherence": 2, "Empathy": 2, "Surprise": 2, "Engagement": 2, "Complexity": 2},
    # everything is still there, in an order in which it cannot be followed
    "shuffled": {"Relevance": 0, "Coherence": 3, "Empathy": 1, "Surprise": 1, "Engagement": 2, "Complexity": 0},
    # two halves, each in order, that have nothing to do with each other; the ending is unforeseen, if for no reason
    "spliced": {"Relevance": 2, "Coherence": 2, "Empathy": 1, "Surprise": 0, "Engagement": 1, "Complexity": 1},
}
"""Points taken off the original's grade, by system and criterion."""

_ABBREVIATIONS = ("mr.", "mrs.", "ms.", "dr.", "st.", "prof.", "capt.", "sgt.", "no.", "vs.", "etc.", "e.g.", "i.e.")
_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)\]]*\s+")
_SENTENCE_START = re.compile(r"[\"'“‘(\[]*[A-Z0-9]")
_SPEECH_TAG = re.compile(
    r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)? "
    r"(?:said|says|asked|asks|called|cried|shouted|replied|answered|whispered|murmured|told|added)\b"
)


@dataclass(frozen=True, slots=True)
class Original:
    """One story of `demo_originals.yaml`: `grades` holds the author's grade, 1-5, of every criterion."""

    id: str
    genre: str
    execution: str
    story_prompt: str
    grades: dict[str, int]
    text: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, and whether a paragraph begins with it."""

    text: str
    begins: bool


def split_sentences(paragraph: str) -> list[str]:
    """The sentences of one paragraph, in order; joined by single spaces they give it back.

    A speech in double quotes is never cut, however many sentences it holds, and what follows a question or a shout
    stays with it where it only says who spoke (`"Who?" she asked.`, `"Stop!" Mary cried.`). Abbreviations (Mr.) and
    single initials do not end a sentence.
    """
    paragraph = " ".join(paragraph.split())
    sentences: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(paragraph):
        sentence, rest = paragraph[start : match.end()].strip(), paragraph[match.end() :]
        if _is_whole(sentence, rest):
            sentences.append(sentence)
            start = match.end()
    if paragraph[start:]:
        sentences.append(paragraph[start:])
    return sentences


def _is_whole(sentence: str, rest: str) -> bool:
    if sentence.count('"') % 2 or sentence.count("“") > sentence.count("”"):
        return False
    if not _SENTENCE_START.match(rest):
        return False
    if sentence[-1] in "\"”'’" and _SPEECH_TAG.match(rest):
        return False
    last = sentence.rsplit(maxsplit=1)[-1].lstrip("\"'“‘([")
    return last.lower() not in _ABBREVIATIONS and not re.fullmatch(r"[A-HJ-Z]\.", last)


def sentences_of(text: str) -> list[Sentence]:
    """All sentences of a text whose paragraphs are separated by line ends."""
    return [
        Sentence(sentence, begins=number == 0)
        for paragraph in text.splitlines()
        for number, sentence in enumerate(split_sentences(paragraph))
    ]


def text_of(sentences: list[Sentence]) -> str:
    """The text again: paragraphs separated by an empty line."""
    parts = [("\n\n" if sentence.begins else " ") + sentence.text for sentence in sentences]
    return "".join(parts).strip()


def count_words(text: str) -> int:
    """Words, counted at white space."""
    return len(text.split())


def looped(text: str) -> str:
    """The first third of the sentences, the last of which then repeat in turn until the length is about the original's.

    What repeats are the last two sentences of that third, and as many before them as it takes to make 20 words.
    """
    sentences = sentences_of(text)
    opening = max(3, len(sentences) // 3)
    first = opening - 2
    while first > 0 and sum(count_words(sentence.text) for sentence in sentences[first:opening]) < 20:
        first -= 1
    turn, kept = sentences[first:opening], sentences[:opening]
    words, target = sum(count_words(sentence.text) for sentence in kept), count_words(text)
    while True:
        following = turn[(len(kept) - opening) % len(turn)].text
        size = count_words(following)
        if words + size / 2 > target:
            return text_of(kept)
        # paragraphs keep beginning where they began in the original, so that the look of the page gives nothing away
        begins = len(kept) < len(sentences) and sentences[len(kept)].begins
        kept.append(Sentence(following, begins))
        words += size


def shuffled(text: str, rng: random.Random) -> str:
    """The same sentences in another order, in paragraphs of the original sizes.

    Drawn again until no sentence stands behind the one it stood behind, so that no passage survives.
    """
    sentences = sentences_of(text)
    while True:
        # sorting by random() and not shuffle(): only random() is promised to be the same in every Python version
        keys = [rng.random() for _ in sentences]
        order = sorted(range(len(sentences)), key=keys.__getitem__)
        if all(after != before + 1 for before, after in pairwise(order)):
            return text_of([Sentence(sentences[old].text, sentences[new].begins) for new, old in enumerate(order)])


def spliced(text: str, other: str) -> str:
    """The first half of `text`, then the second half of `other`; both cut at the sentence end nearest the middle."""
    first, second = sentences_of(text), sentences_of(other)
    return text_of(first[: _middle(first)] + second[_middle(second) :])


def _middle(sentences: list[Sentence]) -> int:
    words = [count_words(sentence.text) for sentence in sentences]
    return min(range(1, len(words)), key=lambda cut: abs(sum(words[:cut]) - sum(words[cut:])))


def splice_partners(ids: list[str], seed: int = SEED) -> dict[str, str]:
    """For every id another one: the next in one drawn ring, so nobody is its own partner and each is used once."""
    rng = random.Random(f"{seed}:ring")
    keys = {name: rng.random() for name in ids}
    ring = sorted(ids, key=keys.__getitem__)
    return {name: ring[(place + 1) % len(ring)] for place, name in enumerate(ring)}


def label(grade: int, system: str, criterion: str) -> int:
    """The label by construction: the original's grade minus the deduction, and never below the scale's lowest point."""
    return max(LOWEST, grade - DEDUCTIONS[system][criterion])


def read_originals(file: Path = ORIGINALS) -> list[Original]:
    """The originals in file order.

    Raises
    ------
    DataError
        A story has a missing, empty or unknown key, an id that occurred before, or a grade that is not a whole number
        from 1 to 5; or the grades are not of exactly the six criteria.
    """
    entries = yaml.safe_load(file.read_text(encoding="utf-8"))
    if not isinstance(entries, list):
        raise DataError("the file is not a list of stories", file=file)
    originals: list[Original] = []
    for row, entry in enumerate(entries, start=1):
        original = _original(entry, file, row)
        if any(original.id == earlier.id for earlier in originals):
            raise DataError("the id occurred before", file=file, row=row, column="id", found=original.id)
        originals.append(original)
    return originals


def _original(entry: object, file: Path, row: int) -> Original:
    keys = ("id", "genre", "execution", "story_prompt", "grades", "text")
    if not isinstance(entry, dict) or set(entry) != set(keys):
        found = sorted(map(str, entry)) if isinstance(entry, dict) else entry
        raise DataError("a story has other keys", file=file, row=row, found=found, allowed=", ".join(keys))
    for key in keys:
        if key != "grades" and not (isinstance(entry[key], str) and entry[key].strip()):
            raise DataError("not a text", file=file, row=row, column=key, found=entry[key])
    grades = entry["grades"]
    if not isinstance(grades, dict) or tuple(grades) != CRITERIA:
        raise DataError(
            "other criteria", file=file, row=row, column="grades", found=grades, allowed=", ".join(CRITERIA)
        )
    for criterion, grade in grades.items():
        if type(grade) is not int or not LOWEST <= grade <= HIGHEST:
            raise DataError("not a grade", file=file, row=row, column=criterion, found=grade, allowed="1, 2, 3, 4, 5")
    # one form of white space, so that an original differs from its damages by its sentences alone
    return Original(**{**entry, "text": text_of(sentences_of(entry["text"]))})


def build(originals: list[Original], seed: int = SEED) -> list[dict[str, Any]]:
    """All stories in native form: for every original its four systems, in the order of `SYSTEMS`."""
    by_id = {original.id: original for original in originals}
    partners = splice_partners(list(by_id), seed)
    stories: list[dict[str, Any]] = []
    for original in originals:
        texts = {
            "original": original.text,
            "looped": looped(original.text),
            "shuffled": shuffled(original.text, random.Random(f"{seed}:shuffled:{original.id}")),
            "spliced": spliced(original.text, by_id[partners[original.id]].text),
        }
        for system in SYSTEMS:
            ratings = [
                {"rater": RATER, "criterion": criterion, "value": label(original.grades[criterion], system, criterion)}
                for criterion in CRITERIA
            ]
            story = {"id": f"{original.id}-{system}", "story_prompt": original.story_prompt, "system": system}
            stories.append({**story, "text": texts[system], "reference": original.text, "ratings": ratings})
    return stories


def as_jsonl(stories: list[dict[str, Any]]) -> str:
    """One story a line, as the shipped file holds them."""
    return "".join(json.dumps(story, ensure_ascii=False) + "\n" for story in stories)


def main() -> None:
    """Rewrite the shipped file and say what it holds."""
    stories = build(read_originals())
    file = package_file("inputs", "datasets", "demo_stories.jsonl")
    file.write_text(as_jsonl(stories), encoding="utf-8", newline="\n")
    print(f"{file}: {len(stories)} stories; {LABELS_NOTE}")


if __name__ == "__main__":
    main()
