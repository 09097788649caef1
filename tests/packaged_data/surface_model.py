"""Fits the control judge on people's ratings and writes `judge/backends/surface/model.json`. Never runs while judging.

    python -m tests.packaged_data.surface_model --scores hanna_metric_scores_llm.csv --stories hanna_llm_stories.csv \\
        --mans-roc mans_roc.json --mans-wp mans_wp.json

HANNA's six criteria are fitted on the released score file's own surface columns (the machine stories' texts are not
released), with those features only whose recomputation from text agrees with the file (r >= 0.97 on the 96 human
stories). Overall quality is fitted on MANS with our own features, apart for short (ROC) and long (WP) stories.
Penalties were chosen by hand (HANNA among 50-200, MANS among 100-1000) on the same foldings that the out-of-fold table
reports, which flatters it a little: over these ranges its figures move by 0.1 to 2 points of tau x 100.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from scipy.stats import kendalltau

from judge.backends.surface.model import FORMAT, LABEL, POINTS, Term, distribution, expected, prompt_mark, shipped_model
from judge.base.arrays import Floats
from judge.base.errors import DataError
from judge.base.fingerprint import fingerprint_file
from judge.inputs.text_features import (
    LOG_OFFSETS,
    SCORE_FILE_FEATURES,
    for_regression,
    own_features,
    score_file_features,
)
from judge.stats.regression.ridge import StandardisedRidge, fit_standardised, out_of_fold
from judge.stats.resampling.bootstrap import folds_of_groups

CRITERIA = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")
HANNA_FEATURES = (
    "length",
    "compression",
    "coverage",
    "density",
    "novelty-1",
    "repetition-1",
    "repetition-2",
    "repetition-3",
)
LEAST_RECOMPUTATION = 0.97
HANNA_PENALTY, MANS_PENALTY = 100.0, 300.0
FOLDS, SEEDS = 5, (1, 2, 3, 4, 5)
SHORT_BELOW = 85
"""Tokens: MANS-ROC's stories have 20-74, MANS-WP's 97-261."""

_INNERMOST = re.compile(r"[{\[][^{}\[\]]*[}\]]")
"""A JSON object or list that holds no other: written on one line, so that people can read the file."""


@dataclass(frozen=True, slots=True)
class Training:
    """What one model is fitted on: regression features (n, p), people's means (n,), the story-prompt of each row."""

    name: str
    criterion: str
    data: str
    features: tuple[str, ...]
    rows: Floats
    response: Floats
    groups: tuple[str, ...]
    penalty: float
    tokens_from: float = 0
    tokens_to: float | None = None

    @property
    def own(self) -> bool:
        """Whether the features go beyond the score file's."""
        return not set(self.features) <= SCORE_FILE_FEATURES.keys()

    def fit(self, rows: Floats, response: Floats) -> StandardisedRidge:
        """The regression with this training's penalty."""
        return fit_standardised(rows, response, [self.penalty])


def recomputation(scores: Path, stories: Path) -> dict[str, float]:
    """Feature -> Pearson r between its recomputation from the 96 human stories' texts and the score file."""
    human = _score_file(scores)["Human"]
    with stories.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))[:96]
    computed = [score_file_features(row["Human"], row["Prompt"]) for row in rows]
    return {
        name: float(np.corrcoef([values[name] for values in computed], human[column])[0, 1])
        for name, column in SCORE_FILE_FEATURES.items()
    }


def hanna_trainings(scores: Path) -> list[Training]:
    """Six criteria on 960 machine stories: ten systems x 96 story-prompts, told apart by position in the score file."""
    systems = {name: columns for name, columns in _score_file(scores).items() if name != "Human"}
    groups = tuple(f"{position:02d}" for _ in systems for position in range(96))

    def column(title: str) -> Floats:
        return np.concatenate([columns[title] for columns in systems.values()])

    rows = np.column_stack([_scaled(name, column(SCORE_FILE_FEATURES[name])) for name in HANNA_FEATURES])
    return [
        Training(c.casefold(), c.casefold(), "hanna", HANNA_FEATURES, rows, column(c), groups, HANNA_PENALTY)
        for c in CRITERIA
    ]


def mans_training(path: Path, *, short: bool) -> Training:
    """Overall quality on one of the two MANS files."""
    entries = json.loads(path.read_text(encoding="utf-8")).values()
    stories = [(entry["prompt"], made["text"], made["score"]) for entry in entries for made in entry["gen"].values()]
    counted = [for_regression(own_features(text, prompt)) for prompt, text, _ in stories]
    return Training(
        name="overall, short" if short else "overall, long",
        criterion="overall",
        data="mans_roc" if short else "mans_wp",
        features=tuple(counted[0]),
        rows=np.array([list(values.values()) for values in counted]),
        response=np.array([np.mean(score) for _, _, score in stories]),
        groups=tuple(prompt for prompt, _, _ in stories),
        penalty=MANS_PENALTY,
        tokens_from=0 if short else SHORT_BELOW,
        tokens_to=SHORT_BELOW if short else None,
    )


def fitted(training: Training) -> tuple[dict[str, Any], dict[str, Any]]:
    """The model's entry in `model.json`, and its row in the out-of-fold table."""
    ridge = training.fit(training.rows, training.response)
    foldings = [
        out_of_fold(training.rows, training.response, folds_of_groups(training.groups, FOLDS, seed), training.fit)
        for seed in SEEDS
    ]
    errors = np.concatenate([training.response - predicted for predicted, _ in foldings])
    quantiles = np.quantile(errors, [0.05, 0.25, 0.5, 0.75, 0.95])
    numbers = zip(ridge.low, ridge.high, ridge.mean, ridge.scale, ridge.weights, strict=True)
    terms = [Term(name, *map(_short, values)) for name, values in zip(training.features, numbers, strict=True)]
    entry = {
        "name": training.name,
        "criterion": training.criterion,
        "data": training.data,
        "own": training.own,
        "tokens_from": training.tokens_from,
        "tokens_to": training.tokens_to,
        "n": len(training.response),
        "penalty": training.penalty,
        "intercept": _short(ridge.intercept),
        "residual": {"sd": _short(errors.std()), "quantiles_5_25_50_75_95": [_short(q) for q in quantiles]},
        "terms": {t.feature: {k: getattr(t, k) for k in ("low", "high", "mean", "scale", "weight")} for t in terms},
    }
    return entry, _agreement(training, entry, foldings)


def _agreement(
    training: Training, entry: Mapping[str, Any], foldings: Sequence[tuple[Floats, Floats]]
) -> dict[str, Any]:
    def answers(predicted: Floats) -> list[float]:
        return [round(expected(distribution(float(centre), entry["residual"]["sd"])), 1) for centre in predicted]

    # Without the folds' levels, as the control's row in a table; with them noise would lie below 0.
    ranked = [predicted - level + training.response.mean() for predicted, level in foldings]
    taus = [_tau(predicted, training.response) for predicted in ranked]
    return {
        "model": training.name,
        "data": training.data,
        "n": len(training.response),
        "tau": _short(np.mean(taus)),
        "low": _short(min(taus)),
        "high": _short(max(taus)),
        "tau_rounded": _short(np.mean([_tau(answers(predicted), training.response) for predicted in ranked])),
        "tau_length": _short(_tau(training.rows[:, training.features.index("length")], training.response)),
        "residual_sd": entry["residual"]["sd"],
    }


def fit_all(scores: Path, stories: Path, mans_roc: Path, mans_wp: Path) -> dict[str, Any]:
    """The whole content of `model.json`. DataError where a feature's recomputation is too far from the score file."""
    agreement = recomputation(scores, stories)
    for name in HANNA_FEATURES:
        if agreement[name] < LEAST_RECOMPUTATION:
            raise DataError(f"recomputing {name} gives r = {agreement[name]:.3f}", file=scores, allowed="r >= 0.97")
    trainings = [*hanna_trainings(scores), mans_training(mans_roc, short=True), mans_training(mans_wp, short=False)]
    with stories.open(encoding="utf-8", newline="") as stream:
        hanna_prompts = [row["Prompt"] for row in csv.DictReader(stream)]
    prompts = {"hanna": hanna_prompts} | {t.data: list(t.groups) for t in trainings if t.own}
    results = [fitted(training) for training in trainings]
    used_for = {
        scores: "features and people's means of the ten machine systems",
        stories: "texts of the 96 human stories, to check the features; story-prompts",
        mans_roc: "overall quality of short stories",
        mans_wp: "overall quality of long stories",
    }
    return {
        "format": FORMAT,
        "label": LABEL,
        "scale": [POINTS[0], POINTS[-1]],
        "data": [{"file": p.name, "hash": fingerprint_file(p), "used_for": use} for p, use in used_for.items()],
        "log_offsets": LOG_OFFSETS,
        "recomputation": {name: _short(r) for name, r in agreement.items()},
        "out_of_fold": [row for _, row in results],
        "models": [entry for entry, _ in results],
        "fitted_on": {name: " ".join(sorted({prompt_mark(p) for p in texts})) for name, texts in prompts.items()},
    }


def _score_file(path: Path) -> dict[str, dict[str, Floats]]:
    """System -> column -> 96 values, of the columns needed here."""
    wanted = {*CRITERIA, *SCORE_FILE_FEATURES.values()}
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    missing = wanted - set(rows[0])
    if missing:
        raise DataError("columns are missing", file=path, row=1, found=sorted(missing))
    return {
        row[0]: {
            t: np.array(json.loads(cell), dtype=float) for t, cell in zip(rows[0], row, strict=True) if t in wanted
        }
        for row in rows[1:]
    }


def _scaled(name: str, values: Floats) -> Floats:
    return np.log(values + LOG_OFFSETS[name]) if name in LOG_OFFSETS else values


def _tau(predicted: Floats | Sequence[float], response: Floats) -> float:
    return 100 * float(kendalltau(predicted, response).statistic)


def _short(value: float | np.floating[Any]) -> float:
    return round(float(value), 8)


def main() -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(description="Fit the control judge.")
    for name in ("scores", "stories", "mans-roc", "mans-wp"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, default=shipped_model())
    asked = parser.parse_args()
    content = fit_all(asked.scores, asked.stories, asked.mans_roc, asked.mans_wp)
    text = orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
    asked.output.write_text(_INNERMOST.sub(lambda found: " ".join(found[0].split()), text), encoding="utf-8")


if __name__ == "__main__":
    main()
