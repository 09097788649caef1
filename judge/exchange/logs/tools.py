"""List of the tools whose logs of ratings or of preferences can be read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from judge.analysis.options.alternatives import option
from judge.asking.run_folder import ResultFolder, write_manifest
from judge.asking.run_folder.manifest import environment
from judge.base.errors import DataError, OptionError, SpecError, unknown_value
from judge.base.fingerprint import sha256_file
from judge.base.records import Criterion, Scale
from judge.base.wording import Advice
from judge.exchange.imported_folder import STORIES, replace_folder, said, write_folder
from judge.exchange.logs.as_import import log_record, read_logs, rows_of, untold_of
from judge.exchange.logs.comparisons import ALPACA_EVAL, LOSSES, MT_BENCH, LoggedStory, PreferenceRow
from judge.exchange.logs.evaluations import DEEPEVAL, LM_EVAL, PROMPTFOO
from judge.exchange.logs.fields import Judged, LogFacts, LogOptions, LogRow, Places, Tool
from judge.exchange.logs.inspect_log import INSPECT
from judge.exchange.logs.traces import LANGFUSE, MLFLOW, PHOENIX
from judge.exchange.reader import NotedWords, Reader, Say, TableWords, folder_for
from judge.inputs.datasets import Dataset
from judge.inputs.datasets.dataset import LabelScales, is_key, label_scales
from judge.ratings.preferences_table.journaled import COLUMNS, ORDER_UNKNOWN, read_imported
from judge.ratings.ratings_table.columns import StoryRow

# Writer of a result folder for imported preferences. What was written is checked with the reader of preferences
# tables.


@dataclass(frozen=True, slots=True)
class PreferencesImport:
    """Content of a result folder for imported preferences. `stories` has the columns `dataset, story, story_prompt,
    system, words, text`. `orders` is "both", or "not told" where the log does not record which was shown first. `log`:
    tool, identifying fields, missing data."""

    frame: pd.DataFrame
    stories: pd.DataFrame
    judge: str
    criteria: Sequence[Criterion]
    notes: Sequence[str]
    sources: Sequence[Path]
    orders: str
    log: Mapping[str, Any]


def write_preferences(path: Path, imported: PreferencesImport) -> ResultFolder:
    """Write the preferences, completely or not at all, in place of an earlier import. Raises RunFolderError where the
    folder has a journal or cannot be written."""

    def write(folder: ResultFolder) -> None:
        imported.frame.to_csv(folder.preferences, index=False, lineterminator="\n")
        imported.stories.to_csv(folder.path / STORIES, index=False, lineterminator="\n")
        manifest = {
            "judge": imported.judge,
            "criteria": [criterion.record() for criterion in imported.criteria],
            "notes": list(imported.notes),
            "orders": imported.orders,
            "sources": [{"file": source.name, "sha256": sha256_file(source)} for source in imported.sources],
            "log": dict(imported.log),
            "environment": environment(),
        }
        write_manifest(folder.manifest, manifest)
        read_imported(folder, {})

    return replace_folder(path, write)


# Readers of tools' logs: options as they are typed, turned into those of the conversion, and what is told of a log.

# Conversion of rows read from preference logs into imported preferences, with the stories compared and counts of lost
# preferences by kind.


def read_preferences(
    tool: Tool[PreferenceRow], files: Sequence[Path], name: str, criterion: str, notes: Sequence[str] = ()
) -> PreferencesImport:
    """Preferences on `criterion` from a tool's log files; `name` is that of dataset and run. Raises DataError where a
    file is not a log of the tool, and where a story's id has two different texts."""
    log_facts = LogFacts()
    rows = rows_of(tool, files, LogOptions(), log_facts)
    losses = Counter(row.loss for row in rows if row.loss is not None)
    untold = untold_of(log_facts, losses, LOSSES, "preference")
    imported = preferences_of(rows, files, name, criterion, [*notes, *untold], ordered=tool.orders == "both")
    return replace(imported, log=log_record(tool, log_facts, imported.notes[len(notes) :], losses))


def preferences_of(
    rows: Sequence[PreferenceRow],
    files: Sequence[Path],
    name: str,
    criterion: str,
    notes: Sequence[str],
    *,
    ordered: bool,
) -> PreferencesImport:
    """Preferences on `criterion` from rows; `ordered`: each row's first story was shown first. Raises DataError for no
    rows, and where a story's id has two different texts."""
    if not rows:
        raise DataError("holds no preferences", file=files[0])
    stories = _stories(rows, name, files[0])
    untold = []
    if not ordered:
        untold.append("the order in which texts were shown is not in the log: its effect cannot be computed")
    if stories["text"].isna().any():
        untold.append(f"the texts of {int(stories['text'].isna().sum()):,} stories are not in the log")
    return PreferencesImport(
        frame=_frame(rows, name, criterion, ordered=ordered),
        stories=stories,
        judge=", ".join(sorted({row.judge for row in rows if row.judge})) or "people only",
        criteria=(Criterion(criterion, criterion, ""),),
        notes=[*notes, *untold],
        sources=list(files),
        orders="both" if ordered else "not told",
        log={},
    )


def _stories(rows: Sequence[PreferenceRow], name: str, file: Path) -> pd.DataFrame:
    """One row per story, with the text from any row that has it; DataError where a story has two texts."""
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


def _frame(rows: Sequence[PreferenceRow], name: str, criterion: str, *, ordered: bool) -> pd.DataFrame:
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
            "criterion": criterion,
            "preference": row.preference,
            "status": LOSSES[row.loss][0] if row.loss else "imported",
            "flags": "" if row.loss is None else f"log_{row.loss}",
        }
        if row.judge is None:
            records.append(cells | {"source": "rater", "rater": row.rater})
            continue
        key = (row.judge, row.eval_prompt, first.id, other.id)
        own: dict[str, Any] = {
            "source": "judge",
            "run": name,
            "judge": row.judge,
            "eval_prompt": row.eval_prompt or "-",
        }
        if not ordered:
            cells["flags"] = ";".join(filter(None, [cells["flags"], ORDER_UNKNOWN]))
        if row.second_share is not None:
            own |= {"p_first": 1 - row.second_share, "p_second": row.second_share, "p_tie": 0.0}
        records.append(cells | own | {"repeat": done[key], "explanation": row.explanation})
        done[key] += 1
    return pd.DataFrame(records).reindex(columns=list(COLUMNS)).astype({"repeat": "Int64"})


_NUMBER = r"-?\d+(?:\.\d+)?"


@dataclass(frozen=True, kw_only=True)
class PreferenceWords(NotedWords):
    """Options of a reader of a tool's comparisons of two texts."""

    criterion: tuple[str, ...] = option(
        "name of a criterion, and its name in the log; of comparisons: what they are about (default: Overall)",
        default=(),
        metavar="NAME[=NAME_IN_LOG]",
    )


@dataclass(frozen=True, kw_only=True)
class LogWords(TableWords, PreferenceWords):
    """Options of a reader of a tool's scores."""

    scale: str | None = option("scale of numeric scores that have none in the criteria set", metavar="LOW-HIGH[:STEP]")
    rescale: str | None = option(
        "range of judges' scores (such as 0-1), mapped onto the criterion's scale", metavar="LOW-HIGH"
    )
    rescale_people: str | None = option("range LOW-HIGH of people's ratings, mapped onto the criterion's scale")


@dataclass(frozen=True, kw_only=True)
class JudgedWords(LogWords):
    """Options of a reader whose log's model wrote the texts that are judged, or is itself the judge."""

    judged: Judged | None = option("outputs that the log's model wrote, or inputs that it was shown")


def log_reader(tool: Tool[LogRow]) -> Reader:
    def read(files: Sequence[Path], words: LogWords, target: Path | None, say: Say) -> None:
        folder, dataset = folder_for(files, target), words.opened()
        imported = read_logs(tool, files, folder.name, _options(tool, words, dataset), dataset)
        for line in said(write_folder(folder, imported), imported):
            say(line)
        _identify(tool, imported.log or {}, say)

    words = JudgedWords if len(tool.judged) > 1 else LogWords
    return Reader(tool.name, tool.text, words, tool.fits, read)


def preference_reader(tool: Tool[PreferenceRow]) -> Reader:
    """The reader of a tool's comparisons."""

    def read(files: Sequence[Path], words: PreferenceWords, target: Path | None, say: Say) -> None:
        folder = folder_for(files, target)
        criterion, *others = words.criterion or ("Overall",)
        if others:
            raise SpecError(Advice("comparisons are about one criterion: {criterion}", criterion=criterion))
        imported = read_preferences(tool, files, folder.name, criterion, words.notes)
        path = written_preferences(folder, imported, say)
        _identify(tool, imported.log, say)
        say(f"next: judge rank {path}")

    return Reader(tool.name, tool.text, PreferenceWords, tool.fits, read)


def written_preferences(folder: Path, imported: PreferencesImport, say: Say) -> Path:
    """The folder that is written, after its numbers and notes were said."""
    path = write_preferences(folder, imported).path
    judged = int((imported.frame["source"] == "judge").sum())
    say(f"{path}: {judged} preferences by {imported.judge}, {len(imported.frame) - judged} by people")
    for sentence in imported.notes:
        say(f"· {sentence}")
    return path


def _identify(tool: Tool[LogRow] | Tool[PreferenceRow], log: Mapping[str, Any], say: Say) -> None:
    version = log.get("version")
    say(f"as {tool.name}{f' {version}' if version else ''} told it (read in tests: {tool.tried}):")
    for field, words in tool.identified.items():
        say(f"  {field}: {words}")


def _options(tool: Tool[LogRow], words: LogWords, dataset: Dataset | None) -> LogOptions:
    """Raises SpecError for words that are none."""
    judged = getattr(words, "judged", None) or tool.judged[0]
    if judged not in tool.judged:
        raise unknown_value("judged", judged, tool.judged)
    columns = words.column_map
    labels = dataset.labels if dataset is not None else LabelScales()
    for more in (label_scales(columns), LabelScales.of_criteria(words.known_criteria)):
        labels = labels.with_given(more, dataset.name if dataset is not None else "the log")
    return LogOptions(
        Places({key: path for key, path in columns.items() if not is_key(key)}),
        judged,
        words.known_criteria,
        labels,
        _scale(words.scale),
        _range("rescale", words.rescale),
        _range("rescale_people", words.rescale_people),
        names=_names(words.criterion),
        leave_out=words.left_out,
        notes=words.notes,
    )


def _range(field: str, text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    match = re.fullmatch(f"({_NUMBER})-({_NUMBER})", text)
    if match is None or not float(match[1]) < float(match[2]):
        raise OptionError(field, text, "is no range; write the lowest, a hyphen and the highest, such as 0-1")
    return float(match[1]), float(match[2])


def _scale(text: str | None) -> Scale | None:
    if text is None:
        return None
    ends, _, step = text.partition(":")
    low, high = _range("scale", ends) or (0.0, 0.0)
    if step and (not re.fullmatch(_NUMBER, step) or float(step) <= 0):
        raise OptionError("scale", text, "has a step that is no number above 0, such as 1-5:0.5")
    return Scale(low, high, float(step) if step else 1)


def _names(words: Sequence[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for word in words:
        own, _, logged = word.partition("=")
        if not own or not logged:
            hint = Advice("e.g. {criterion}", criterion="Coherence=coh")
            raise SpecError(Advice("{criterion} {!r} is not NAME=NAME_IN_LOG", word), hint=hint)
        names[logged] = own
    return names


TOOLS: dict[str, Tool[LogRow]] = {
    tool.name: tool for tool in (INSPECT, LM_EVAL, PROMPTFOO, DEEPEVAL, MLFLOW, PHOENIX, LANGFUSE)
}

PREFERENCE_TOOLS: dict[str, Tool[PreferenceRow]] = {tool.name: tool for tool in (ALPACA_EVAL, MT_BENCH)}

READERS = (*map(log_reader, TOOLS.values()), *map(preference_reader, PREFERENCE_TOOLS.values()))
