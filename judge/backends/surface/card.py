"""Tables of the control judge's model card, from the numbers that were stored when it was fitted."""

from __future__ import annotations

from typing import Any

from judge.backends.surface.model import LABEL, Card, read_card, shipped_model
from judge.base.printing.tables import Column, Table


def model_card() -> list[Table]:
    """Two tables for `judge doctor`: the control's cross-validated agreement with human ratings, and every feature's
    weight.
    """
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
