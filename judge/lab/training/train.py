"""`judge train`: writes a folder with a model and its model card, which includes the out-of-fold evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from judge.backends.trained.model import FORMAT, MODEL_FILE, Encoder, Head, head_record, marks_of
from judge.base.errors import OptionError, SpecError
from judge.base.files import cache_folder, write_whole, writing
from judge.base.records import Story
from judge.inputs.datasets import Dataset
from judge.lab.training import evaluation
from judge.lab.training.encoder_rung import teach
from judge.lab.training.linear import PAIR_PENALTIES, RIDGE_PENALTIES
from judge.lab.training.material import (
    Material,
    Numbers,
    Worse,
    chosen,
    numbers,
    perturbed_pairs,
    preference_head,
    rating_head,
    read,
)
from judge.lab.training.options import Telling, TrainOptions
from judge.version import __version__

# Training of linear models on surface features of stories and, where an embedding model is named, on embeddings.

_NOBODY: Worse = (np.empty(0, np.int64), np.empty(0, np.int64), ())


def fit_linear(
    materials: Sequence[Material], options: TrainOptions, worse: Sequence[tuple[Story, Story]], telling: Telling
) -> evaluation.Fits:
    """A head for each criterion and kind of answer, each checked by cross-validation on story-prompts. `worse` are
    pairs of original and perturbed story."""
    heads: list[Head] = []
    checks: list[evaluation.PreferenceCheck] = []
    rated: list[evaluation.RatingCheck] = []
    stack: dict[str, Any] = {}
    numbers_of = [_numbers(material, worse, options, telling) for material in materials]
    count = sum(len(material.preferences) + len(material.ratings) for material in materials)
    telling.tell(f"{count} criteria, {options.foldings} x {options.folds} folds of story-prompts each")
    with telling.progress(count * options.foldings) as progress:

        def done() -> None:
            progress.committed(1, 0)

        for material, (story_numbers, lost) in zip(materials, numbers_of, strict=True):
            for preference in material.preferences:
                head, check, weights = preference_head(material, story_numbers, preference, lost, options, done)
                heads.append(head)
                checks.append(check)
                stack[f"{preference.criterion} (preference)"] = list(weights)
            own = story_numbers.first(len(material.stories))
            for rating in material.ratings:
                head, rating_check, weights = rating_head(material, own, rating, options, done)
                heads.append(head)
                rated.append(rating_check)
                stack[f"{rating.criterion} (rating)"] = list(weights)
    facts: dict[str, Any] = {"stack": stack, "embedding": None}
    facts["penalties"] = {"pairs": list(PAIR_PENALTIES), "ratings": list(RIDGE_PENALTIES)}
    if options.embed is not None:
        from judge.inputs.embedding import model_key

        facts["embedding"] = {"model": options.embed, "key": model_key(options.embed)}
    return evaluation.Fits(heads, checks, rated, facts)


def _numbers(
    material: Material, worse: Sequence[tuple[Story, Story]], options: TrainOptions, telling: Telling
) -> tuple[Numbers, Worse]:
    """Features of the stories and then of sampled pairs, and these pairs' rows and groups."""
    wanted = chosen(material, worse, options.seed)
    extra = [story for pair in wanted for story in pair]
    stories = [*material.stories, *extra]
    telling.tell(f"{material.dataset.name}: numbers of {len(stories)} stories")
    if options.embed is None:
        story_numbers = numbers(stories, None, None)
    else:
        with telling.progress(len({story.text for story in stories})) as progress:
            story_numbers = numbers(
                stories, options.embed, cache_folder() / "embeddings.sqlite", lambda done: progress.committed(done, 0)
            )
    if not wanted:
        return story_numbers, _NOBODY
    places = len(material.stories) + np.arange(0, len(extra), 2)
    return story_numbers, (places, places + 1, tuple(a.story_prompt or f"story {a.id}" for a, _ in wanted))


# The folder of a trained model, with the files `model.json` and `card.json`. An existing model is not overwritten.

CARD_FILE = "card.json"


def check_free(folder: Path) -> None:
    """Raise SpecError where the folder already holds a model, or is a file."""
    if (folder / MODEL_FILE).exists():
        raise SpecError(f"{folder} holds a trained model already", hint="name another folder with -o, or delete it")
    if folder.exists() and not folder.is_dir():
        raise SpecError(f"{folder} is no folder", hint="name another with -o")


def write_model(
    folder: Path,
    heads: Sequence[Head],
    stories: Sequence[Story],
    *,
    embedding: Mapping[str, str] | None,
    encoder: Encoder | None,
    data: Sequence[Mapping[str, Any]],
) -> None:
    """Write `model.json`: the heads and marks of the training stories; SpecError where it cannot be written.
    `embedding` and `encoder` are None where there is none; `data` are facts about the datasets."""
    marks = {mark for story in stories for mark in marks_of(story.story_prompt, story.text)}
    content = {
        "format": FORMAT,
        "name": folder.resolve().name,
        "embedding": embedding,
        "data": list(data),
        "trained_on": " ".join(sorted(marks)),
        **({} if encoder is None else {"encoder": asdict(encoder)}),
        "heads": [head_record(head) for head in heads],
    }
    _write(folder / MODEL_FILE, orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE))


def _write(path: Path, content: bytes) -> None:
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)


def train(
    datasets: Sequence[Dataset], folder: Path, options: TrainOptions, negatives: Dataset | None, telling: Telling
) -> evaluation.Trained:
    """Train a model and write its folder; perturbed stories of `negatives` count as worse than their originals. Raises
    SpecError and DataError."""
    check_free(folder)
    materials = [read(dataset, options.criteria) for dataset in datasets]
    _check_once(materials)
    worse = [] if negatives is None else perturbed_pairs(negatives)
    if worse and not any(material.preferences for material in materials):
        raise OptionError("negatives", options.negatives, "are pairs, and there are only ratings to train on")
    if options.encoder is None:
        return _finished(materials, folder, options, fit_linear(materials, options, worse, telling), worse)
    result, unfinished = teach(materials, options, options.encoder, worse, folder, telling)
    finished = _finished(materials, folder, options, result, worse)
    unfinished.close()
    return finished


def _check_once(materials: Sequence[Material]) -> None:
    """A model has only one output for a criterion, with one scale; else SpecError."""
    seen: dict[tuple[str, bool], str] = {}
    for material in materials:
        compared = [(preference.criterion, True) for preference in material.preferences]
        for criterion, compares in [*compared, *((rating.criterion, False) for rating in material.ratings)]:
            key = (criterion.casefold(), compares)
            if key in seen:
                raise SpecError(
                    f"{seen[key]} and {material.dataset.name} both hold {criterion}: one model has each once",
                    hint="train a model for each dataset",
                )
            seen[key] = material.dataset.name


def _finished(
    materials: Sequence[Material],
    folder: Path,
    options: TrainOptions,
    result: evaluation.Fits,
    worse: Sequence[tuple[Story, Story]],
) -> evaluation.Trained:
    checks, parts = result.preferences, _signature(materials, options, result)
    ours = evaluation.agreement(checks, f"trained/{folder.name}", options.seed, parts, result.notes)
    rows = tuple(
        row for check in result.ratings for row in evaluation.rating_rows(check, options.resamples, options.seed)
    )
    resampled = (*parts, f"resamples:{options.resamples}")
    ratings = evaluation.RatingAgreement(rows=rows, signature_parts=resampled, notes=(*_NOTES, *result.notes))
    bins = tuple(_bins(result.heads, checks, result.ratings))
    calibrations = evaluation.Calibrations(rows=bins, signature_parts=parts, notes=_CALIBRATION)
    data = [material.fact() for material in materials]
    stories = [story for material in materials for story in material.stories]
    stories += [story for pair in worse for story in pair]
    card = {
        "program": f"storyjudge {__version__}",
        "data": data,
        "negatives": len(worse),
        "options": {key: str(v) if isinstance(v, Path) else v for key, v in asdict(options).items()},
        "facts": result.facts,
        "out_of_fold": {
            "preferences": [] if ours is None else _plain(ours.frame),
            "foldings": {check.criterion: check.by_folding for check in checks},
            "ratings": _plain(ratings.frame) if rows else [],
        },
        "calibration": _plain(calibrations.frame),
        "notes": ["accuracy is out of fold only: no story-prompt is predicted by a fit that saw it", *result.notes],
    }
    _write(folder / CARD_FILE, orjson.dumps(card, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    # Last, for a folder with a model is one that is whole.
    embedding = result.facts["embedding"]
    write_model(folder, result.heads, stories, embedding=embedding, encoder=result.encoder, data=data)
    return evaluation.Trained(folder, card, ours, ratings if rows else None, calibrations)


def _bins(
    heads: Sequence[Head], checks: Sequence[evaluation.PreferenceCheck], rated: Sequence[evaluation.RatingCheck]
) -> Iterator[evaluation.CalibrationRow]:
    by_key = {(head.criterion, head.kind): head for head in heads}
    for check in checks:
        yield from evaluation.preference_bins(check, by_key[check.criterion, "preference"].slope)
    for check_of_ratings in rated:
        slope, intercept = by_key[check_of_ratings.criterion, "rating"].line
        centre = float(np.nanmean(check_of_ratings.people))
        yield from evaluation.rating_bins(
            check_of_ratings, slope * (check_of_ratings.scores.mean(axis=0) + centre) + intercept
        )


_NOTES = (
    "tau and rho with people's mean over all stories; each story by fits that saw neither it nor its story-prompt",
    "lowest, highest folding: the model's tau in each dealing of story-prompts to folds",
)
_CALIBRATION = (
    "fifths of the pairs or stories by what the model predicts, out of fold; p: of the preferred story, and its share",
)


def _signature(materials: Sequence[Material], options: TrainOptions, result: evaluation.Fits) -> tuple[str, ...]:
    model = "surface" + ("+embedding" if options.embed else "")
    if result.encoder is not None:
        name, _, tag = result.encoder.base.rpartition("@")
        model = f"encoder {name}@{tag.removeprefix('b2:')[:7]}"
    data = ",".join(f"{m.dataset.name}@{m.dataset.fingerprint()[:10]}" for m in materials)
    folds = f"folds:{options.foldings}x{options.folds}/story_prompt/seed{options.seed}"
    return (data, f"model:{model}", folds, f"v{__version__}")


def _plain(frame: Any) -> list[dict[str, Any]]:
    plain = frame.astype(object).where(frame.notna(), None)
    return [{str(key): value for key, value in row.items()} for row in plain.to_dict("records")]
