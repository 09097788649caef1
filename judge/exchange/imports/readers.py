"""Readers of what studies released, and of the folders that this program exports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass
from pathlib import Path

from judge.analysis.options.alternatives import Nothing, option
from judge.base.errors import SpecError
from judge.exchange.imports import hanna_answers, ttcw_answers
from judge.exchange.imports.hanna_scores import read_scores
from judge.exchange.imports.hub_folder import read_hub
from judge.exchange.imports.imported_folder import Import, said, write_folder
from judge.exchange.imports.plotguided_scores import read_plotguided, set_of
from judge.exchange.outputs.hub import CONTENTS
from judge.exchange.reader.look import Look
from judge.exchange.reader.reader import Reader, Say, folder_for
from judge.inputs.datasets.locate import find
from judge.inputs.datasets.sources import FILES
from judge.inputs.datasets.studies import hanna_answers as hanna
from judge.inputs.datasets.studies import ttcw_answers as ttcw


@dataclass(frozen=True, kw_only=True)
class AnswersWords:
    """Options of a reader of a judge's answers."""

    judge: str = option("name of the judge that gave these answers", default=MISSING, metavar="NAME")


@dataclass(frozen=True, kw_only=True)
class ScoresWords:
    """Options of the reader of the HANNA study's scores."""

    keep_out_of_scale: bool = option("means outside the scale, kept as ratings as in the study", default=False)
    with_measures: bool = option("additional judges: the study's 72 automatic measures", default=False)


def _hanna_scores(files: Sequence[Path], words: ScoresWords, target: Path | None, say: Say) -> None:
    imported = read_scores(
        _one(files),
        find(FILES["hanna_llm"][0]),
        keep_out_of_scale=words.keep_out_of_scale,
        measures=words.with_measures,
    )
    _written(folder_for(files, target), imported, say)


def _plotguided(files: Sequence[Path], _words: Nothing, target: Path | None, say: Say) -> None:
    for file in files:
        name = set_of(file)
        folder = folder_for(files, target) / name if len(files) > 1 else folder_for(files, target)
        _written(folder, read_plotguided(name, file), say)


def _answers(write_run: Callable[[Path, Path, str], tuple[Path, int]]) -> Callable[..., None]:
    def read(files: Sequence[Path], words: AnswersWords, target: Path | None, say: Say) -> None:
        definition, count = write_run(_one(files), folder_for(files, target), words.judge)
        say(f"{count} answers; next: judge run {definition.parent}")

    return read


def _hub(files: Sequence[Path], _words: Nothing, target: Path | None, say: Say) -> None:
    for name, imported in list(read_hub(_one(files))):
        _written(folder_for(files, target) / name, imported, say)


def _one(files: Sequence[Path]) -> Path:
    if len(files) > 1:
        raise SpecError(f"{len(files)} files of this form: they are imported one by one")
    return files[0]


def _written(folder: Path, imported: Import, say: Say) -> None:
    for line in said(write_folder(folder, imported), imported):
        say(line)


def _has_tests(look: Look) -> bool:
    return look.has("response") and ttcw.is_id(look.record().get("id"))


def _has_tasks(look: Look) -> bool:
    stories = look.value.values() if isinstance(look.value, Mapping) else [look.record()]
    story = next(iter(stories), None)
    tasks = next(iter(story.values()), None) if isinstance(story, Mapping) else None
    return isinstance(tasks, Mapping) and bool(tasks.keys() & set(hanna.EVAL_PROMPTS))


def _has_chance(look: Look) -> bool:
    text, tab, number = look.line.rstrip("\r\n").rpartition("\t")
    try:
        return bool(text and tab) and 0 < float(number) < 1
    except ValueError:
        return False


READERS = (
    Reader(
        "hanna-answers",
        "the HANNA study's raw answers (llm_answers/*.json), as a run that replays them",
        AnswersWords,
        _has_tasks,
        _answers(hanna_answers.write_run),
    ),
    Reader(
        "ttcw-answers",
        "answers to the tests of Art or Artifice (id, response), as a run that replays them",
        AnswersWords,
        _has_tests,
        _answers(ttcw_answers.write_run),
    ),
    Reader(
        "hanna-scores",
        "the HANNA study's released scores: five judges, four Eval-Prompts, people by position",
        ScoresWords,
        lambda look: {"Human 1 RE", "Human 1 CH"} <= look.columns,
        _hanna_scores,
    ),
    Reader(
        "plotguided-scores",
        "MANPLTS' released coherence scores of the plot-guided stories, with people's ratings",
        Nothing,
        _has_chance,
        _plotguided,
    ),
    Reader("hub", "a dataset folder of judge export --as hub", Nothing, lambda look: CONTENTS in look.members, _hub),
)
