"""Readers of tools' logs: options as they are typed, turned into those of the conversion, and what is told of a log."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.analysis.options.alternatives import option
from judge.base.errors import OptionError, SpecError, unknown_value
from judge.base.records import Scale
from judge.base.wording import Advice
from judge.exchange.imports.imported_folder import said, write_folder
from judge.exchange.imports.imported_preferences import write_preferences
from judge.exchange.logs.as_import import LogOptions, read_logs
from judge.exchange.logs.as_preferences import read_preferences
from judge.exchange.logs.asked import Asked, Judged, Tool
from judge.exchange.logs.places import Places
from judge.exchange.logs.preference_row import PreferenceTool
from judge.exchange.logs.values import Scaling
from judge.exchange.reader.reader import Reader, Say, folder_for
from judge.exchange.reader.table_words import NotedWords, TableWords
from judge.inputs.datasets import Dataset
from judge.inputs.datasets.label_scales import LabelScales, is_key, label_scales

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


def log_reader(tool: Tool) -> Reader:
    """The reader of a tool's scores."""

    def read(files: Sequence[Path], words: LogWords, target: Path | None, say: Say) -> None:
        folder, dataset = folder_for(files, target), words.opened()
        imported = read_logs(tool, files, folder.name, _options(tool, words, dataset), dataset)
        for line in said(write_folder(folder, imported), imported):
            say(line)
        _identify(tool, imported.log or {}, say)

    words = JudgedWords if len(tool.judged) > 1 else LogWords
    return Reader(tool.name, tool.text, words, tool.fits, read)


def preference_reader(tool: PreferenceTool) -> Reader:
    """The reader of a tool's comparisons."""

    def read(files: Sequence[Path], words: PreferenceWords, target: Path | None, say: Say) -> None:
        folder = folder_for(files, target)
        criterion, *others = words.criterion or ("Overall",)
        if others:
            raise SpecError(Advice("comparisons are about one criterion: {criterion}", criterion=criterion))
        imported = read_preferences(tool, files, folder.name, criterion, words.notes)
        path = write_preferences(folder, imported).path
        judged = int((imported.frame["source"] == "judge").sum())
        say(f"{path}: {judged} preferences by {imported.judge}, {len(imported.frame) - judged} by people")
        for sentence in imported.notes:
            say(f"· {sentence}")
        _identify(tool, imported.log, say)
        say(f"next: judge rank {path}")

    return Reader(tool.name, tool.text, PreferenceWords, tool.fits, read)


def _identify(tool: Tool | PreferenceTool, log: Mapping[str, Any], say: Say) -> None:
    """Say for each identifying field (such as the story or the judge) where in the tool's log it was read."""
    version = log.get("version")
    say(f"as {tool.name}{f' {version}' if version else ''} told it (read in tests: {tool.tried}):")
    for field, words in tool.identified.items():
        say(f"  {field}: {words}")


def _options(tool: Tool, words: LogWords, dataset: Dataset | None) -> LogOptions:
    """Options of the conversion. Raises SpecError for words that are none."""
    judged = getattr(words, "judged", None) or tool.judged[0]
    if judged not in tool.judged:
        raise unknown_value("judged", judged, tool.judged)
    columns = words.column_map
    labels = dataset.labels if dataset is not None else LabelScales()
    for more in (label_scales(columns), LabelScales.of_criteria(words.known_criteria)):
        labels = labels.with_given(more, dataset.name if dataset is not None else "the log")
    return LogOptions(
        asked=Asked(Places({key: path for key, path in columns.items() if not is_key(key)}), judged),
        scaling=Scaling(
            words.known_criteria,
            labels,
            _scale(words.scale),
            _range("rescale", words.rescale),
            _range("rescale_people", words.rescale_people),
        ),
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
