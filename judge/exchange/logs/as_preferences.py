"""Conversion of rows read from preference logs into imported preferences, with the stories compared and counts of lost
preferences by kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from judge.base.errors import DataError
from judge.base.foreign import reading
from judge.base.records import Criterion
from judge.exchange.imports.imported_preferences import PreferencesImport
from judge.exchange.logs.as_import import refuse_same
from judge.exchange.logs.preference_row import STATUS, WORDS, LoggedStory, PreferenceRow, PreferenceTool
from judge.exchange.logs.row import LogFacts
from judge.ratings.preferences_table.table import COLUMNS, ORDER_UNKNOWN
from judge.ratings.ratings_table.table import StoryRow


def read_preferences(
    tool: PreferenceTool, files: Sequence[Path], name: str, criterion: str, notes: Sequence[str] = ()
) -> PreferencesImport:
    """Preferences from log files of an evaluation tool, as imported preferences on `criterion`. `name` becomes the name
    of the dataset and of the run.

    Raises DataError where a file is not a log of the tool, and where a story's id has two different texts.
    """
    refuse_same(files)
    log_facts = LogFacts()
    rows: list[PreferenceRow] = []
    for file in files:
        with reading(file, f"a log of {tool.name}"):
            rows.extend(tool.read(file, criterion, log_facts))
    if not rows:
        raise DataError("holds no preferences", file=files[0])
    stories = _stories(rows, name, files[0])
    losses = Counter(row.loss for row in rows if row.loss is not None)
    untold = [f"{count:,}: {words}" if count > 1 else words for words, count in log_facts.untold.items()]
    for loss, count in losses.items():
        untold.append(f"{count:,} preference{'s' if count > 1 else ''} lost: {WORDS[loss]} ({loss})")
    if tool.orders != "both":
        untold.append("the order in which texts were shown is not in the log: its effect cannot be computed")
    if stories["text"].isna().any():
        untold.append(f"the texts of {int(stories['text'].isna().sum()):,} stories are not in the log")
    return PreferencesImport(
        frame=_frame(rows, name, tool),
        stories=stories,
        judge=", ".join(sorted({row.judge for row in rows if row.judge})) or "people only",
        criteria=(Criterion(criterion, criterion, ""),),
        notes=[*notes, *untold],
        sources=list(files),
        orders=tool.orders,
        log={
            "tool": tool.name,
            "version": log_facts.version,
            "read by its tests": tool.tried,
            "identified": dict(tool.identified),
            "not told": untold,
            "lost": {str(loss): count for loss, count in losses.most_common()},
        },
    )


def _stories(rows: Sequence[PreferenceRow], name: str, file: Path) -> pd.DataFrame:
    """One row for each story compared in a preference log, with the story's text from whichever of the log's rows has
    it; DataError where a story has two texts.
    """
    stories: dict[str, tuple[LoggedStory, str]] = {}
    for row in rows:
        for story in (row.first, row.second):
            earlier, prompt = stories.get(story.id, (story, row.story_prompt))
            if None not in (earlier.text, story.text) and earlier.text != story.text:
                raise DataError(f"story {story.id!r} has two texts", file=file, row=row.number, found=story.text)
            stories[story.id] = (earlier if earlier.text is not None else story, prompt)
    story_rows = [
        StoryRow(name, logged.id, prompt, logged.system, len((logged.text or "").split()), logged.text or "")
        for logged, prompt in stories.values()
    ]
    frame = pd.DataFrame(story_rows, columns=StoryRow._fields).astype({"words": "Int64"})
    unknown = frame["text"] == ""
    return frame.assign(words=frame["words"].mask(unknown), text=frame["text"].mask(unknown))


def _frame(rows: Sequence[PreferenceRow], name: str, tool: PreferenceTool) -> pd.DataFrame:
    records: list[dict[str, Any]] = []
    done: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        first, other = row.first, row.second
        cells: dict[str, Any] = {
            "dataset": name,
            "pair": "|".join(sorted((first.id, other.id))),
            "story_prompt": row.story_prompt,
            "first": first.id,
            "second": other.id,
            "first_system": first.system,
            "second_system": other.system,
            "criterion": row.criterion,
            "preference": row.preference,
            "status": STATUS[row.loss] if row.loss else "imported",
            "flags": "" if row.loss is None else f"log_{row.loss}",
        }
        if row.judge is None:
            records.append(cells | {"source": "rater", "rater": row.rater})
            continue
        key = (row.judge, row.eval_prompt, row.criterion, first.id, other.id)
        own: dict[str, Any] = {
            "source": "judge",
            "run": name,
            "judge": row.judge,
            "eval_prompt": row.eval_prompt or "-",
        }
        if tool.orders != "both":
            cells["flags"] = ";".join(filter(None, [cells["flags"], ORDER_UNKNOWN]))
        if row.second_share is not None:
            own |= {"p_first": 1 - row.second_share, "p_second": row.second_share, "p_tie": 0.0}
        records.append(cells | own | {"repeat": done[key], "explanation": row.explanation})
        done[key] += 1
    return pd.DataFrame(records).reindex(columns=list(COLUMNS)).astype({"repeat": "Int64"})
