"""Schema of a criteria set's `scale`: numbers from min to max, or labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, model_validator

from judge.base.records import Scale
from judge.inputs.criteria.prompt_file import Strict

TEXT_KEYS = frozenset({"labels", "positive"})
"""Keys whose values are texts as they are written: YAML takes a bare Yes for true and a bare 1 for a number."""

_MOST_POINTS = 101
"""A slider from 0 to 100 has this many points; beyond, tables by point cannot be read."""

_MOST_LABELS = 26
_LONGEST_LABEL = 60
"""Characters: a label is a heading in tables and a word that an answer is searched for."""

_FEWEST_LABELS = 2
_NUMBERS = ("min", "max", "step")
_Finite = Annotated[float, Field(allow_inf_nan=False)]


class ScaleFile(Strict):
    """Schema of the mapping `scale` in a criteria set's file."""

    min: _Finite = Field(default=1, description="lowest point")
    max: _Finite = Field(default=5, description="highest point")
    step: _Finite = Field(default=1, description="distance of two points; max is a whole number of steps above min")
    labels: list[str] | None = Field(default=None, description="labels in place of points, lowest first")
    ordered: bool | None = Field(default=None, description="whether labels have an order; it is true unless said")
    positive: str | None = Field(default=None, description="the label of two that counts as passed, such as Yes")

    @model_validator(mode="after")
    def _is_a_scale(self) -> ScaleFile:
        if self.labels is not None:
            return self
        if self.min >= self.max or self.step <= 0:
            raise ValueError("must go up from min to max by a positive step")
        steps = (self.max - self.min) / self.step
        if abs(steps - round(steps)) > 1e-9 or steps + 1 > _MOST_POINTS:
            raise ValueError(f"must reach max from min by whole steps, with at most {_MOST_POINTS} points")
        return self

    def fault(self) -> str | None:
        """What is wrong with the labels in the mapping `scale`, as text that begins with the key, such as
        `scale.labels`; None if nothing is wrong.
        """
        if self.labels is None:
            alone = [key for key in ("ordered", "positive") if getattr(self, key) is not None]
            return f"scale.{alone[0]} is for labels, and there are none" if alone else None
        numbers = [f"scale.{key}" for key in _NUMBERS if key in self.model_fields_set]
        if numbers:
            return f"scale.labels stands beside {', '.join(numbers)}: write labels, or min, max and step"
        wrong = labels_fault(self.labels, self.positive)
        return None if wrong is None else f"scale.{wrong}"

    def scale(self) -> Scale:
        """The scale as a `Scale` record."""
        if self.labels is None:
            return Scale(_whole(self.min), _whole(self.max), _whole(self.step))
        labels = [" ".join(label.split()) for label in self.labels]
        scale = Scale.of_labels(labels, ordered=self.ordered is not False)
        if self.positive is None:
            return scale
        code = scale.code_of(self.positive)
        return Scale.of_labels(labels, ordered=scale.ordered, positive=scale.label_of(code))


def labels_fault(labels: Sequence[str], positive: str | None) -> str | None:
    """What is wrong with the labels of a scale or with its positive label, as text that begins with `labels` or
    `positive`; None if nothing is wrong.
    """
    if len(labels) < _FEWEST_LABELS or len(labels) > _MOST_LABELS:
        return f"labels must be {_FEWEST_LABELS} to {_MOST_LABELS} different texts; found {', '.join(labels) or 'none'}"
    scale = Scale.of_labels(labels)
    for code, label in enumerate(labels):
        if not any(c.isalpha() for c in label):
            return f"labels must hold a letter each; found {label!r} (for numbers write min, max and step)"
        if len(label) > _LONGEST_LABEL or "\n" in label.strip():
            return f"labels must be lines of at most {_LONGEST_LABEL} characters; found {label[:_LONGEST_LABEL]!r}..."
        if scale.code_of(label) != code:
            return f"labels must differ in more than case and blanks; found {label.strip()!r} twice"
    if positive is not None and len(labels) != _FEWEST_LABELS:
        return f"positive is for two labels; found {len(labels)} labels"
    if positive is not None and scale.code_of(positive) is None:
        return f"positive must be one of the labels; found {positive!r} (allowed: {', '.join(labels)})"
    return None


def _whole(value: float) -> float:
    """The value as an integer if it is whole (1.0 becomes 1), so that prompts show numbers as people write them; else
    unchanged.
    """
    return int(value) if float(value).is_integer() else value
