"""Back-end `reward/MODEL`: published reward models, i.e. classifiers with one output. They do not read the
Eval-Prompt.
"""

from __future__ import annotations

from judge.backends.protocol import Backend, Settings
from judge.backends.reward.classifier import RewardScorer
from judge.backends.trained.backend import ScoringBackend
from judge.backends.trained.model import Head, TrainedModel

_LOGIT = (0.0, 1.0)
"""Mean and spread that leave a reward as the model gives it: nothing was fitted to people's ratings."""


def open(model: str, settings: Settings) -> Backend:  # noqa: A001 - every back-end's loader has this name
    """The back-end for a reward model; `probe` loads the weights.

    The model gives each story a reward. The difference of two stories' rewards is the log odds that the first is
    preferred (Bradley & Terry), so the story with the higher reward wins. A single story's reward is mapped by the
    logistic curve to a rating between the ends of the scale. Only the order of these ratings is meaningful.
    """
    head = Head("", "preference", *_LOGIT, 0.0, (), (), slope=1.0, band=0.0, line=(1.0, 0.0), quantiles=(0.0,))
    name = f"reward/{model}"
    trained = TrainedModel(name, (head,), None, (), frozenset(), settings.revision or "no revision")
    return ScoringBackend(trained, RewardScorer(model, settings), label="reward model")
