"""Writer of a result folder for imported ratings, checked with the reader of ratings tables."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from judge.asking.run_folder import ResultFolder, write_manifest
from judge.asking.run_folder.layout import IMPORTED, IMPORTED_PARQUET, IMPORTED_PREFERENCES, MANIFEST
from judge.asking.run_folder.manifest import environment
from judge.base.errors import DataError, RunFolderError, SpecError, unknown
from judge.base.files import writing
from judge.base.fingerprint import sha256_file
from judge.base.records import Criterion, Story
from judge.base.wording import joined
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.locate import need
from judge.inputs.datasets.sources import OTHER_FILES
from judge.inputs.datasets.studies.plotguided import CRITERION, SCALE, log_odds, read_scores
from judge.ratings.ratings_table import COLUMNS
from judge.ratings.ratings_table.columns import ordered, with_labels
from judge.ratings.ratings_table.imported import read_imported

STORIES = "imported_stories.csv"
# Of more ratings the story-prompts are kept once, with the stories.
_MANY_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class Import:
    """Content of a result folder for imported ratings.

    `frame` has the ratings table's rows; `stories` has `dataset, story`, optionally `words, text, reference`, and
    numeric features. `asked` are the import's options. `ratings` None is inferred from the numbers. `labels_note`
    remarks on reference ratings that people did not give. `given` is the feature that correlations hold fixed by
    default. `directions` maps a measure's judge name to 1 (more is better), -1 or 0 (neither). `log`: tool, identifying
    fields, missing data."""

    frame: pd.DataFrame
    judge: str
    criteria: Sequence[Criterion]
    notes: Sequence[str]
    sources: Sequence[Path]
    stories: pd.DataFrame | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)
    ratings: Literal["single", "means"] | None = None
    labels_note: str | None = None
    given: str | None = None
    directions: Mapping[str, int] = field(default_factory=dict)
    log: Mapping[str, Any] | None = None


def write_folder(path: Path, imported: Import) -> ResultFolder:
    """Write the ratings, completely or not at all, in place of an earlier import. Raises RunFolderError where the
    folder has a journal or cannot be written, and DataError where the rows are not a ratings table."""

    def write(fresh: ResultFolder) -> None:
        _write(fresh, imported)
        read_imported(fresh, explanations=False, texts=False)

    return replace_folder(path, write)


def said(folder: ResultFolder, imported: Import) -> Iterator[str]:
    """What was imported, a line at a time: numbers of ratings, judges and stories, missing ratings by reason, notes."""
    frame = imported.frame
    judged, people = frame["source"] == "judge", int((frame["source"] == "rater").sum())
    judges, rated = frame.loc[judged, "judge"].nunique(), int(frame.loc[judged, "rating"].notna().sum())
    by = f"{rated} ratings by {judges} judge{'s' if judges != 1 else ''}, {people} by people"
    yield f"{folder.path}: {by}, {frame['story'].nunique()} stories"
    lost = frame.loc[judged & frame["rating"].isna(), "status"].value_counts()
    lost = lost[lost > 0]
    if len(lost):
        yield "without a rating: " + ", ".join(f"{count} {status}" for status, count in lost.items())
    for note in imported.notes:
        yield joined("· ", note)


def replace_folder(path: Path, write: Callable[[ResultFolder], None]) -> ResultFolder:
    """The folder that `write` fills under a temporary name, completely or not at all; replaces an earlier import.
    Raises RunFolderError where the folder has a journal or cannot be written."""
    folder = ResultFolder(path)
    if folder.journal.exists():
        raise RunFolderError(f"{path} holds the answers of a run", hint="choose another place with -o FOLDER")
    with writing(path.parent, RunFolderError):
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=".import-", dir=path.parent))
    try:
        write(ResultFolder(fresh))
        path.mkdir(exist_ok=True)
        for name in (IMPORTED, IMPORTED_PARQUET, IMPORTED_PREFERENCES, MANIFEST, STORIES):
            (path / name).unlink(missing_ok=True)
        for file in fresh.iterdir():
            file.replace(path / file.name)
    except OSError as error:
        raise RunFolderError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return folder


def _frame(imported: Import) -> pd.DataFrame:
    """All columns of the ratings table, with ratings' labels where the scale has them."""
    scales = {
        (str(dataset), criterion.name.casefold()): criterion.scale
        for dataset in imported.frame["dataset"].dropna().unique()
        for criterion in imported.criteria
        if criterion.scale.labels
    }
    return with_labels(imported.frame.reindex(columns=ordered(imported.frame.columns)), scales, explanations=True)


def _write(folder: ResultFolder, imported: Import) -> None:
    frame, stories = _frame(imported), imported.stories
    if len(frame) > _MANY_ROWS and frame["story_prompt"].notna().any():
        first = ~frame.duplicated(["dataset", "story"])
        prompts = frame.loc[first, ["dataset", "story", "story_prompt"]]
        stories = prompts if stories is None else prompts.merge(stories, on=["dataset", "story"], how="left")
        frame = frame.drop(columns="story_prompt")
    frame.to_csv(folder.imported, index=False, lineterminator="\n", chunksize=_MANY_ROWS)
    if stories is not None:
        stories.to_csv(folder.path / STORIES, index=False, lineterminator="\n", chunksize=_MANY_ROWS)
    manifest = {
        "judge": imported.judge,
        "criteria": [criterion.record() for criterion in imported.criteria],
        "notes": list(imported.notes),
        "sources": [{"file": source.name, "sha256": sha256_file(source)} for source in imported.sources],
        "asked": dict(imported.asked),
        "environment": environment(),
    }
    manifest |= {"ratings": imported.ratings} if imported.ratings else {}
    manifest |= {"labels_note": imported.labels_note} if imported.labels_note else {}
    manifest |= {"given": imported.given} if imported.given else {}
    manifest |= {"directions": dict(imported.directions)} if imported.directions else {}
    manifest |= {"log": dict(imported.log)} if imported.log else {}
    write_manifest(folder.manifest, manifest)


# MANPLTS' released scores of the plot-guided stories as a ratings table, together with the human ratings.

MANPLTS = "measure/MANPLTS"
SETS = ("roc", "wp")
_FILES = "plotguided_scores"
_NO_EVAL_PROMPT = "-"


def set_of(scores: Path) -> str:
    """The set, roc or wp, of a file of scores. Raises DataError where it is neither."""
    texts = read_scores(scores).keys()
    for name in SETS:
        if any(story.text in texts for story in open_dataset(f"plotguided_{name}").stories()):
            return name
    raise DataError("has scores of no story of plotguided_roc or plotguided_wp", file=scores)


def read_plotguided(name: str, scores: Path | None = None) -> Import:
    """MANPLTS' released scores of the stories `roc` or `wp`, with stories and human ratings of `plotguided_NAME`. A
    score is a probability and is imported as its log-odds. `scores` is the study's Pred_*.txt file, by default the
    stored one. Raises DataError where a story has no score."""
    if name not in SETS:
        raise SpecError(unknown("set", name, SETS))
    dataset = open_dataset(f"plotguided_{name}")
    path = scores or need(OTHER_FILES[_FILES][SETS.index(name)], _FILES)
    ratings_by_text = read_scores(path)
    stories = list(dataset.stories())
    for story in stories:
        if story.text not in ratings_by_text:
            raise DataError(f"has no score of story {story.id} of {dataset.name}", file=path, found=story.text)
    rows = [_base(dataset.name, story) | _given(ratings_by_text[story.text]) for story in stories]
    rows += [
        _base(dataset.name, story) | {"source": "rater", "rater": rating.rater, "rating": rating.value, "status": "ok"}
        for story in stories
        for rating in story.ratings
    ]
    about = [{"dataset": dataset.name, "story": s.id, "words": len(s.text.split()), "text": s.text} for s in stories]
    return Import(
        frame=pd.DataFrame(rows).reindex(columns=list(COLUMNS)),
        judge=MANPLTS,
        criteria=(Criterion(CRITERION, "CH", "", SCALE),),
        notes=[f"{MANPLTS}: log-odds of the released probabilities, in the same order"],
        sources=[path, *dataset.files],
        stories=pd.DataFrame(about),
        ratings="means",
    )


def _base(dataset: str, story: Story) -> dict[str, object]:
    return {
        "run": f"{dataset}-scores",
        "dataset": dataset,
        "story": story.id,
        "story_prompt": story.story_prompt,
        "system": story.system,
        "criterion": CRITERION,
    }


def _given(score: float) -> dict[str, object]:
    return {
        "source": "judge",
        "judge": MANPLTS,
        "eval_prompt": _NO_EVAL_PROMPT,
        "rating": log_odds(score),
        "status": "imported",
    }
