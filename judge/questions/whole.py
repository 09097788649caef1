"""Questions on runs as a whole: what came back, what it comes to, and what a further study needs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.analysis.coverage import counts, coverage
from judge.analysis.coverage.counts import VerdictCoverage, count, verdict_coverage
from judge.analysis.coverage.coverage import Coverage
from judge.analysis.options.agreement_options import PlanOptions
from judge.analysis.options.alternatives import option
from judge.analysis.options.table_options import CoverageOptions, names
from judge.base.errors import SpecError
from judge.base.wording import Advice
from judge.questions import sentences
from judge.questions.answer import File, Shown, Way, frame_of, shown
from judge.questions.certificate.certify import Certificate, LeftOut, certify
from judge.questions.certificate.file import Conditions, write
from judge.questions.certificate.printed import certificate_tables
from judge.questions.question import Question
from judge.questions.summary.evidence import Evidence
from judge.questions.summary.result import EvidenceOptions
from judge.ratings.preferences_table import PreferencesTable
from judge.ratings.ratings_table import RatingsTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from judge.analysis.inputs.bars import Predict
    from judge.analysis.planning import Planned
    from judge.base.printing.tables import Table
    from judge.questions.source import Source


class _Counted(Shown):
    by: tuple[str, ...] = shown(
        "groups of the frame: judge, criterion, eval_prompt, system", default=("judge", "criterion", "eval_prompt")
    )
    require: float | None = shown("share of rated repeats, in per cent, below which the exit code is 4", default=None)

    def __post_init__(self) -> None:
        if self.require is not None and not 0 <= self.require <= 100:
            raise SpecError(Advice("{require} is not a percentage; allowed: 0 to 100", require=f"{self.require:g}"))


class _Long(Shown):
    long: bool = shown("long layout: one row for each number")


# Ratings, or the preferences of runs that all compare stories.
_Asked = RatingsTable | PreferencesTable


def _asked(source: Source, _options: Any) -> _Asked:
    return source.preferences if source.judged.compares else source.table


def _asked_whole(source: Source, _options: Any) -> _Asked:
    return source.preferences if source.judged.compares else source.read(source.parser, perturbed=True)


def _coverage(table: _Asked, options: CoverageOptions) -> Coverage | VerdictCoverage:
    return verdict_coverage(table) if isinstance(table, PreferencesTable) else coverage.coverage(table, options)


def _below(found: Coverage | VerdictCoverage, *, require: float | None, **_shown: Any) -> str:
    if require is None or (found.share is not None and 100 * found.share >= require):
        return ""
    words = counts.sentence(found) if isinstance(found, VerdictCoverage) else coverage.sentence(found.total)
    return f"{words}: below {require:g} %"


def _coverage_tables(found: Coverage | VerdictCoverage, **_shown: Any) -> list[Table]:
    return counts.tables(found) if isinstance(found, VerdictCoverage) else coverage.tables(found)


def _coverage_words(found: Coverage | VerdictCoverage) -> str:
    return "" if isinstance(found, VerdictCoverage) else sentences.coverage(found)


def _counts(found: Coverage | VerdictCoverage, table: _Asked, *, by: tuple[str, ...], **_shown: Any) -> pd.DataFrame:
    if isinstance(found, VerdictCoverage) or isinstance(table, PreferencesTable):
        return frame_of(_coverage_tables(found))
    return count(table, names(by), drop_systems=found.options.drop_systems).frame


@dataclass(frozen=True, slots=True)
class CertifyOptions(EvidenceOptions):
    """As `EvidenceOptions`, with the conditions: floors such as ``tau=0.3``, and requirements by name."""

    floor: tuple[str, ...] = option("lowest accepted tau, icc, coverage or accuracy", default=(), metavar="NAME=NUMBER")
    require: tuple[str, ...] = option("condition to meet: replace, control or unbiased", default=(), metavar="NAME")

    @property
    def conditions(self) -> Conditions:
        return Conditions.of(self.floor, self.require)


class _Whole(Shown):
    full_text: bool = shown("every failure by name, in place of the first")


def _rated(source: Source, options: CertifyOptions) -> RatingsTable:
    _ = options.conditions  # refuses what is no condition, before anything is read
    if source.judged.compares:
        raise SpecError("a certificate is of ratings, and these runs compare stories", hint="judge rank has the tables")
    return source.table


def _left_out(source: Source, table: RatingsTable) -> Mapping[str, Any]:
    return {"left_out": LeftOut.between(source.whole, table), "control": source.control}


def _certified(table: RatingsTable, options: CertifyOptions, *, left_out: LeftOut, control: Predict) -> Certificate:
    return certify(Evidence(table, options, control), options.conditions, datetime.now(UTC).date(), left_out)


def _certificate_frame(found: Certificate, **_shown: Any) -> pd.DataFrame:
    return frame_of(certificate_tables(found)[1:])


def _verdict(found: Certificate) -> str:
    return f"the certificate {'holds' if found.holds else 'does not hold'}"


def _write_certificate(found: Certificate, output: Path) -> str:
    write(found.record, output)
    return f"{output}: {_verdict(found)}"


CERTIFY = Question(
    "certify",
    """Certificate of one judge's agreement with people, by template and criterion, and whether it is sufficient.

    Every Eval-Prompt and criterion has to meet every condition; floors apply to the lower end of the 95 % interval,
    and 90 % of the repeats need a rating unless --floor coverage says otherwise. The file is written in either case
    and records the result. Exit code 4 means that a condition is not met. judge run --require-certificate refuses a
    run that the certificate does not cover.

    Example: judge certify runs/hanna --eval-prompt ep1 --floor tau=0.3 --require replace -o hanna.certificate.json""",
    {
        "certificate": Way(
            options=CertifyOptions,
            compute=_certified,
            table=_rated,
            further=_left_out,
            tables=lambda found, *, full_text: certificate_tables(found, brief=not full_text),
            frame=_certificate_frame,
            failed=lambda found, **_shown: "" if found.holds else _verdict(found),
            file=File("file for the certificate (JSON)", _write_certificate),
            shown=_Whole,
            without=("pass_rate",),
            coverage="none",
            names_raters=True,
        )
    },
)

COVERAGE = Question(
    "coverage",
    """Counts of what was requested, answered and rated, tests whether ratings are missing at random, bounds of means.

    For runs of comparisons: counts of what was requested, answered and decided.

    Example: judge coverage runs/mans-roc --require 95""",
    {
        "counts": Way(
            options=CoverageOptions,
            compute=_coverage,
            table=_asked_whole,
            tables=_coverage_tables,
            frame_of_table=_counts,
            sentence=_coverage_words,
            failed=_below,
            shown=_Counted,
            helps={"seed": "seed of permuted tests where counts are small"},
            without=("panel", "pass_rate"),
            of_frame=("by",),
            coverage="none",
            kinds=True,
        )
    },
)


def _planned(table: RatingsTable, options: PlanOptions) -> Planned:
    from judge.analysis.planning import plan

    return plan(table, options)


def _plan_tables(found: Planned, *, long: bool) -> list[Table]:
    from judge.analysis.planning import tables

    return tables(found, long=long)


PLAN = Question(
    "plan",
    """Number of stories, people, repeats and Eval-Prompts that a study needs, with these runs as its pilot.""",
    {"sizes": Way(options=PlanOptions, compute=_planned, tables=_plan_tables, shown=_Long)},
)
