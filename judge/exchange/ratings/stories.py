"""Data on stories, from a file of ratings and from the dataset with which it is joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.base.records import Story
from judge.base.wording import Advice
from judge.exchange.ratings.rows import FileRow
from judge.inputs.datasets import Dataset
from judge.ratings.ratings_table import PANEL

# Share of the file's stories that must be the dataset's: with fewer the dataset or the form of the ids is another.
LEAST_MATCHED = 0.5

_NAMED = 5
_FACTS = ("text", "system", "story_prompt", "reference")


@dataclass(slots=True)
class StoryFacts:
    """What a file and its dataset say about one story; None where not known. `row` is the file's first on it."""

    row: int
    text: str | None = None
    system: str | None = None
    story_prompt: str | None = None
    reference: str | None = None


@dataclass(slots=True)
class Joined:
    """The dataset's human ratings as rows of the ratings table, and notes on the join."""

    people: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def stories_of(rows: Sequence[FileRow], path: Path) -> dict[tuple[str, str], StoryFacts]:
    """Data on stories by (dataset, story), in the file's order; DataError where two rows contradict each other."""
    stories: dict[tuple[str, str], StoryFacts] = {}
    for row in rows:
        values = row.cells
        facts = stories.setdefault((values["dataset"], values["story"]), StoryFacts(row.number))
        given = {"text": row.text, "reference": row.reference}
        given |= {name: values[name] for name in ("system", "story_prompt")}
        for name, value in given.items():
            earlier = getattr(facts, name)
            if value is not None and earlier is not None and value != earlier:
                message = f"the {name} of story {values['story']!r} differs from an earlier row's"
                raise DataError(message, file=path, row=row.number, found=value)
            setattr(facts, name, earlier if value is None else value)
    return stories


def join(
    facts: Mapping[tuple[str, str], StoryFacts], dataset: Dataset, path: Path, criteria: set[str], *, people: bool
) -> Joined:
    """Complete `facts` in place from the dataset's stories with the same ids; gives the dataset's human ratings. With
    `people` the file has human ratings, the dataset's are left out, and a note says so. Raises DataError if fewer than
    half of the file's stories are in the dataset, or the two contradict each other."""
    wanted = {story: story_facts for (_, story), story_facts in facts.items()}
    joined = Joined()
    matched: set[str] = set()
    examples: list[str] = []
    total = 0
    rated: dict[str, None] = {}
    for story in dataset.stories():
        total += 1
        examples += [story.id] if len(examples) < _NAMED else []
        if story.id in wanted:
            matched.add(story.id)
            _complete(wanted[story.id], story, dataset, path)
            rated |= dict.fromkeys(rating.criterion for rating in story.ratings)
            if not people:
                joined.people += _people(story, dataset.name, path.stem)
    unmatched = [story for story in wanted if story not in matched]
    if len(matched) < LEAST_MATCHED * len(wanted):
        raise DataError(
            f"{len(matched)} of the file's {len(wanted)} stories are in {dataset.name} (at least half must be); "
            f"not in it: {_few(unmatched)}",
            file=path,
            hint=f"{dataset.name}'s ids look like {', '.join(map(repr, examples))}{_as_numbers(unmatched, examples)}",
        )
    joined.notes = [*_match_notes(dataset, len(matched), len(wanted), total, unmatched)]
    if people:
        joined.notes.append(f"people's ratings are the file's own; those of {dataset.name} were left out")
    elif rated and not criteria & rated.keys():
        joined.notes.append(
            f"no criterion of the file was rated by people in {dataset.name}: it has {', '.join(rated)}, the file "
            f"{', '.join(sorted(criteria))}"
        )
    return joined


def _match_notes(dataset: Dataset, matched: int, wanted: int, total: int, unmatched: Sequence[str]) -> list[str]:
    notes = [f"{matched:,} of the file's {wanted:,} stories were found by id among the {total:,} of {dataset.name}"]
    if unmatched:
        notes.append(f"nothing but their ratings is known of {len(unmatched)} stories: {_few(unmatched)}")
    return notes


def _complete(facts: StoryFacts, story: Story, dataset: Dataset, path: Path) -> None:
    for name in _FACTS:
        given, own = getattr(facts, name), getattr(story, name) or None
        if given is not None and own is not None and given != own:
            raise DataError(
                f"the {name} of story {story.id!r} is not that of {dataset.name} ({own[:60]!r})",
                file=path,
                row=facts.row,
                found=given,
                hint=Advice("{leave_out} takes the dataset's; or the ids are another dataset's", leave_out=name),
            )
        setattr(facts, name, own if given is None else given)


def _people(story: Story, dataset: str, run: str) -> list[dict[str, Any]]:
    cell = {"run": run, "dataset": dataset, "story": story.id, "source": "rater", "status": "ok"}
    return [
        cell | {"criterion": rating.criterion, "rater": rating.rater, PANEL: rating.panel, "rating": rating.value}
        for rating in story.ratings
    ]


def _few(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:_NAMED])) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _as_numbers(unmatched: Sequence[str], names: Sequence[str]) -> str:
    """Hint for the case that a program read the ids as numbers and wrote them as 1.0; else ""."""
    if unmatched and all(name.endswith(".0") for name in unmatched) and not any(name.endswith(".0") for name in names):
        return "; the file's were written as decimal numbers (in pandas: frame['story'].astype(int))"
    return ""
