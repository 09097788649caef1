"""Readers of what studies released, and of the folders that this program exports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import numpy as np
import orjson
import pandas as pd
import yaml
from numpy.typing import NDArray

from judge.analysis.options.alternatives import Nothing, option
from judge.base.errors import DataError, MissingExtraError, RunFolderError, SpecError
from judge.base.files import write_whole, writing
from judge.base.foreign import json_file, reading
from judge.base.records import Criterion, Story
from judge.exchange.dataset_folder import CONTENTS, FORMAT
from judge.exchange.imported_folder import Import, read_plotguided, said, set_of, write_folder
from judge.exchange.reader import Look, Reader, Say, folder_for
from judge.inputs.criteria import load_criteria
from judge.inputs.datasets.locate import find
from judge.inputs.datasets.sources import FILES
from judge.inputs.datasets.studies import hanna, ttcw
from judge.inputs.datasets.studies.hanna import (
    CRITERIA,
    POSITIONS,
    SCALE,
    STORY_PROMPTS,
    ScoreFile,
    read_human_stories,
    read_score_file,
)
from judge.inputs.datasets.studies.ttcw import MAGAZINE, TestAnswer, read_answers
from judge.inputs.text_features import SCORE_FILE_FEATURES
from judge.ratings.ratings_table import COLUMNS

# Writer of a run that replays answers obtained elsewhere, which are then parsed like any judge's.

ANSWERS = "answers.jsonl"


def refuse_taken(folder: Path) -> None:
    """Raise RunFolderError where the folder already holds a run."""
    if (folder / "run.yaml").exists():
        raise RunFolderError(f"{folder} holds a run already", hint="choose another place with -o FOLDER")


def write_recorded_run(
    folder: Path, judge: str, answers: Sequence[Mapping[str, Any]], definition: Mapping[str, Any]
) -> Path:
    """Path of a written `run.yaml` with `definition`; `answers.jsonl` beside it is for the back-end `recorded`."""
    path = folder / "run.yaml"
    content = {"name": folder.name, "judge": f"recorded/{folder / ANSWERS}", "identity": judge, **definition}
    with writing(folder, RunFolderError):
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / ANSWERS, b"".join(orjson.dumps(answer) + b"\n" for answer in answers))
        write_whole(path, yaml.safe_dump(content, sort_keys=False, allow_unicode=True))
    return path


# Conversion of the HANNA study's raw answers into recorded answers and a run that replays them.


def write_hanna_run(path: Path, folder: Path, judge: str) -> tuple[Path, int]:
    """A run.yaml on dataset `hanna` that replays a model's answers in the HANNA study's file, and their number. A
    story's index in the study's file is its Story ID. Raises DataError where the file holds no answers, and
    RunFolderError where the folder holds a run already."""
    refuse_taken(folder)
    answers = list(hanna.read_answers(path))
    if not answers:
        raise DataError("holds no answers", file=path)
    asked = {answer.eval_prompt for answer in answers}
    definition = {
        "dataset": "hanna",
        "criteria": "hanna",
        "eval_prompts": [name for name in hanna.EVAL_PROMPTS.values() if name in asked],
        "repeats": 1 + max(answer.repeat for answer in answers),
        "note": f"answers of {judge} as the HANNA study released them ({path.name})",
    }
    lines = [{**asdict(answer), "story": str(answer.story)} for answer in answers]
    return write_recorded_run(folder, judge, lines, definition), len(answers)


# Conversion of answers to the tests of Art or Artifice into a run that replays them. A test's number is its
# criterion's position in the set `ttcw`. A null response becomes an empty answer; "Content Blocked" (stopped by the
# provider's filter) is kept and marked as filtered. Neither can be parsed as a label.

TTCW_CRITERIA, TTCW_EVAL_PROMPT = "ttcw", "ep2"


def write_ttcw_run(path: Path, folder: Path, judge: str) -> tuple[Path, int]:
    """A run.yaml that replays a model's answers in `path` on dataset `ttcw+newyorker`, and the number of answers. The
    dataset is `ttcw` where all stories are by models. Raises DataError for no answers or an unknown test, and
    RunFolderError where the folder already holds a run."""
    refuse_taken(folder)
    tests = [criterion.name for criterion in load_criteria(TTCW_CRITERIA).criteria]
    lines = [_ttcw_line(answer, tests, path) for answer in read_answers(path)]
    if not lines:
        raise DataError("holds no answers", file=path)
    magazine = any(line["story"].endswith(f"_{MAGAZINE}") for line in lines)
    definition = {
        "dataset": "ttcw+newyorker" if magazine else "ttcw",
        "criteria": TTCW_CRITERIA,
        "eval_prompts": [TTCW_EVAL_PROMPT],
        "repeats": 1,
        "note": f"answers of {judge} to the tests of Art or Artifice, asked in the study's words ({path.name})",
    }
    return write_recorded_run(folder, judge, lines, definition), len(lines)


def _ttcw_line(answer: TestAnswer, tests: list[str], path: Path) -> dict[str, Any]:
    if not 1 <= answer.test <= len(tests):
        raise DataError("no such test", file=path, column="id", found=answer.test, allowed=f"1 to {len(tests)}")
    line = {
        "story": answer.story,
        "criterion": tests[answer.test - 1],
        "eval_prompt": TTCW_EVAL_PROMPT,
        "repeat": 0,
        "text": answer.text or "",
    }
    return line | ({"finish_reason": "content_filter"} if answer.blocked else {})


# HANNA's released score file as a ratings table. Means outside the scale count as missing unless the user keeps them.

DATASET = "hanna_scores"
JUDGES = ("Beluga-13B", "Llama-13B", "Mistral-7B", "ChatGPT", "OrcaPlatypus")
EVAL_PROMPTS = (1, 2, 3, 4)
RECORDS = tuple(Criterion(name, short, "", SCALE) for name, short in CRITERIA.items())
_NO_EVAL_PROMPT = "-"


def read_scores(
    scores: Path, stories: Path | None = None, *, keep_out_of_scale: bool = False, measures: bool = False
) -> Import:
    """HANNA's released score file `hanna_metric_scores_llm.csv` as rows of the ratings table.

    `stories` (`hanna_llm_stories.csv`) gives story-prompts and the texts of the 96 human stories. Judges' means outside
    the scale become rows with status `out_of_scale`, unless `keep_out_of_scale`, as the study used them. `measures`
    adds the 72 automatic measures, `measure/NAME`, each with the same number for every criterion."""
    table = read_score_file(scores)
    human = read_human_stories(stories) if stories is not None else []
    frame = pd.concat([*_judges(table), *(_measures(table) if measures else ()), *_people(table)], ignore_index=True)
    frame = _with_places(frame, table, human)
    notes = _notes(frame, human)
    notes += _off_scale(frame, keep_out_of_scale)
    return Import(
        frame=frame.reindex(columns=list(COLUMNS)),
        judge=f"{len(JUDGES)} judges of the HANNA score file",
        criteria=RECORDS,
        notes=notes,
        sources=[scores, *([stories] if stories else [])],
        stories=_stories(table, human),
        ratings="means",
        asked={"keep_out_of_scale": keep_out_of_scale, "measures": measures},
    )


def measure_columns(table: ScoreFile) -> list[str]:
    """Columns of HANNA's score file that hold automatic measures."""
    others = (*(f"{judge} " for judge in JUDGES), "Human ")
    return [column for column in table.columns if column not in CRITERIA and not column.startswith(others)]


def _judges(table: ScoreFile) -> Iterator[pd.DataFrame]:
    for criterion, short in CRITERIA.items():
        for judge in JUDGES:
            for eval_prompt in EVAL_PROMPTS:
                values = _column(table, f"{judge} {short} {eval_prompt}")
                yield _rows(criterion, values, source="judge", judge=judge, eval_prompt=f"ep{eval_prompt}")


def _measures(table: ScoreFile) -> Iterator[pd.DataFrame]:
    for column in measure_columns(table):
        values = _column(table, column)
        for criterion in CRITERIA:
            yield _rows(criterion, values, source="judge", judge=f"measure/{column}", eval_prompt=_NO_EVAL_PROMPT)


def _people(table: ScoreFile) -> Iterator[pd.DataFrame]:
    for criterion, short in CRITERIA.items():
        for position in POSITIONS:
            yield _rows(criterion, _column(table, f"Human {position} {short}"), source="rater", status="ok")


def _column(table: ScoreFile, name: str) -> NDArray[np.float64]:
    column = table.column(name)
    return np.concatenate([column[system] for system in table.systems])


def _rows(criterion: str, values: NDArray[np.float64], **same: Any) -> pd.DataFrame:
    return pd.DataFrame({"place": np.arange(values.size), "criterion": criterion, "rating": values, **same})


def _with_places(frame: pd.DataFrame, table: ScoreFile, human: Sequence[Story]) -> pd.DataFrame:
    system, number = frame["place"] // STORY_PROMPTS, frame["place"] % STORY_PROMPTS
    systems = np.array(table.systems, dtype=object)[system]
    prompts = [story.story_prompt for story in human] or [f"story-prompt {i}" for i in range(STORY_PROMPTS)]
    return frame.assign(
        run="hanna-scores",
        dataset=DATASET,
        story=systems + "/" + number.astype(str).to_numpy(dtype=object),
        story_prompt=np.array(prompts, dtype=object)[number],
        system=systems,
        status=frame["status"].where(frame["source"] == "rater", "imported"),
    )


def _off_scale(frame: pd.DataFrame, keep: bool) -> list[str]:
    judged = (frame["source"] == "judge") & ~frame["judge"].astype(str).str.startswith("measure/")
    off = judged & ~frame["rating"].between(SCALE.min, SCALE.max)
    many = f"{int(off.sum())} of {int(judged.sum())} judges' means lie off the scale of {SCALE.min:g} to {SCALE.max:g}"
    if not off.any():
        return []
    if keep:
        return [f"{many} (answers that were not understood, averaged in as -1) and were kept as ratings"]
    frame.loc[off, "rating"] = np.nan
    frame.loc[off, "status"] = "out_of_scale"
    left = "means within it may hold -1 too, which cannot be seen"
    return [f"{many} (answers that were not understood, averaged in as -1) and count as missing; {left}"]


def _notes(frame: pd.DataFrame, human: Sequence[Story]) -> list[str]:
    notes = [
        "judges' ratings are means of three repeats, as released: the repeats themselves cannot be analysed",
        "words: tokens as the score file counts them",
    ]
    if not human:
        notes.append("story-prompts are numbered: their texts are in hanna_llm_stories.csv, which was not at hand")
    if frame["judge"].astype(str).str.startswith("measure/").any():
        notes.append("measure/NAME: one number a story, the same for every criterion")
    return notes


def _stories(table: ScoreFile, human: Sequence[Story]) -> pd.DataFrame:
    names = [f"{system}/{i}" for system in table.systems for i in range(STORY_PROMPTS)]
    texts = {f"Human/{i}": story.text for i, story in enumerate(human)}
    features = {name: _column(table, column) for name, column in SCORE_FILE_FEATURES.items()}
    columns = {"dataset": DATASET, "story": names, "words": features["length"].astype(np.int64)}
    return pd.DataFrame(columns | {"text": [texts.get(name, "") for name in names]} | features)


# Reader of a dataset folder that `judge export` wrote as a hub, as the content of result folders. Other folders are
# refused.


def read_hub(folder: Path) -> Iterator[tuple[str, Import]]:
    """(name, content) of the result folders in a dataset folder that `judge export` wrote. Raises DataError where
    `folder` is not such an export or files are missing, and MissingExtraError without pyarrow."""
    for part in _parts(folder / CONTENTS):
        with reading(folder / CONTENTS, "what an export holds"):
            read = _read_part(folder, part)
        yield read


def _read_part(folder: Path, part: dict[str, Any]) -> tuple[str, Import]:
    name = str(part.get("part", ""))
    if PurePosixPath(name).name != name or not name:
        raise DataError("a part must be a plain name", file=folder / CONTENTS, found=name)
    path = folder / "data" / "ratings" / f"{name}.parquet"
    frame = _table(path)
    missing = [column for column in COLUMNS if column not in frame.columns]
    if missing:
        raise DataError("columns are missing", file=path, found=missing, allowed=", ".join(COLUMNS))
    frame["repeat"] = frame["repeat"].astype("Int64")
    stories = _table(folder / "data" / "stories" / f"{name}.parquet").drop(columns=["story_prompt", "system"])
    return (
        name,
        Import(
            frame=frame,
            judge=str(part["judge"]),
            criteria=[Criterion.of(record) for record in part.get("criteria", ())],
            notes=[str(note) for note in part.get("notes", ())],
            sources=[path],
            stories=stories if len(stories) else None,
            ratings=_one_of(part.get("ratings")),
            labels_note=_text_or_none(part, "labels_note"),
            given=_text_or_none(part, "given"),
        ),
    )


def _one_of(ratings: Any) -> Literal["single", "means"] | None:
    if ratings not in (None, "single", "means"):
        raise ValueError("ratings are single or means")
    return ratings  # type: ignore[no-any-return]


def _text_or_none(part: dict[str, Any], key: str) -> str | None:
    value = part.get(key)
    if not isinstance(value, str | None):
        raise TypeError(f"{key} is no text")
    return value


def _parts(path: Path) -> list[dict[str, Any]]:
    hint = "judge export RUN --as hub -o FOLDER writes one; a single table: judge check FILE, judge import FILE"
    try:
        contents = json_file(path, what="export", hint=hint)
        if contents["format"] != FORMAT:
            raise ValueError(f"format {contents['format']}, this program reads {FORMAT}")
        return list(contents["parts"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"is not what an export holds ({error})", file=path) from error


def _table(path: Path) -> pd.DataFrame:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError("a Hugging Face dataset folder", "data") from error
    try:
        return pd.DataFrame(pq.read_table(path).to_pandas())
    except (OSError, pa.ArrowException) as error:
        raise DataError("cannot be read as Parquet", file=path) from error


@dataclass(frozen=True, kw_only=True)
class AnswersWords:
    judge: str = option("name of the judge that gave these answers", default=MISSING, metavar="NAME")


@dataclass(frozen=True, kw_only=True)
class ScoresWords:
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
        _answers(write_hanna_run),
    ),
    Reader(
        "ttcw-answers",
        "answers to the tests of Art or Artifice (id, response), as a run that replays them",
        AnswersWords,
        lambda look: look.has("response") and ttcw.is_id(look.record().get("id")),
        _answers(write_ttcw_run),
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
