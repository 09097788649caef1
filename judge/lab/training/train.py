"""The command `judge train`. It trains a model on datasets and writes a folder with the model and its model card, which
includes the out-of-fold evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from judge.backends.trained.model import Head
from judge.base.errors import OptionError, SpecError
from judge.base.records import Story
from judge.inputs.datasets import Dataset
from judge.lab.training import folder as model_folder
from judge.lab.training.encoder.rung import teach
from judge.lab.training.evaluation import (
    CalibrationRow,
    Calibrations,
    PreferenceCheck,
    RatingAgreement,
    RatingCheck,
    agreement,
    preference_bins,
    rating_bins,
    rating_rows,
)
from judge.lab.training.fits import Fits
from judge.lab.training.linear_rung import fit_linear
from judge.lab.training.material import Material, perturbed_pairs, read
from judge.lab.training.options import TrainOptions
from judge.lab.training.result import Trained
from judge.lab.training.telling import Telling
from judge.version import __version__


def train(
    datasets: Sequence[Dataset], folder: Path, options: TrainOptions, negatives: Dataset | None, telling: Telling
) -> Trained:
    """Train a model on datasets, write its folder, and return the result. `negatives` is a dataset of perturbed
    stories, which count as worse than their originals; None = no such stories. Raises SpecError and DataError.
    """
    model_folder.check_free(folder)
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
    """Raise SpecError where two datasets have preferences, or two have ratings, on the same criterion: a model has only
    one output for it, with one scale.
    """
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
    result: Fits,
    worse: Sequence[tuple[Story, Story]],
) -> Trained:
    checks, parts = result.preferences, _signature(materials, options, result)
    ours = agreement(checks, f"trained/{folder.name}", options.seed, parts, result.notes)
    rows = tuple(row for check in result.ratings for row in rating_rows(check, options.resamples, options.seed))
    resampled = (*parts, f"resamples:{options.resamples}")
    ratings = RatingAgreement(rows=rows, signature_parts=resampled, notes=(*_NOTES, *result.notes))
    bins = tuple(_bins(result.heads, checks, result.ratings))
    calibrations = Calibrations(rows=bins, signature_parts=parts, notes=_CALIBRATION)
    data = [material.fact() for material in materials]
    stories = [story for material in materials for story in material.stories]
    stories += [story for pair in worse for story in pair]
    card = {
        "program": f"storyjudge {__version__}",
        "data": data,
        "negatives": len(worse),
        "options": _plain_options(options),
        "facts": result.facts,
        "out_of_fold": {
            "preferences": [] if ours is None else _plain(ours.frame),
            "foldings": {check.criterion: check.by_folding for check in checks},
            "ratings": _plain(ratings.frame) if rows else [],
        },
        "calibration": _plain(calibrations.frame),
        "notes": ["accuracy is out of fold only: no story-prompt is predicted by a fit that saw it", *result.notes],
    }
    model_folder.write_card(folder, card)
    # Last, for a folder with a model is one that is whole.
    embedding = result.facts["embedding"]
    model_folder.write_model(folder, result.heads, stories, embedding=embedding, encoder=result.encoder, data=data)
    return Trained(folder, card, ours, ratings if rows else None, calibrations)


def _plain_options(options: TrainOptions) -> dict[str, Any]:
    return {key: str(value) if isinstance(value, Path) else value for key, value in asdict(options).items()}


def _bins(
    heads: Sequence[Head], checks: Sequence[PreferenceCheck], rated: Sequence[RatingCheck]
) -> Iterator[CalibrationRow]:
    """Yield the calibration of out-of-fold predictions against human preferences and ratings, in five bins each.
    Predictions are in the form that the trained judge returns: probabilities and ratings.
    """
    by_key = {(head.criterion, head.kind): head for head in heads}
    for check in checks:
        yield from preference_bins(check, by_key[check.criterion, "preference"].slope)
    for check_of_ratings in rated:
        slope, intercept = by_key[check_of_ratings.criterion, "rating"].line
        centre = float(np.nanmean(check_of_ratings.people))
        yield from rating_bins(check_of_ratings, slope * (check_of_ratings.scores.mean(axis=0) + centre) + intercept)


_NOTES = (
    "tau and rho with people's mean over all stories; each story by fits that saw neither it nor its story-prompt",
    "lowest, highest folding: the model's tau in each dealing of story-prompts to folds",
)
_CALIBRATION = (
    "fifths of the pairs or stories by what the model predicts, out of fold; p: of the preferred story, and its share",
)


def _signature(materials: Sequence[Material], options: TrainOptions, result: Fits) -> tuple[str, ...]:
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
