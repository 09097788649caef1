"""Measures of published studies that this program cannot compute, with the reasons."""

from __future__ import annotations

from collections.abc import Mapping

_REMEDY = "their numbers, made elsewhere: judge import FILE"
UNAVAILABLE: Mapping[str, str] = {
    "METEOR 1.5": "needs Java and a table of paraphrases of 61 MB",
    "MoverScore": "its package does not import (an undeclared dependency)",
    "BaryScore, DepthScore": "their authors' code has no licence",
    "ROUGE-WE, S3, SummaQA, SUPERT": "their package needs abandoned packages, word vectors and pickled models",
    "BLANC": "its package needs numpy and PyTorch of before 2024; BLANC-Tune trains a model for each story",
    "QuestEval, CTC, AlignScore": "their packages pin transformers of before 2023",
    "UNION, RUBER": "need TensorFlow 1, and weights trained for each data set; the control judge stands in",
    "BLEURT, UniEval, StoryER's ranker, GRUEN": "no package brings their weights",
    "G-Eval, Prometheus": "are judges: judge run",
}
"""Measure -> why it is not among those that run."""


def reason(name: str) -> str:
    """A sentence that says why a measure is not computed, and what to do instead."""
    why = UNAVAILABLE[name]
    return why if why.startswith("are judges") else f"{why}; {_REMEDY}"
