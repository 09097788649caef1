"""A judge's name, `provider/model`, split into its parts. Whether the back-end exists is not checked here."""

from __future__ import annotations

from typing import NamedTuple

MEASURE = "measure"
"""What stands before the name of an automatic measure, which is no judge."""

CONTROL, RECORDED, SCRIPTED = "surface", "recorded", "scripted"
"""Providers without a language model: the control judge, answers from a file, answers from a script."""

TRAINED, REWARD = "trained", "reward"
"""Providers that score a story in this process and generate nothing: a trained evaluator, a reward model."""

MODELLESS = frozenset({CONTROL, RECORDED, SCRIPTED, TRAINED, REWARD})
"""They generate nothing, ask no server and cost nothing."""


class JudgeName(NamedTuple):
    """Parts of a judge's name: the back-end, and the model as the back-end knows it ("" where none is named)."""

    provider: str
    model: str

    @classmethod
    def of(cls, judge: str) -> JudgeName:
        """The parts of a name; a name without a "/" is a provider's."""
        provider, _, model = judge.partition("/")
        return cls(provider, model)

    @property
    def is_control(self) -> bool:
        """Whether the judge is the control judge, which uses only surface features of a text."""
        return self.provider == CONTROL

    @property
    def is_scripted(self) -> bool:
        """Whether the judge's answers were written without reading the stories."""
        return self.provider == SCRIPTED

    @property
    def is_recorded(self) -> bool:
        """Whether the judge's answers come from a file, so that no new answers can be requested."""
        return self.provider == RECORDED

    @property
    def is_modelless(self) -> bool:
        """Whether no language model writes the judge's answers, so that no server receives requests and nothing is
        paid.
        """
        return self.provider in MODELLESS
