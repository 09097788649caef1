"""Numbers and references for exports: agreement with human ratings, judges' self-consistency, share of repeats with a
rating, and BibTeX entries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from judge.analysis import correlation
from judge.analysis.correlation import Correlations
from judge.analysis.coverage.coverage import Coverage, coverage
from judge.analysis.inputs.bars import CEILING, CONTROL, JUDGE
from judge.analysis.inputs.control import Control
from judge.analysis.options.table_options import CorrelationOptions
from judge.analysis.reliability.consistency import Consistency, consistency
from judge.base.credentials.providers import JudgeName
from judge.base.estimate import Estimate
from judge.base.late_pattern import late
from judge.base.references import DATASETS, bibtex
from judge.ratings.ratings_table import RatingsTable, RunFacts
from judge.version import __version__

# BibTeX references for results: the program, the studies behind the datasets, and models with a known model card.

# Providers whose models are named as on the hub, where they are no folders.
_ON_THE_HUB = frozenset({"vllm", "hf"})

_HUB_NAME = late(r"[A-Za-z0-9][\w.-]*/[\w.-]+")

_PROGRAM = f"""@software{{storyjudge,
  title = {{{{judge}}: whether a language model can stand in for human readers of stories}},
  version = {{{__version__}}},
  note = {{Python distribution storyjudge}}
}}
"""


def entries(facts: Sequence[RunFacts]) -> str:
    """Entries of the program, then of the studies, then of the models, each once."""
    keys = [key for fact in facts for name, keys in DATASETS.items() if fact.dataset.startswith(name) for key in keys]
    models = dict.fromkeys(fact.judge for fact in facts)
    cards = [card for judge in models if (card := _model(judge)) is not None]
    return "\n".join([_PROGRAM, *([bibtex(list(dict.fromkeys(keys)))] if keys else []), *cards])


def without_card(facts: Sequence[RunFacts]) -> list[str]:
    """Judges that are models without a known model card."""
    judges = dict.fromkeys(fact.judge for fact in facts)
    return [judge for judge in judges if not JudgeName.of(judge).is_modelless and _model(judge) is None]


def _model(judge: str) -> str | None:
    named = JudgeName.of(judge)
    if named.provider not in _ON_THE_HUB or not _HUB_NAME.fullmatch(named.model):
        return None
    key = re.sub(r"[^a-z0-9]+", "-", named.model.lower())
    return (
        f"@misc{{model-{key},\n  title = {{{named.model}: model card}},\n"
        f"  howpublished = {{\\url{{https://huggingface.co/{named.model}}}}}\n}}\n"
    )


TAU, PERSON, SURFACE, ICC, RATED = "tau", "one_person", "control", "icc", "rated"
_UNITS = {
    TAU: "Kendall's tau-b with people's means, -1 to 1",
    PERSON: "Kendall's tau-b of one person with the mean of the others, -1 to 1",
    SURFACE: "Kendall's tau-b of the control with people's means, -1 to 1",
    ICC: "ICC(1,1) of repeats, at most 1",
    RATED: "share of repeats asked that have a rating, 0 to 1",
}
_KINDS = {JUDGE: TAU, CEILING: PERSON, CONTROL: SURFACE}


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number to export with its kind and what it was measured on; a field is None where it does not apply."""

    kind: str
    dataset: str
    judge: str | None
    eval_prompt: str | None
    criterion: str | None
    estimate: Estimate
    run: str | None = None

    @property
    def unit(self) -> str:
        return _UNITS[self.kind]

    @property
    def name(self) -> str:
        """`tau/DATASET/JUDGE/EVAL-PROMPT/CRITERION`, without parts that do not apply."""
        parts = (self.kind, self.dataset, self.judge, self.eval_prompt, self.criterion)
        return "/".join(str(part).replace("/", "_") for part in parts if part not in (None, "-"))


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Three analyses of one ratings table, computed once: a bundle's exports use all, its printed tables the first
    two."""

    correlations: Correlations
    consistency: Consistency
    coverage: Coverage

    @classmethod
    def of(cls, table: RatingsTable, resamples: int, seed: int) -> Measured:
        """The analyses of a table, with intervals from bootstrap resamples."""
        options = CorrelationOptions(resamples=resamples, seed=seed)
        return cls(correlation.correlations(table, options, Control()), consistency(table), coverage(table))

    @property
    def measurements(self) -> list[Measurement]:
        """Correlations for each criterion, reliability of repeats, and coverage of all ratings."""
        return [*self._agreement(), *self._of_repeats(), *self._rated()]

    def _agreement(self) -> Iterator[Measurement]:
        for row in self.correlations.rows:
            if row.kind in _KINDS and row.subject.against is not None:
                subject, judge = row.subject, row.kind == JUDGE
                yield Measurement(
                    _KINDS[row.kind],
                    subject.dataset,
                    subject.judge if judge else None,
                    subject.eval_prompt if judge else None,
                    subject.criterion,
                    row.estimate,
                    subject.run if judge else None,
                )

    def _of_repeats(self) -> Iterator[Measurement]:
        for cell in self.consistency.judged:
            estimate = cell.estimate("ICC(1,1)")
            if estimate is not None:
                yield Measurement(ICC, cell.dataset, cell.judge, cell.eval_prompt, cell.criterion, estimate, cell.run)

    def _rated(self) -> Iterator[Measurement]:
        for row in self.coverage.total.rows:
            share = Estimate(row.share, row.asked) if row.asked else Estimate.undefined("no judge was asked")
            yield Measurement(RATED, "", None, None, None, share)


# metrics.json, for dashboards that compare runs: a map from a measurement's name to its value, interval, count and
# unit.


def metrics_json(measurements: Sequence[Measurement]) -> bytes:
    """Content of metrics.json. An undefined number is null with a reason; an interval not computed is left out."""
    metrics: dict[str, dict[str, Any]] = {}
    for measurement in measurements:
        name, number = measurement.name.rstrip("/"), 2
        while name in metrics:  # two runs of one judge
            name, number = f"{measurement.name}#{number}", number + 1
        estimate = measurement.estimate
        plain: dict[str, Any] = {"value": estimate.value}
        if estimate.low is not None and estimate.high is not None:
            plain |= {"low": estimate.low, "high": estimate.high, "level": 0.95}
        plain |= {"n": estimate.n, "unit": measurement.unit}
        metrics[name] = plain | ({"reason": str(estimate.reason)} if estimate.reason else {})
    return orjson.dumps(metrics, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
