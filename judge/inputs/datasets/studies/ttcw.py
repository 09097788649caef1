"""Reads Art or Artifice (Chakrabarty et al. 2024, CHI, arXiv 2309.14556): 48 stories, fourteen yes/no tests of
creativity, three of eleven experts for each story.

Each of twelve plots has one story from The New Yorker and three by language models. Dataset `ttcw` holds the models' 36
stories, `ttcw+newyorker` all 48. Of the magazine's, the release gives only addresses, so their text is empty here:
existing answers can be imported, but judges cannot be asked about them. A verdict is the code of its label: No 0, Yes
1. Experts are persons, named `expert 0` to `expert 10`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.base.late_pattern import late
from judge.base.records import Rating, Scale, Story
from judge.inputs.datasets.dataset import Dataset, LabelScales
from judge.inputs.datasets.files.source_file import check_count, json_lines, read_json, text_value
from judge.inputs.datasets.studies import released

TESTS, EXPERTS = 14, 3
STORIES, TEXTS, PLOTS = 48, 36, 12
LABELS = ("No", "Yes")
SCALE = Scale.of_labels(LABELS)
MAGAZINE = "NewYorker"
_TOLD, _ALL = "ttcw", "ttcw+newyorker"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One expert's verdict on a story in one test: the label's code (No 0, Yes 1)."""

    story: str
    test: str
    expert: str
    value: float
    explanation: str


def load(name: str) -> Dataset:
    whole = name == _ALL
    count = STORIES if whole else TEXTS
    return released(
        name,
        partial(read_stories, whole=whole),
        rater_identity=True,
        scale=SCALE,
        with_text=_TOLD if whole else None,
        labels=LabelScales(others=SCALE),
        expected={
            "stories": count,
            "systems": count // PLOTS,
            "story_prompts": PLOTS,
            "ratings": count * TESTS * EXPERTS,
        },
    )


def read_stories(stories: Path, verdicts: Path, *, whole: bool) -> Iterator[Story]:
    """The stories in the file's order, each with 42 verdicts (three experts, 14 tests). Without `whole`, only those
    with a text."""
    rated: dict[str, list[Rating]] = {}
    for verdict in read_verdicts(verdicts):
        rated.setdefault(verdict.story, []).append(Rating(verdict.test, verdict.value, verdict.expert))
    entries = _entries(stories)
    check_count("stories", len(entries), STORIES, stories)
    for row, entry in enumerate(entries, start=1):
        story = text_value(entry.get("story_id"), stories, row, "story_id")
        system = story.partition("_")[2]
        if not system:
            raise DataError("not PLOT_SYSTEM", file=stories, row=row, column="story_id", found=story)
        if not rated.get(story):
            raise DataError("nobody judged this story", file=verdicts, found=story)
        text = "" if system == MAGAZINE else text_value(entry.get("content"), stories, row, "content")
        plot = text_value(entry.get("plot"), stories, row, "plot")
        if text or whole:
            yield Story(story, plot, system, text, None, tuple(rated[story]))


def read_verdicts(path: Path) -> list[Verdict]:
    """The experts' 2,016 verdicts in the file's order. Raises DataError for another verdict than Yes or No, and for a
    duplicate."""
    verdicts: dict[tuple[str, str, str], Verdict] = {}
    for row, entry in enumerate(_entries(path), start=1):
        label = entry.get("binary_verdict")
        if label not in LABELS:
            allowed = " or ".join(LABELS)
            raise DataError("no verdict", file=path, row=row, column="binary_verdict", found=label, allowed=allowed)
        verdict = Verdict(
            story=text_value(entry.get("story_id"), path, row, "story_id"),
            test=text_value(entry.get("category"), path, row, "category"),
            expert=f"expert {entry.get('expert_idx')}",
            value=float(LABELS.index(label)),
            explanation=text_value(entry.get("explanation"), path, row, "explanation"),
        )
        key = (verdict.story, verdict.test, verdict.expert)
        if key in verdicts:
            raise DataError("the same verdict occurs twice", file=path, row=row, found=", ".join(key))
        verdicts[key] = verdict
    check_count("verdicts", len(verdicts), STORIES * TESTS * EXPERTS, path)
    return list(verdicts.values())


def _entries(path: Path) -> Sequence[dict[str, Any]]:
    content = read_json(path)
    if not isinstance(content, list) or not all(isinstance(entry, dict) for entry in content):
        raise DataError("not a list of objects", file=path, found=type(content).__name__)
    return content


# Reads models' answers to the fourteen tests of Art or Artifice: JSON Lines of `id` (`story_0_Claude_test3` is test 3
# on story `0_Claude`) and `response`. One that is null, empty, or "Content Blocked" (by the provider's filter) does
# not count as "No".

_ID = late(r"story_(?P<story>.+)_test(?P<test>[0-9]{1,3})")
_BLOCKED = "content blocked"


@dataclass(frozen=True, slots=True)
class TestAnswer:
    """One answer of a language model to a test; `text` is None if it is missing."""

    story: str
    test: int
    text: str | None

    @property
    def blocked(self) -> bool:
        """Whether the text is only the note that the provider's filter blocked the request."""
        return self.text is not None and self.text.strip().casefold() == _BLOCKED


def is_id(name: object) -> bool:
    """Whether a value names a story and a test of Art or Artifice."""
    return isinstance(name, str) and _ID.fullmatch(name) is not None


def read_answers(path: Path) -> Iterator[TestAnswer]:
    """Every answer in the file's order. Raises DataError for another format, and for a duplicate."""
    seen: set[str] = set()
    for row, entry in json_lines(path):
        name = entry.get("id") if isinstance(entry, dict) else None
        match = _ID.fullmatch(name) if isinstance(name, str) else None
        if match is None:
            raise DataError("no id", file=path, row=row, column="id", found=name, allowed="story_STORY_testNUMBER")
        if match[0] in seen:
            raise DataError("the same answer occurs twice", file=path, row=row, column="id", found=match[0])
        seen.add(match[0])
        text = entry.get("response")
        if text is not None and not isinstance(text, str):
            raise DataError("an answer that is not a text", file=path, row=row, column="response", found=text)
        yield TestAnswer(match["story"], int(match["test"]), text)
