"""Reader of ratings from a table file of the user, in any supported file format. Columns are named, not guessed.

The file can have the columns of the ratings table and, for the stories, `text` and `reference`. `story`, `criterion`
and `rating` are required. A row without a rating needs a `status` that says why. A column map gives other names:
`{"story": "id", "judge": "=gpt-4"}`, where `=` precedes a constant. Its key `ratings.CRITERION` gives the column with
the row's ratings on one criterion, `people.CRITERION` that with human ratings of the row's story, and
`judges.CRITERION` one for each of several judges (`gpt:gpt_score,claude:claude_score`). With `*` for CRITERION, the
row's own criterion is used. `judges` lists the names in the column of raters that are judges. `{"story": "=row"}`
numbers stories by rows. Several ratings by a judge in a cell are repeats. Where a criterion has labels, a cell holds
the label, in any case, or its code; a column `label` may be added or replace codes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from judge.base.errors import DataError
from judge.base.records import STATUSES, Criterion, Scale, Story
from judge.base.wording import Advice, few
from judge.exchange.imported_folder import Import
from judge.exchange.quick_rows import quick_rows
from judge.exchange.ratings_rows import LINE, FileRow, RatingsMap, file_rows, ratings_map
from judge.inputs.datasets import Dataset
from judge.inputs.datasets.dataset import LabelScales
from judge.ratings.ratings_table import COLUMNS, PANEL
from judge.ratings.ratings_table.columns import ordered, without_empty

# Data on stories, from a file of ratings and from the dataset with which it is joined.

# Share of the file's stories that must be the dataset's: with fewer the dataset or the form of the ids is another.
LEAST_MATCHED = 0.5

_STORIES_NAMED = 5
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
        examples += [story.id] if len(examples) < _STORIES_NAMED else []
        if story.id in wanted:
            matched.add(story.id)
            _complete(wanted[story.id], story, dataset, path)
            rated |= dict.fromkeys(rating.criterion for rating in story.ratings)
            if not people:
                joined.people += _people(story, dataset.name, path.stem)
    unmatched = [story for story in wanted if story not in matched]
    named = few([*map(repr, unmatched)], _STORIES_NAMED)
    if len(matched) < LEAST_MATCHED * len(wanted):
        raise DataError(
            f"{len(matched)} of the file's {len(wanted)} stories are in {dataset.name} (at least half must be); "
            f"not in it: {named}",
            file=path,
            hint=f"{dataset.name}'s ids look like {', '.join(map(repr, examples))}{_as_numbers(unmatched, examples)}",
        )
    joined.notes.append(
        f"{len(matched):,} of the file's {len(wanted):,} stories were found by id among the {total:,} of {dataset.name}"
    )
    if unmatched:
        joined.notes.append(f"nothing but their ratings is known of {len(unmatched)} stories: {named}")
    if people:
        joined.notes.append(f"people's ratings are the file's own; those of {dataset.name} were left out")
    elif rated and not criteria & rated.keys():
        joined.notes.append(
            f"no criterion of the file was rated by people in {dataset.name}: it has {', '.join(rated)}, the file "
            f"{', '.join(sorted(criteria))}"
        )
    return joined


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


def _as_numbers(unmatched: Sequence[str], names: Sequence[str]) -> str:
    """Hint for the case that a program read the ids as numbers and wrote them as 1.0; else ""."""
    if unmatched and all(name.endswith(".0") for name in unmatched) and not any(name.endswith(".0") for name in names):
        return "; the file's were written as decimal numbers (in pandas: frame['story'].astype(int))"
    return ""


# Handling of several rows that hold a rating of the same thing: repeats if they are numbered, otherwise an error.

# Pairs of rows named in a message.
_NAMED = 3


def _key(row: FileRow) -> tuple[Any, ...]:
    """Rows that are repeats of each other have the same key."""
    return tuple(row.cells[name] for name in ("run", "dataset", "judge", "eval_prompt", "story", "criterion"))


def number(rows: Sequence[FileRow], path: Path) -> None:
    """Number the repeats of each judge's query in place, in the file's order; DataError where they are numbered."""
    counts: dict[tuple[Any, ...], int] = {}
    for row in rows:
        if row.cells["source"] != "judge":
            continue
        if row.cells["repeat"] is not None:
            hint = Advice("leave out {number_repeats}")
            raise DataError("the file numbers its repeats", file=path, row=row.number, hint=hint)
        row.cells["repeat"] = counts[_key(row)] = counts.get(_key(row), -1) + 1


def refuse_twice(rows: Sequence[FileRow], path: Path) -> None:
    """Raise DataError for duplicate ratings by a judge or a named rater."""
    judged = [row for row in rows if row.cells["source"] == "judge"]
    pairs = _pairs(judged, lambda row: (*_key(row), row.cells["repeat"]))
    if pairs:
        row = pairs[0][1]
        asked = f"judge {row.cells['judge']!r}" + (
            f", Eval-Prompt {row.cells['eval_prompt']}" if row.cells["eval_prompt"] != "-" else ""
        )
        if row.cells["repeat"] is None:
            numbered = Advice(
                "repeated answers are numbered in a column repeat, or by {number_repeats} in the file's order; of rows "
                "that say the same, delete all but one",
                number_repeats=True,
            )
            raise DataError(_repeated_sentence(pairs, asked, "", "judges' ratings"), file=path, hint=numbered)
        hint = "number the repeats of one story and criterion 0, 1, 2, ..., or delete all rows but one"
        raise DataError(
            _repeated_sentence(pairs, asked, f" in repeat {row.cells['repeat']}", "judges' ratings"),
            file=path,
            hint=hint,
        )
    named = [row for row in rows if row.cells["source"] == "rater" and row.cells["rater"] is not None]
    pairs = _pairs(
        named, lambda row: tuple(row.cells[name] for name in ("dataset", "rater", PANEL, "story", "criterion"))
    )
    if pairs:
        asked = f"rater {pairs[0][1].cells['rater']!r}"
        hint = "delete all rows but one; where the column does not name persons, leave it out"
        raise DataError(_repeated_sentence(pairs, asked, "", "people's ratings"), file=path, hint=hint)


def _pairs(rows: Sequence[FileRow], key: Callable[[FileRow], tuple[Any, ...]]) -> list[tuple[FileRow, FileRow]]:
    """(first row, later row) for every row with the same key as an earlier row."""
    first: dict[tuple[Any, ...], FileRow] = {}
    return [(first[key(row)], row) for row in rows if first.setdefault(key(row), row) is not row]


def _repeated_sentence(pairs: Sequence[tuple[FileRow, FileRow]], who: str, repeat: str, rows_name: str) -> str:
    first, second = pairs[0]
    story, criterion = second.cells["story"], second.cells["criterion"]
    sentence = f"rows {first.number} and {second.number}: {who} rates story {story!r} on {criterion} twice{repeat}"
    if len(pairs) > 1:
        more = ", ".join(f"{a.number} and {b.number}" for a, b in pairs[1:_NAMED])
        rest = ", ..." if len(pairs) > _NAMED else ""
        sentence += f"; {len(pairs)} of the {rows_name} occur twice, also in rows {more}{rest}"
    return sentence


def read_ratings(
    path: Path,
    *,
    dataset: str | Dataset | None = None,
    criteria: Sequence[Criterion] = (),
    notes: Sequence[str] = (),
    columns: Mapping[str, Any] | None = None,
    leave_out: Sequence[str] = (),
    number_repeats: bool = False,
    unrated: str | None = None,
    ratings: Literal["single", "means"] | None = None,
) -> Import:
    """Ratings in a table file, with every column of the ratings table, and its data on the stories.

    `dataset` names the dataset where the file does not (default: the file's name); a Dataset adds its stories and human
    ratings by the story's id. `criteria` give scales: ratings outside become rows with status `out_of_scale`; other
    criteria stay unchecked. `columns` maps a field to a column. With `number_repeats`, rows with the same judge,
    Eval-Prompt, story and criterion are repeats. `unrated` is the status of rows with neither rating nor status.
    Without `ratings`, those that are all points of the scale count as single. Raises DataError for missing or unknown
    columns, a rating that is not a number, a row with neither rating nor status, a duplicate rating, contradictory data
    on a story, or fewer than half of the stories in the dataset."""
    chosen = _with_labels(ratings_map(path, columns or {}, leave_out), dataset, criteria, path)
    name = dataset if isinstance(dataset, str) else dataset.name if dataset is not None else None
    quick = None if number_repeats or isinstance(dataset, Dataset) else quick_rows(path, chosen, name, unrated)
    if quick is not None:
        told_of = quick.stories.reindex(columns=["dataset", "story", *_FACTS])
        facts = {
            (str(name), str(story)): StoryFacts(0, *map(_told, values))
            for name, story, *values in zip(*(told_of[column] for column in told_of), strict=True)
        }
        del told_of
        judge = ", ".join(sorted(map(str, quick.frame["judge"].dropna().unique()))) or "people only"
        told = [*notes, *_passed_over(chosen, leave_out)]
        asked = _asked(dataset, chosen, columns or {})
        return _import(quick.frame, facts, path, judge, criteria, told, ratings=ratings, asked=asked)
    rows = file_rows(path, chosen, dataset=name, unrated=unrated, repeats=number_repeats)
    _check_status(rows, path)
    if number_repeats:
        number(rows, path)
    names = dict.fromkeys(str(row.cells["criterion"]) for row in rows)
    by_name = {name: _criterion(name, scale) for name in names if (scale := chosen.labels.of(name)) is not None}
    by_name |= {criterion.name: criterion for criterion in criteria}
    return import_rows(
        rows,
        path,
        dataset=dataset if isinstance(dataset, Dataset) else None,
        criteria=list(by_name.values()),
        notes=[*notes, *_passed_over(chosen, leave_out)],
        ratings=ratings,
        asked=_asked(dataset, chosen, columns or {}),
    )


def import_rows(
    rows: Sequence[FileRow],
    path: Path,
    *,
    dataset: Dataset | None,
    criteria: Sequence[Criterion],
    notes: Sequence[str],
    ratings: Literal["single", "means"] | None,
    asked: Mapping[str, Any],
) -> Import:
    """Ratings from a file's rows, joined with the dataset's stories and compared with the criteria's scales. `asked`
    holds the options to be stored. Raises DataError for a duplicate rating, for contradictory data on a story, and
    where the dataset has too few of the stories' ids."""
    refuse_twice(rows, path)
    facts = stories_of(rows, path)
    judged, people = ([row.cells for row in rows if row.cells["source"] == source] for source in ("judge", "rater"))
    story_notes: list[str] = []
    if dataset is not None:
        joined = join(facts, dataset, path, {str(row.cells["criterion"]) for row in rows}, people=bool(people))
        people += joined.people
        story_notes = joined.notes
    frame = _frame(judged + people)
    judge = ", ".join(sorted({str(cells["judge"]) for cells in judged})) or "people only"
    return _import(
        frame, facts, path, judge, criteria, [*notes, *story_notes], ratings=ratings, asked=asked, dataset=dataset
    )


def _told(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _import(
    frame: pd.DataFrame,
    facts: Mapping[tuple[str, str], StoryFacts],
    path: Path,
    judge: str,
    criteria: Sequence[Criterion],
    notes: Sequence[str],
    *,
    ratings: Literal["single", "means"] | None,
    asked: Mapping[str, Any],
    dataset: Dataset | None = None,
) -> Import:
    frame["system"] = _of_stories(frame, {key: story.system or "-" for key, story in facts.items()})
    frame["story_prompt"] = _of_stories(frame, {key: story.story_prompt for key, story in facts.items()})
    labels_note = dataset.labels_note if dataset is not None else None
    by_name = {criterion.name: criterion for criterion in criteria}
    if dataset is not None:
        of_dataset = ((str(name), dataset.labels.of(str(name))) for name in pd.unique(frame["criterion"]))
        by_name = {name: _criterion(name, scale) for name, scale in of_dataset if scale is not None} | by_name
    names = [str(name) for name in pd.unique(frame["criterion"])]
    off = _off_scale(frame, by_name)
    return Import(
        frame=frame,
        judge=judge,
        criteria=[by_name[name] for name in names if name in by_name],
        notes=[*notes, *filter(None, [labels_note]), *off],
        sources=[path],
        stories=_story_table(facts),
        asked=asked,
        ratings=ratings,
        labels_note=labels_note,
    )


def _with_labels(
    chosen: RatingsMap, dataset: str | Dataset | None, criteria: Sequence[Criterion], path: Path
) -> RatingsMap:
    labels, owner = (dataset.labels, dataset.name) if isinstance(dataset, Dataset) else (LabelScales(), path.name)
    for more in (chosen.labels, LabelScales.of_criteria(criteria)):
        labels = labels.with_given(more, owner)
    return replace(chosen, labels=labels)


def _criterion(name: str, scale: Scale) -> Criterion:
    return Criterion(name, name, "", scale)


def _passed_over(chosen: RatingsMap, leave_out: Sequence[str]) -> list[str]:
    """A note on columns of answers' files that are in no ratings table and that nobody asked to leave out."""
    columns = [name for name in chosen.left_out if name not in leave_out and name != LINE]
    return [f"columns of the answers' file that are left out: {', '.join(columns)}"] if columns else []


def _asked(dataset: str | Dataset | None, chosen: RatingsMap, columns: Mapping[str, Any]) -> dict[str, Any]:
    joined = {"dataset": dataset.name, "dataset_hash": dataset.fingerprint()} if isinstance(dataset, Dataset) else {}
    asked: dict[str, Any] = {"columns": dict(columns), "left_out": list(chosen.left_out), **joined}
    return {key: value for key, value in asked.items() if value}


def _check_status(rows: Sequence[FileRow], path: Path) -> None:
    for row in rows:
        status, rating = row.cells["status"], row.cells["rating"]
        if status not in STATUSES:
            allowed = ", ".join(STATUSES)
            raise DataError("unknown status", file=path, row=row.number, found=status, allowed=allowed)
        if rating is not None and status not in ("ok", "imported"):
            message = "the row has a rating, but its status says that there is none"
            raise DataError(message, file=path, row=row.number, found=status, allowed="ok, imported")
        if rating is None and status in ("ok", "imported"):
            message = "the row has no rating, but its status says that there is one"
            allowed = ", ".join(name for name in STATUSES if name not in ("ok", "imported"))
            raise DataError(message, file=path, row=row.number, found=status, allowed=allowed)


def _of_stories(frame: pd.DataFrame, told: Mapping[tuple[str, str], str | None]) -> Any:
    """What is told of each row's story; of categorical stories each text is kept once."""
    if not isinstance(frame["story"].dtype, pd.CategoricalDtype):
        return [told[key] for key in zip(frame["dataset"], frame["story"], strict=True)]
    datasets, stories = (list(map(str, frame[name].cat.categories)) for name in ("dataset", "story"))
    both = frame["dataset"].cat.codes.to_numpy(np.int64) * len(stories) + frame["story"].cat.codes.to_numpy(np.int64)
    places, row_place = np.unique(both, return_inverse=True)
    texts = [told[datasets[place // len(stories)], stories[place % len(stories)]] for place in places]
    each = pd.Categorical(texts)
    return pd.Categorical.from_codes(each.codes[row_place], dtype=each.dtype)


def _frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    frame = without_empty(pd.DataFrame(list(rows), columns=[*COLUMNS, PANEL]))
    frame = frame[ordered(frame.columns)]
    frame["rating"] = frame["rating"].astype(np.float64)
    frame["repeat"] = frame["repeat"].astype("Int64")
    return frame


def _story_table(facts: Mapping[tuple[str, str], StoryFacts]) -> pd.DataFrame | None:
    """One row per story with a text; None where no story has one."""
    rows = [
        {
            "dataset": dataset,
            "story": story,
            "words": len(story_facts.text.split()),
            "text": story_facts.text,
            "reference": story_facts.reference,
        }
        for (dataset, story), story_facts in facts.items()
        if story_facts.text is not None
    ]
    return pd.DataFrame(rows) if rows else None


def _off_scale(frame: pd.DataFrame, criteria: Mapping[str, Criterion]) -> list[str]:
    low = frame["criterion"].map({name: c.scale.min for name, c in criteria.items()}).astype(np.float64)
    high = frame["criterion"].map({name: c.scale.max for name, c in criteria.items()}).astype(np.float64)
    off = (frame["source"] == "judge") & ((frame["rating"] < low) | (frame["rating"] > high))
    # A mean of labels without an order is none of them.
    loose = [name for name, c in criteria.items() if c.scale.labels and not c.scale.numeric]
    off |= (frame["source"] == "judge") & frame["criterion"].isin(loose) & (frame["rating"] % 1 > 0)
    if not off.any():
        return []
    frame.loc[off, "rating"] = math.nan
    frame.loc[off, "status"] = "out_of_scale"
    return [f"{int(off.sum())} judges' ratings lie off their criterion's scale and count as missing"]
