"""Reads Art or Artifice: 48 stories, fourteen yes/no tests of creativity, three of eleven experts for each story.

Each of twelve plots has one story from The New Yorker and three by language models. Dataset `ttcw` holds the models' 36
stories, `ttcw+newyorker` all 48. Of the magazine's, the release gives only addresses, so their text is empty here:
existing answers can be imported, but judges cannot be asked about them. A verdict is the code of its label: No 0, Yes
1. Experts are persons, named `expert 0` to `expert 10`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.base.records import Rating, Scale, Story
from judge.inputs.datasets.dataset import Dataset, LabelScales
from judge.inputs.datasets.files.source_file import check_count, read_json, text_value
from judge.inputs.datasets.locate import need
from judge.inputs.datasets.sources import FILES, LICENCES

TESTS, EXPERTS = 14, 3
STORIES, TEXTS, PLOTS = 48, 36, 12
LABELS = ("No", "Yes")
SCALE = Scale.of_labels(LABELS)
MAGAZINE = "NewYorker"
CITATION = (
    "Chakrabarty et al. 2024, Art or Artifice? Large Language Models and the False Promise of Creativity, "
    "CHI (arXiv 2309.14556)"
)
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
    stories, verdicts = (need(file, name) for file in FILES[name])
    whole = name == _ALL
    count = STORIES if whole else TEXTS
    return Dataset(
        name=name,
        files=(stories, verdicts),
        stories=partial(read_stories, stories, verdicts, whole=whole),
        rater_identity=True,
        citation=CITATION,
        licence_note=LICENCES[name],
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


def read_tests(path: Path) -> dict[int, Mapping[str, Any]]:
    """The fourteen tests by number, as released: `category`, `question`, `full_prompt`."""
    entries = _entries(path)
    check_count("tests", len(entries), TESTS, path)
    for row, entry in enumerate(entries, start=1):
        for key in ("category", "question", "full_prompt"):
            text_value(entry.get(key), path, row, key)
    return {int(entry["ttcw_idx"]): entry for entry in entries}


def _entries(path: Path) -> Sequence[dict[str, Any]]:
    content = read_json(path)
    if not isinstance(content, list) or not all(isinstance(entry, dict) for entry in content):
        raise DataError("not a list of objects", file=path, found=type(content).__name__)
    return content
