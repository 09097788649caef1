"""The table of measures: what each needs, how it is computed, and whether it is available here."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from judge.base.errors import install_command
from judge.base.printing.tables import Column, Table
from judge.base.wording import Advice, joined
from judge.inputs.datasets import locate
from judge.inputs.wordnet import HINT
from judge.lab.measures import SLOW, Known, measures_by_name
from judge.lab.measures.measure import MODELS, Family, Need
from judge.version import __version__

# Checks whether each automatic measure can be computed on this machine, and what it lacks otherwise.


def versions(family: Family) -> dict[str, str]:
    """Versions of the installed packages with which a family computes."""
    numbers = {}
    for name in family.distributions:
        try:
            numbers[name] = version(name)
        except PackageNotFoundError:
            continue
    return numbers


def lacking(family: Family, models: Mapping[Need, str]) -> str | None:
    """Advice on packages, files and models that a family still needs; None where nothing is missing."""
    there = versions(family)
    absent = [name for name in family.distributions if name not in there]
    parts: list[str] = []
    if absent:
        parts.append(install_command(family.extra))
    if "wordnet" in family.needs and locate.wordnet_folder() is None:
        parts.append(f"WordNet 3.0: {HINT}")
    parts += [
        Advice("{model} (" + MODELS[need] + ")", model=f"{need}=PATH")
        for need in family.needs
        if need in MODELS and need not in models
    ]
    if not parts:
        return None
    return joined(parts[0], *(piece for part in parts[1:] for piece in ("; ", part)))


# Measures of published studies that this program cannot compute, with the reasons.

_REMEDY = "their numbers, made elsewhere: judge import FILE"
# Measure -> why it is not among those that run.
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


def reason(name: str) -> str:
    """Why a measure is not computed, and what to do instead."""
    why = UNAVAILABLE[name]
    return why if why.startswith("are judges") else f"{why}; {_REMEDY}"


_DIRECTIONS = {1: "higher is better", -1: "lower is better", 0: "-"}
NOTES = (
    "a story that is its own reference has no value of a measure that uses the reference",
    "measures that repeat a study (-hanna, -openmeva) give the number of the study's file, also there",
    "sets: quick, hanna and openmeva (what those studies used), all",
)


def measure_tables(models: Mapping[Need, str]) -> list[Table]:
    """The measures of this program, and those of published studies that it does not compute, with the reasons."""
    rows = [_row(entry, models) for entry in measures_by_name().values()]
    columns = [
        Column("measure", "measure"),
        Column("needs", "needs", wrap=16),
        Column("direction", "direction"),
        Column("recipe", "recipe", wrap=46),
        Column("source", "source", wrap=30),
        Column("here", "runs here", wrap=30),
    ]
    others = [{"measure": name, "why": reason(name)} for name in UNAVAILABLE]
    why = [Column("measure", "measure", wrap=30), Column("why", "why not", wrap=70)]
    signature = f"v{__version__}"
    return [
        Table("Measures", columns, rows, signature, NOTES),
        Table("Measures that are not computed", why, others, signature, ()),
    ]


def _row(entry: Known, models: Mapping[Need, str]) -> dict[str, Any]:
    missing = lacking(entry.family, models)
    return {
        "measure": entry.measure.name,
        "needs": ", ".join(entry.family.needs) or "text",
        "direction": _DIRECTIONS[entry.measure.direction],
        "recipe": entry.measure.recipe,
        "source": entry.family.source,
        "here": ("by name only: it is slow" if entry.measure.name in SLOW else "yes") if missing is None else missing,
    }
