"""Splits a judge's name, `provider/model`, into its parts. Whether the back-end exists is not checked here."""

from __future__ import annotations

from typing import NamedTuple

# What stands before the name of an automatic measure, which is no judge.
MEASURE = "measure"

# Providers without a language model: the control judge, answers from a file, answers from a script.
CONTROL, RECORDED, SCRIPTED = "surface", "recorded", "scripted"

# Providers that score a story in this process and generate nothing: a trained evaluator, a reward model.
TRAINED, REWARD = "trained", "reward"

# They generate nothing, ask no server and cost nothing.
MODELLESS = frozenset({CONTROL, RECORDED, SCRIPTED, TRAINED, REWARD})


class JudgeName(NamedTuple):
    """Parts of a judge's name; `model` is "" where none is given."""

    provider: str
    model: str

    @classmethod
    def of(cls, judge: str) -> JudgeName:
        """The parts of a judge's name. A name without "/" is a provider without a model."""
        provider, _, model = judge.partition("/")
        return cls(provider, model)

    @property
    def is_control(self) -> bool:
        """Whether the judge is the control judge, which rates by surface features of a text, such as its length."""
        return self.provider == CONTROL

    @property
    def is_scripted(self) -> bool:
        """Whether the judge gives fixed answers from a list, which were written without reading the stories."""
        return self.provider == SCRIPTED

    @property
    def is_recorded(self) -> bool:
        """Whether the judge's answers come from a file, so that no new answers can be requested."""
        return self.provider == RECORDED

    @property
    def is_modelless(self) -> bool:
        """Whether the judge generates no text (control, list or file of answers, trained evaluator, reward model), so
        that no server is asked and nothing is paid."""
        return self.provider in MODELLESS
