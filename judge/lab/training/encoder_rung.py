"""Training of an encoder: fits on folds of story-prompts, then on all data. A head is the output for one criterion."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from judge.asking.execution.progress import Progress
from judge.backends.trained.model import ENCODER_FOLDER, Encoder, Head, on_people_scale
from judge.base.arrays import Floats
from judge.base.errors import MissingExtraError, SpecError
from judge.base.files import write_whole
from judge.base.fingerprint import fingerprint, fingerprint_weights
from judge.base.records import Story
from judge.lab.training.encoder_material import Lesson, Question, lesson, texts
from judge.lab.training.evaluation import Fits, PreferenceCheck, RatingCheck
from judge.lab.training.material import (
    Material,
    Numbers,
    Preferences,
    Ratings,
    chosen,
    head_of,
    numbers,
    odds_scale,
    rating_check,
    rating_line,
)
from judge.lab.training.options import EncoderOptions, Telling, TrainOptions
from judge.stats.resampling.bootstrap import folds_of_groups

# Saved state of a training in progress, so that it can be resumed: plan, checkpoints and each fold's results, in the
# folder of the model.

FOLDER = "unfinished"
_PLAN = "plan.json"


class Unfinished:
    """The folder `unfinished` with a training's saved state, deleted when the model is complete."""

    def __init__(self, model: Path, plan: Mapping[str, Any]) -> None:
        """Create the folder with a training's plan, or resume; SpecError for other data or options."""
        self.path = model / FOLDER
        kept = self.path / _PLAN
        mine = {"plan": fingerprint(dict(plan)), "about": dict(plan)}
        before = self._read(kept)
        self.goes_on = before is not None
        if before is not None and before.get("plan") != mine["plan"]:
            differs = sorted(key for key, value in plan.items() if before.get("about", {}).get(key) != value)
            raise SpecError(
                f"{self.path} holds an unfinished training with other {', '.join(differs) or 'options'}",
                hint="give the same data and options to go on, or delete that folder",
            )
        if before is None:
            self.path.mkdir(parents=True, exist_ok=True)
            write_whole(kept, orjson.dumps(mine, option=orjson.OPT_INDENT_2))

    def fit(self, name: str) -> Path:
        """Folder of one fit's checkpoints."""
        return self.path / name

    def answers(self, name: str) -> dict[str, Any] | None:
        """Number of epochs and logits of a finished fit; None where it is not finished."""
        return self._read(self.path / f"{name}.json")

    def done(self, name: str, answers: Mapping[str, Any]) -> None:
        """Store a finished fit's results and delete its checkpoints."""
        write_whole(self.path / f"{name}.json", orjson.dumps(dict(answers), option=orjson.OPT_SERIALIZE_NUMPY))
        shutil.rmtree(self.fit(name), ignore_errors=True)

    def close(self) -> None:
        """Delete the saved state, when the model is complete."""
        shutil.rmtree(self.path, ignore_errors=True)

    @staticmethod
    def _read(path: Path) -> dict[str, Any] | None:
        try:
            content = orjson.loads(path.read_bytes())
        except (OSError, orjson.JSONDecodeError):
            return None
        return content if isinstance(content, dict) else None


# One of so many folds of the training story-prompts decides when to stop.
_STOPPING_FOLDS = 5

_ON_ALL = "all"


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """Data, options and folders of one training, used by the fit for each fold and on all data."""

    materials: Sequence[Material]
    numbers: Sequence[Numbers]
    lesson: Lesson
    options: TrainOptions
    choice: EncoderOptions
    base: Any
    folder: Path
    unfinished: Unfinished
    fitting: ModuleType

    def texts(self, question: Question, places: Sequence[int] | NDArray[np.int64]) -> list[tuple[str, str]]:
        """(query, story text) for a question about the stories at these indices."""
        return texts(self.materials[question.material], question.asked, places)


def teach(
    materials: Sequence[Material],
    options: TrainOptions,
    choice: EncoderOptions,
    worse: Sequence[tuple[Story, Story]],
    folder: Path,
    telling: Telling,
) -> tuple[Fits, Unfinished]:
    """Train an encoder on each fold and on all data, with final weights in `folder`; resumes an interrupted training.
    `worse` are pairs of original and perturbed story. The caller must close the saved state once the model's folder is
    complete."""
    course = _course(materials, options, choice, worse, folder)
    if course.unfinished.goes_on:
        telling.tell(f"going on with the training that {course.unfinished.path} keeps")
    pairs = [pair for question in course.lesson.questions for pair in course.texts(question, question.stories)]
    cut = course.fitting.count_cut(choice, course.base, pairs)
    steps = course.fitting.steps_of(course.lesson, choice.batch_size) * choice.epochs
    fits = options.foldings * min(options.folds, len(course.lesson.names())) + 1
    telling.tell(f"{len(pairs)} stories to read, {fits} fits of at most {choice.epochs} epochs")
    with telling.progress(fits * steps) as progress:
        turns = list(_turns(course, progress, steps))
        epochs = [count for turn in turns for count in turn.epochs]
        taken = max(1, round(statistics.median(epochs)))
        whole = _on_all(course, taken, progress)
    heads: list[Head] = []
    checks: list[PreferenceCheck] = []
    rated: list[RatingCheck] = []
    for q, question in enumerate(course.lesson.questions):
        logits = np.array([turn.logits[q] for turn in turns])
        means = np.array([turn.means[q] for turn in turns])
        if isinstance(question.about, Preferences):
            head, check = _preference(course, question, question.about, logits, whole[q])
            checks.append(check)
        else:
            head, rating = _rating(course, question, question.about, logits, means, whole[q])
            rated.append(rating)
        heads.append(head)
    longest = course.base.max_length
    facts = _facts(course) | {"epochs_by_fold": epochs, "epochs": taken, "longer_than_read": cut}
    encoder = Encoder(course.base.key, fingerprint_weights(folder / ENCODER_FOLDER), longest)
    notes = (f"{cut} of {len(pairs)} texts are longer than the {longest} tokens that are read; their ends are not",)
    return Fits(heads, checks, rated, facts, encoder, notes if cut else ()), course.unfinished


def _course(
    materials: Sequence[Material],
    options: TrainOptions,
    choice: EncoderOptions,
    worse: Sequence[tuple[Story, Story]],
    folder: Path,
) -> Course:
    try:
        from judge.lab.training import encoder_fits as fitting
    except ImportError as error:
        raise MissingExtraError("training an encoder", "train") from error
    numbers_of = [numbers(material.stories, None, None) for material in materials]
    wanted = [chosen(material, worse, options.seed) for material in materials]
    whole = lesson(materials, [of_dataset.usable for of_dataset in numbers_of], wanted, choice.criteria)
    base = fitting.base_of(choice)
    plan = {
        "data": [material.fact() for material in materials],
        "negatives": fingerprint([[[a.id, a.text], [b.id, b.text]] for a, b in worse]),
        "asked": [question.asked for question in whole.questions],
        "encoder": base.key,
        "max_length": base.max_length,
        **{name: getattr(choice, name) for name in ("epochs", "batch_size", "learning_rate")},
        **{name: getattr(options, name) for name in ("folds", "foldings", "seed")},
    }
    return Course(materials, numbers_of, whole, options, choice, base, folder, Unfinished(folder, plan), fitting)


@dataclass(frozen=True, slots=True, eq=False)
class _Turn:
    """One repetition: out-of-fold logits and mean rating outside the fold by question, and epochs by fold."""

    logits: list[Floats]
    means: list[Floats]
    epochs: list[int]


def _turns(course: Course, progress: Progress, steps: int) -> Iterator[_Turn]:
    names, options = course.lesson.names(), course.options
    folds = min(options.folds, len(names))
    for turn in range(options.foldings):
        fold = folds_of_groups(names, folds, options.seed + turn)
        blank = [np.full(len(course.materials[q.material].stories), np.nan) for q in course.lesson.questions]
        folding = _Turn(blank, [values.copy() for values in blank], [])
        for k in range(folds):
            held = {name for name, at in zip(names, fold, strict=True) if at == k}
            before = progress.settled
            answers = _fold(course, f"folding-{turn + 1}-fold-{k + 1}", held, progress)
            # Where it stopped early, the steps that were planned for it are not waited for.
            progress.total -= steps - (progress.settled - before)
            folding.epochs.append(int(answers["epochs"]))
            for q, question in enumerate(course.lesson.questions):
                places = _held_places(course, question, held)
                folding.logits[q][places] = answers["logits"][q]
                folding.means[q][places] = _mean_rating(course, question, held)
        yield folding


def _fold(course: Course, name: str, held: set[str], progress: Progress) -> dict[str, Any]:
    # One fold of the other groups decides when training stops.
    kept = course.unfinished.answers(name)
    if kept is not None:
        return kept
    lesson, seed = course.lesson, course.options.seed
    others = sorted(set(lesson.names()) - held)
    inner = folds_of_groups(others, min(_STOPPING_FOLDS, len(others)), seed)
    deciding = {group for group, at in zip(others, inner, strict=True) if at == 0}
    fitted = course.fitting.fit(
        course.choice,
        course.base,
        lesson.without(held | deciding),
        lesson.within(deciding),
        None,
        course.unfinished.fit(name),
        seed,
        lambda: progress.committed(1, 0),
    )
    logits = [fitted.logits(course.texts(q, _held_places(course, q, held))).tolist() for q in lesson.questions]
    answers = {"epochs": fitted.epochs, "logits": logits}
    course.unfinished.done(name, answers)
    return answers


def _on_all(course: Course, epochs: int, progress: Progress) -> list[Floats]:
    kept = course.unfinished.answers(_ON_ALL)
    if kept is None or not (course.folder / ENCODER_FOLDER).is_dir():
        fitted = course.fitting.fit(
            course.choice,
            course.base,
            course.lesson,
            None,
            epochs,
            course.unfinished.fit(_ON_ALL),
            course.options.seed,
            lambda: progress.committed(1, 0),
        )
        logits = [fitted.logits(course.texts(q, q.stories)).tolist() for q in course.lesson.questions]
        fitted.save(course.folder / ENCODER_FOLDER)
        kept = {"epochs": epochs, "logits": logits}
        course.unfinished.done(_ON_ALL, kept)
    progress.total = progress.settled
    return [np.array(values, dtype=np.float64) for values in kept["logits"]]


def _held_places(course: Course, question: Question, held: set[str]) -> NDArray[np.int64]:
    groups = course.lesson.groups[question.material]
    return np.array([k for k in question.stories if groups[k] in held], dtype=np.int64)


def _mean_rating(course: Course, question: Question, held: set[str]) -> float:
    """Of the stories not in `held`; 0 for preferences."""
    if not isinstance(question.about, Ratings):
        return 0.0
    groups = course.lesson.groups[question.material]
    return float(np.mean([question.about.people[k] for k in question.stories if groups[k] not in held]))


def _preference(
    course: Course, question: Question, preference: Preferences, logits: Floats, whole: Floats
) -> tuple[Head, PreferenceCheck]:
    a, b = question.pairs
    usable = course.numbers[question.material].usable
    odds = np.where(usable[a] & usable[b], logits[:, a] - logits[:, b], np.nan)
    check = PreferenceCheck(
        preference.criterion, course.materials[question.material].dataset.name, preference.side, odds
    )
    slope, band = odds_scale(odds.mean(axis=0), preference.side.net)
    return _head(question, whole, slope=slope, band=band), check


def _rating(
    course: Course, question: Question, rating: Ratings, logits: Floats, means: Floats, whole: Floats
) -> tuple[Head, RatingCheck]:
    numbers_of = course.numbers[question.material]
    ends = (rating.low, rating.high)
    bare = _head(question, whole, ends=ends, slope=1.0)
    points = np.vectorize(lambda logit: on_people_scale(bare, logit))
    scores = points(logits) - means
    people = np.where(numbers_of.usable, rating.people, np.nan)
    line, slope = rating_line(scores.mean(axis=0) + float(np.nanmean(people)), people)
    check = rating_check(course.materials[question.material], numbers_of, rating, scores)
    return _head(question, points(whole), ends=ends, slope=slope, line=line), check


def _head(question: Question, scores: Floats, **fitted: Any) -> Head:
    bare: dict[str, Any] = {"intercept": 0.0, "surface": (), "embedding": (), "asked": question.asked}
    return head_of(question.criterion, question.kind, scores, **bare, **fitted)


def _facts(course: Course) -> dict[str, Any]:
    packages = ("torch", "transformers", "sentence-transformers", "accelerate", "datasets")
    return {
        "encoder": course.base.key,
        "max_length": course.base.max_length,
        "asked": {f"{q.criterion} ({q.kind})": q.asked for q in course.lesson.questions},
        "lists": sum(map(len, course.lesson.ranked)),
        "rated": sum(map(len, course.lesson.rated)),
        "training": {key: value for key, value in asdict(course.choice).items() if key != "model"},
        "versions": {name: version(name) for name in packages},
        "embedding": None,
    }
