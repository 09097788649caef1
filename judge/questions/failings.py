"""Question on what goes wrong: which faults a judge shows, on which criteria and stories."""

from __future__ import annotations

from dataclasses import MISSING, field, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.analysis.inputs.selection import people_said
from judge.analysis.options.table_options import (
    CriteriaOptions,
    DiagnoseOptions,
    DisagreementsOptions,
    DistributionOptions,
    StressOptions,
)
from judge.contamination.options import ReportOptions, ValidityOptions
from judge.questions import pictures, sentences
from judge.questions.answer import Shown, Way, frame_of, late, shown
from judge.questions.question import Question

if TYPE_CHECKING:
    import pandas as pd

    from judge.analysis import criteria, diagnose, disagreements, distributions, stress
    from judge.analysis import disagreement_tables as disagreements_tables
    from judge.contamination import report, scores_file, tables
    from judge.questions.source import Source
    from judge.ratings.ratings_table import RatingsTable
else:
    criteria, diagnose, disagreements, disagreements_tables, distributions, stress = late(
        "judge.analysis", "criteria", "diagnose", "disagreements", "disagreement_tables", "distributions", "stress"
    )
    report, scores_file, tables = late("judge.contamination", "report", "scores_file", "tables")


# Question on contamination: which stories have the models seen, and does agreement with people depend on it?


def _with_scores(options: type) -> type:
    """These options, and the files of scores, which must be given."""
    scores = ("scores", tuple[Path, ...], field(default=MISSING, kw_only=True))
    return make_dataclass(f"{options.__name__}WithScores", [scores], bases=(options,), frozen=True)


def _report(table: RatingsTable, options: Any) -> Any:
    return tables.report_table(report.report(table, [scores_file.read(path) for path in options.scores], options))


def _validity(table: RatingsTable, options: Any) -> Any:
    return tables.validity_table(tables.validity(table, [scores_file.read(path) for path in options.scores], options))


_SCORES = {"scores": "scores file of judge contamination score; may be given several times"}

CONTAMINATION = Question(
    "contamination",
    """Share of stories that each model seems to have seen, AUC, and ratings of each model's own stories.

    Layout validity: agreement with people where contamination is high and where it is low, and the difference.

    Example: judge contamination report runs/hanna --scores beluga.scores.jsonl --system Human

    Example: judge contamination report runs/hanna --layout validity --scores beluga.scores.jsonl --set split=median""",
    {
        "seen": Way(
            options=_with_scores(ReportOptions),
            compute=_report,
            tables=lambda table: [table],
            frame=lambda table: frame_of([table]),
            helps=_SCORES
            | {
                "score": "name of the score that stories are classified by",
                "systems": "system whose stories form the story set; may be given several times",
                "own_systems": "system that is a model's own; may be given several times",
            },
        ),
        "validity": Way(
            options=_with_scores(ValidityOptions),
            compute=_validity,
            tables=lambda table: [table],
            frame=lambda table: frame_of([table]),
            helps=_SCORES
            | {
                "score": "name of the score that stories are classified by",
                "split": "score that separates high from low contamination",
                "least": "smallest number of stories in each half",
            },
        ),
    },
)


class _Full(Shown):
    full: bool = shown(
        "everything: all rows, columns and notes; every test, also those without an effect; matrices of every judge"
    )


class _Long(Shown):
    long: bool = shown("long layout: one row for each number")


class _Criteria(_Full):
    long: bool = shown("long layout: one row for each number")


class _Stories(Shown):
    long: bool = shown("long layout: one row for each number, or for each story with all ratings of it")
    full_text: bool = shown("whole texts, on the screen too")


def _halo(found: Any, **_shown: Any) -> pd.DataFrame:
    frame: pd.DataFrame = found.view("halo")
    return frame


def _scale_and_notes(source: Source, table: RatingsTable) -> dict[str, Any]:
    dataset = source.dataset
    if dataset is None:
        return {}
    notes = [dataset.labels_note] if dataset.labels_note else []
    return {"scale": dataset.scale, "notes": [*notes, *people_said(table)]}


DIAGNOSE = Question(
    "diagnose",
    """Tests of leniency, length bias, compression, constant ratings, halo, self-preference, loss, reversed raters.

    Each is a test against people's ratings of the same stories, with its effect size and the smallest detectable
    effect. Layout criteria has tau between them, halo compared with people's, and use of the scale; a dataset's
    name in place of runs stands for its people. Layout distributions has how often each rating was given. Layout
    stories has those on which judge and people, repeats, Eval-Prompts or judges differ most, with their texts.

    Example: judge diagnose runs/hanna --drop-system Human --set own=Beluga-13b

    Example: judge diagnose runs/mans-roc --layout stories --top 5 --eval-prompt ep3""",
    {
        "tests": Way(
            options=DiagnoseOptions,
            compute=diagnose.diagnose,
            tables=diagnose.tables,
            sentence=sentences.diagnosis,
            shown=_Full,
            helps={
                "own": "system that is the judge's own model (default: by name); may be given several times",
                "no_own": "statement that no system is the judge's own model, so that self-preference is not tested",
                "alpha": "significance level of each test",
            },
        ),
        "criteria": Way(
            options=CriteriaOptions,
            compute=criteria.criteria,
            tables=criteria.tables,
            further=_scale_and_notes,
            frame=_halo,
            shown=_Criteria,
        ),
        "distributions": Way(
            options=DistributionOptions,
            compute=distributions.distributions,
            tables=lambda found: [distributions.table(each) for each in found],
            frame=lambda found: frame_of(map(distributions.table, found)),
            picture=pictures.distributions,
        ),
        "stories": Way(
            options=DisagreementsOptions,
            compute=disagreements.disagreements,
            tables=disagreements_tables.tables,
            shown=_Stories,
            helps={
                "between": "sides whose ratings are compared with each other",
                "top": "number of stories, each listed once; 0: all, for every judge, Eval-Prompt and criterion",
            },
            explanations=True,
            coverage="first",
        ),
    },
)

STRESS = Question(
    "stress",
    """Report on perturbed stories: what judges miss and wrongly react to, with tests paired by story.

    RUN is an ordinary run on a dataset from judge stress make.

    Example: judge stress report runs/stress --criterion Coherence --margin 0.5""",
    {
        "report": Way(
            options=StressOptions,
            compute=stress.stress,
            table=lambda source, _options: source.read(source.parser, perturbed=True),
            tables=stress.tables,
            shown=_Long,
            helps={
                "margin": "largest change in points that counts as none, for perturbations that should not matter",
                "adjust": "correction of p values over all tests of the report",
                "alpha": "significance level of tests, after the correction",
                "as_published": "additional correlations of unpaired ratings, as OpenMEVA printed them",
            },
            picture=pictures.stress,
            coverage="first",
        )
    },
)
