"""The control judge's fitted models: a distribution over the scale's points from a story's features, in plain Python,
so that a run needs no numpy. `tests/packaged_data/surface_model.py` writes `model.json`."""

from __future__ import annotations

import functools
import math
import re
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import BackendError, DataError
from judge.base.files import package_file
from judge.base.fingerprint import digest, fingerprint_file
from judge.base.printing.tables import Column, Table
from judge.base.records import Commission, Query, Request

# Answers of judges that compute numbers, as text in the format that a query requires.

# A label or a word, or a number.
Value = str | float


_PAIR = 2


def refuse_unrated(query: Request, who: str) -> Query:
    """The query. Raises BackendError, which begins with `who`, for what no judge that computes numbers can answer."""
    if isinstance(query, Commission):
        raise BackendError(f"{who} rates stories and writes none", kind="capability", retryable=False)
    if query.scoring == "logprobs":
        raise BackendError(f"{who} has no log-probabilities", kind="capability", retryable=False, hint="scoring: text")
    for criterion in query.criteria or (query.criterion,):
        if len(criterion.scale.labels) > _PAIR and not criterion.scale.ordered:
            raise BackendError(
                f"{who} rates along an order, and the labels of {criterion.name} have none",
                kind="capability",
                retryable=False,
            )
    return query


def value_text(query: Query, name: str, value: Value, explanation: str | None) -> str:
    """Text of an answer with one value. `name` says what it is: rating, answer or verdict."""
    word = value if isinstance(value, str) else f"{value:g}"
    if query.structured == "choice":
        return word
    if query.structured == "none":
        return f"{name.capitalize()}: {word}" + ("" if explanation is None else f"\n\nExplanation: {explanation}")
    reason = {} if explanation is None else {"explanation": explanation}
    return orjson.dumps({name: value, **reason}).decode()


def several(query: Query, answers: Sequence[tuple[str, Value, str | None]]) -> str:
    """Text of an answer with (criterion, value, explanation) for several criteria, in lines or one JSON object."""
    if query.structured != "none":
        values: dict[str, Any] = {}
        for name, value, why in answers:
            values[name] = value if why is None else {"rating": value, "explanation": why}
        return orjson.dumps(values).decode()
    lines = []
    for name, value, why in answers:
        word = value if isinstance(value, str) else f"{value:g}"
        lines.append(f"{name}: {word}" + ("" if why is None else f"\n{why}\n"))
    return "\n".join(lines)


LABEL = "control, not a language model"
OVERALL = "overall"
POINTS = (1, 2, 3, 4, 5)
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Term:
    """One feature's term: clipped to `low`..`high`, standardised by `mean` and `scale`, times `weight` (rating
    points)."""

    feature: str
    low: float
    high: float
    mean: float
    scale: float
    weight: float

    def part(self, value: float) -> float:
        """Rating points that this value adds to the rating of an average story."""
        return (min(max(value, self.low), self.high) - self.mean) / self.scale * self.weight


@dataclass(frozen=True, slots=True)
class Model:
    """A criterion's ridge regression for stories of `tokens_from` to below `tokens_to` tokens (None = no limit), fitted
    on dataset `data`. `residual_sd` is that of cross-validated errors against mean human ratings. `own`: on the
    features of `text_features.own_features`, otherwise of `score_file_features`."""

    name: str
    criterion: str
    data: str
    own: bool
    tokens_from: float
    tokens_to: float | None
    intercept: float
    residual_sd: float
    terms: tuple[Term, ...]

    def parts(self, features: Mapping[str, float]) -> dict[str, float]:
        """Rating points per feature; `features` must be transformed by `text_features.for_regression`."""
        return {term.feature: term.part(features[term.feature]) for term in self.terms}

    def distribution(self, parts: Mapping[str, float]) -> list[float]:
        """Probability of each of `POINTS` (ratings 1 to 5), from the points that features add."""
        return distribution(self.intercept + sum(parts.values()), self.residual_sd)


@dataclass(frozen=True, slots=True)
class Card:
    """Content of a model file of the control judge (`model.json`).

    `by_criterion`: criterion -> its models, sorted by the length of their stories. `data`: the files from which they
    were fitted, with hash and purpose. `recomputation`: feature -> Pearson correlation of its values in HANNA's
    released score file with those recomputed from texts. `out_of_fold`: each model's cross-validated agreement with
    human ratings. `fitted_on`: dataset -> short hashes of the story-prompts of its stories. `hash` is the file's."""

    by_criterion: Mapping[str, tuple[Model, ...]]
    data: tuple[Mapping[str, str], ...]
    recomputation: Mapping[str, float]
    out_of_fold: tuple[Mapping[str, Any], ...]
    fitted_on: Mapping[str, frozenset[str]]
    hash: str

    @property
    def models(self) -> list[Model]:
        """All models in the file's order, by criterion and length of stories."""
        return [model for group in self.by_criterion.values() for model in group]

    def reads_own(self, criterion: str) -> bool:
        """Whether a criterion's models use `text_features.own_features`, not `score_file_features`."""
        return self._fitting(criterion)[0].own

    def choose(self, criterion: str, tokens: float) -> Model:
        """The model for a criterion (case is ignored) and length; overall quality's if none was fitted."""
        fitting = self._fitting(criterion)
        return fitting[bisect([m.tokens_from for m in fitting], tokens, lo=1) - 1]

    def _fitting(self, criterion: str) -> tuple[Model, ...]:
        wanted = criterion.casefold().strip()
        return self.by_criterion.get(wanted) or self.by_criterion[OVERALL]

    def was_fitted_on(self, model: Model, story_prompt: str) -> bool:
        return prompt_mark(story_prompt) in self.fitted_on[model.data]


def distribution(centre: float, spread: float) -> list[float]:
    """Probability of each of `POINTS` by a normal distribution, cut half-way between the points."""
    cuts = [_normal_below((point + 0.5 - centre) / spread) for point in POINTS[:-1]]
    return [high - low for low, high in zip([0.0, *cuts], [*cuts, 1.0], strict=True)]


def expected(probabilities: Sequence[float]) -> float:
    """Expected value of a distribution over `POINTS` (ratings 1 to 5)."""
    return sum(point * p for point, p in zip(POINTS, probabilities, strict=True))


def prompt_mark(story_prompt: str) -> str:
    """Short hash without case, blanks and punctuation, to recognise story-prompts of the training data."""
    letters = re.sub(r"[\W_]+", "", story_prompt.casefold())
    return digest(letters, 4).hex()


def shipped_model() -> Path:
    return package_file("backends", "surface", "model.json")


@functools.cache
def read_card(path: Path) -> Card:
    """The content of a model file. Raises DataError for another file."""
    try:
        content = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        raise DataError(
            "no such model file", file=path, hint="judge the control with its shipped model: surface"
        ) from None
    except orjson.JSONDecodeError as error:
        raise DataError(f"not JSON ({error})", file=path) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError("not a model file of the control judge", file=path, allowed=f'"format": {FORMAT}')
    try:
        models = [_model(entry) for entry in content["models"]]
        return Card(
            by_criterion={
                c: tuple(m for m in models if m.criterion == c) for c in dict.fromkeys(m.criterion for m in models)
            },
            data=tuple(content["data"]),
            recomputation=content["recomputation"],
            out_of_fold=tuple(content["out_of_fold"]),
            fitted_on={name: frozenset(marks.split()) for name, marks in content["fitted_on"].items()},
            hash=fingerprint_file(path),
        )
    except KeyError as error:
        raise DataError(f"key {error} is missing", file=path) from None


def _model(entry: Mapping[str, Any]) -> Model:
    return Model(
        name=entry["name"],
        criterion=entry["criterion"],
        data=entry["data"],
        own=entry["own"],
        tokens_from=entry["tokens_from"],
        tokens_to=entry["tokens_to"],
        intercept=entry["intercept"],
        residual_sd=entry["residual"]["sd"],
        terms=tuple(Term(feature=name, **numbers) for name, numbers in entry["terms"].items()),
    )


def _normal_below(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))


# Tables of the control judge's model card, from the numbers that were stored when it was fitted.


def model_card() -> list[Table]:
    """Tables for `judge doctor`: cross-validated agreement with human ratings, and every feature's weight."""
    card = read_card(shipped_model())
    signature = f"surface@{card.hash}|{LABEL}"
    return [_agreement(card, signature), _weights(card, signature)]


def _agreement(card: Card, signature: str) -> Table:
    notes = [f"{entry['file']} {entry['hash']}: {entry['used_for']}" for entry in card.data]
    notes.append(
        "tau: Kendall's tau-b x 100 with the mean of people's ratings over all stories, predicted out of fold; "
        "mean of five foldings by story-prompt, each prediction less the mean rating that it was fitted on. "
        "tau rounded: of the answers as given, rounded to 0.1 (ties move tau-b)."
    )
    return Table(
        title=f"surface: {LABEL}; out-of-fold agreement with people",
        columns=[
            Column("model", "model"),
            Column("data", "data"),
            Column("n", "stories"),
            Column("tau", "tau", 1),
            Column("low", "lowest folding", 1),
            Column("high", "highest folding", 1),
            Column("tau_rounded", "tau rounded", 1),
            Column("tau_length", "length alone", 1),
            Column("residual_sd", "error sd"),
        ],
        rows=list(card.out_of_fold),
        signature=f"{signature}|tau:b|level:overall|folds:5x5/story_prompt/less-fold-means",
        notes=notes,
    )


def _weights(card: Card, signature: str) -> Table:
    features = list(dict.fromkeys(term.feature for model in card.models for term in model.terms))
    rows: list[dict[str, Any]] = []
    for feature in features:
        row: dict[str, Any] = {"feature": feature, "recomputed": card.recomputation.get(feature)}
        for model in card.models:
            row[model.name] = next((term.weight for term in model.terms if term.feature == feature), None)
        rows.append(row)
    return Table(
        title="surface: rating points per standard deviation of each feature",
        columns=[
            Column("feature", "feature"),
            Column("recomputed", "r with score file", 3),
            *(Column(model.name, model.name, 3) for model in card.models),
        ],
        rows=rows,
        signature=signature,
        notes=["r with score file: recomputed from the 96 human stories' texts against the released score file."],
    )
