"""Questions that compare: which Eval-Prompt, which judge, which panel of judges, which system is better?"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Literal

from judge.analysis import succession, systems, systems_tables
from judge.analysis.comparison import result
from judge.analysis.comparison import tables as comparison_tables
from judge.analysis.frames import long_table
from judge.analysis.jury import jury, reliability_curve
from judge.analysis.options.agreement_options import SuccessionOptions
from judge.analysis.options.selection import Selection
from judge.analysis.options.table_options import (
    CompareOptions,
    JuryOptions,
    RankOptions,
    ReliabilityOptions,
    SystemsOptions,
)
from judge.analysis.preference import ranked
from judge.base.errors import OptionError, SpecError
from judge.base.wording import Advice
from judge.questions import pictures, sentences
from judge.questions.answer import Shown, Way, frame_of, shown
from judge.questions.question import Question

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from judge.analysis.jury.result import Juries
    from judge.analysis.preference.standings import Systems
    from judge.exchange.imported_folder import Import
    from judge.questions.source import Source
    from judge.ratings.preferences_table import PreferencesTable
    from judge.ratings.ratings_table import RatingsTable


class _Pairs(Shown):
    pairs: bool | None = shown("tables of every pair; default: for up to 6 pairs", default=None)


class _Jury(Shown):
    weights: bool = shown("additional table of weights, means over folds")
    effective: bool = shown("additional table: number of independent judges that the panel is worth")
    long: bool = shown("long layout, with weights: one row for each predictor")


class _Topics(Shown):
    table: tuple[str, ...] = shown(f"table to print: {', '.join(ranked.TOPICS)}", default=ranked.TOPICS)
    long: bool = shown("long layout: one row for each number")

    def __post_init__(self) -> None:
        for name in self.table:
            if name not in ranked.TOPICS:
                raise OptionError("table", name, allowed=ranked.TOPICS)


class _Systems(Shown):
    by: Literal["auto", "judge", "criterion"] = shown(
        "one table for each judge (criteria as columns) or each criterion (judges as columns)", default="auto"
    )
    rank: bool = shown("table of ranks with intervals, in place of means")
    differences: bool = shown("table of all pairs of systems on the same story-prompts, with adjusted p (Holm)")
    full: bool = shown("everything: all rows, columns and notes; every judge, Eval-Prompt and criterion")
    long: bool = shown("long layout: one row for each number")


def _both_parsers(source: Source, options: CompareOptions) -> RatingsTable:
    if options.by != "parser":
        return source.table
    if source.parser != "ours":
        raise SpecError(Advice("{by} compares ours with as-published", by="parser"), hint=Advice("leave {parser} out"))
    return result.both_parsers(source.table, source.read("as-published"))


def _old(source: Source, options: SuccessionOptions) -> RatingsTable:
    if len(source.folders) > _SIDES:
        raise SpecError(f"{len(source.folders)} runs, and a successor is set against one old judge", hint="OLD and NEW")
    return _side(source, 0, options.old_judge)


def _new(source: Source, _table: RatingsTable) -> Mapping[str, Any]:
    # `compute` chooses the new judge among these: options do not come here.
    return {"others": source}


def _succession(old: RatingsTable, options: SuccessionOptions, *, others: Source) -> succession.Succession:
    return succession.succession(old, _side(others, -1, options.new_judge), options)


def _side(source: Source, place: int, judge: str | None) -> RatingsTable:
    """Ratings of the first or last run, of one judge where it has several."""
    one = source.of_run(place)
    return one.table if judge is None else one.only(Selection.of((), [judge], ())).table


_SIDES = 2


def _jury_ratings(juries: Juries, table: RatingsTable) -> Import:
    from judge.analysis.jury.jury import jury_name, notes_of, ratings_of
    from judge.exchange.imported_folder import Import

    if len(juries.held) != 1:
        raise SpecError("ratings are written of one dataset", hint="name the runs of one dataset")
    (held,) = juries.held
    return Import(
        frame=ratings_of(held, table),
        judge=jury_name(held),
        criteria=[criterion for fact in table.facts[:1] for criterion in fact.criteria],
        notes=notes_of(held),
        sources=[],
        stories=held.matrix.stories.drop(columns=["story_prompt", "system"]).assign(dataset=held.matrix.dataset),
        ratings="means",
        asked=asdict(held.options),
    )


def _systems_frame(found: Any, *, differences: bool, **_shown: Any) -> pd.DataFrame:
    frame: pd.DataFrame = found.differences if differences else found.frame
    return frame


COMPARE = Question(
    "compare",
    """Paired comparisons of Eval-Prompts, judges, structured modes, parsers or runs on the same stories and repeats.

    Differences of ratings, of parsed and explained shares, of consistency and of tau with people, each with an
    interval. Permutation and Williams' tests are one adjusted family; each comparison has one sentence. For three
    variants or more, first the best and those not significantly different from it.

    Layout successor: whether the judge of the second run may replace that of the first, for example when a model is
    shut down. An equivalence test with a margin that you declare, a crosswalk of scales, the stories whose verdict
    changes, and the number of additional stories that would decide an undecided test.

    Example: judge compare runs/hanna --by eval_prompt --baseline ep1 --drop-system Human

    Example: judge compare runs/tales/openai-gpt-4o runs/tales/openai-gpt-5 --layout successor --margin 0.05""",
    {
        "contrasts": Way(
            options=CompareOptions,
            compute=result.compared,
            table=_both_parsers,
            tables=comparison_tables.tables,
            sentence=sentences.comparison,
            shown=_Pairs,
            helps={
                "by": "factor whose values are compared",
                "baseline": "value that every other is compared with; default: all pairs",
                "level": "level of Kendall's tau with people: all stories, or system means",
                "adjust": "correction of p values for the number of tests in the family",
                "family": "description of the family of tests, which is printed",
                "swap": "unit that a permutation test swaps; auto: systems at system level, else story-prompts",
                "permutations": "number of permutations of a permutation test",
                "seed": "seed of resamples and permutations",
            },
            explanations="given",
        ),
        "successor": Way(
            options=SuccessionOptions,
            compute=_succession,
            table=_old,
            further=_new,
            tables=succession.tables,
            helps={
                "margin": "largest difference of tau with people that counts as equivalent",
                "points": "largest difference of mean ratings that counts as equivalent, in points",
                "cut": "lowest rating with which a story passes; default: the nearest point is the verdict",
                "power": "power with which the additional stories should decide the test",
                "folds": "number of folds of story-prompts for the crosswalks",
                "changes": "number of stories with a changed verdict that are shown",
                "old_judge": "name of the old judge, where the first run has several",
                "new_judge": "name of the new judge, where the last run has several",
            },
            coverage="none",
        ),
    },
)

JURY = Question(
    "jury",
    """Agreement with people of a panel's combined ratings, out of fold, beside its best member, mean and control.

    Layout calibration: people's mean rating against a judge's, before and after out-of-fold calibration.

    Example: judge jury runs/hanna --drop-system Human --set with_features=true --set weights=true

    Example: judge jury runs/hanna --layout calibration --eval-prompt ep1 -o calibration.pdf""",
    {
        "panel": Way(
            options=JuryOptions,
            compute=jury.jury,
            tables=jury.tables,
            sentence=sentences.jury,
            shown=_Jury,
            ratings=_jury_ratings,
            helps={
                "combiner": "method that combines ratings; auto: chosen inside the folds",
                "members": "judge of the panel, or 'JUDGE EVAL-PROMPT'; may be given several times",
                "min_members": "smallest number of members' ratings with which a story is rated",
                "all_criteria": "predictors from members' ratings of all criteria, or of the same criterion",
                "with_features": "additional predictors: surface features of the stories",
                "calibrate": "calibration that maps ratings onto people's scale",
                "predict": "coverage of an interval of one story's rating, such as 0.9",
                "carry_over": (
                    "largest mean error in points that counts as none, for a test of the calibration on each system"
                ),
                "hold_out": "unit that a fold holds out",
                "folds": "number of folds, outer and inner",
                "foldings": "number of random foldings; results are means over them",
                "seed": "seed of the first folding and of the resamples",
            },
        ),
        "calibration": Way(
            options=ReliabilityOptions,
            compute=reliability_curve.curves,
            tables=lambda found: [reliability_curve.table(each) for each in found],
            frame=lambda found: frame_of(map(reliability_curve.table, found)),
            helps={"bins": "largest number of bins, which hold equally many stories"},
            picture=pictures.calibration,
        ),
    },
)

SYSTEMS = Question(
    "systems",
    """Mean rating of each system by people and judges, ranks, and which systems do not differ significantly.

    Example: judge systems runs/mans-roc --set rank=true --eval-prompt ep1""",
    {
        "means": Way(
            options=SystemsOptions,
            compute=systems.systems,
            tables=systems_tables.tables,
            sentence=sentences.systems,
            frame=_systems_frame,
            shown=_Systems,
            helps={
                "mean_interval": "kind of interval of means",
                "holm_over": "tests that p is adjusted for: the pairs of a cell (judge and criterion), or of the table",
                "resamples": "number of resamples for ranks",
            },
            picture=pictures.systems,
        ),
        "separation": Way(
            options=SystemsOptions,
            compute=systems.separation,
            tables=lambda found: [
                long_table("Pairs of systems told apart", found.frame, found.frame.attrs["signature"])
            ],
        ),
    },
)


def _preferences(source: Source, _options: RankOptions) -> PreferencesTable:
    return source.preferences


def _wins(table: PreferencesTable, options: RankOptions) -> Systems:
    return ranked.ranked(table, replace(options, control=False)).systems


_RANK = {
    "ties": "model of ties for strengths: an outcome (Davidson), half a win for both, or left out",
    "bootstraps": "number of resamples of story-prompts for intervals of strengths; 0: clustered intervals",
    "seed": "seed of resamples and of the control's folds",
    "control": "row of the control judge, out of fold",
}

RANK = Question(
    "rank",
    """Tables on comparisons of two stories: agreement with people, position bias, systems, stories, transitivity.

    Runs of ratings beside runs of comparisons are counted by the preferences that their means imply. The name of a
    dataset stands for its people: their systems, with the longer story and the control as baselines for a judge.

    Layout wins: who won against whom.

    Example: judge rank runs/mans-roc-pairs --table agreement --table order

    Example: judge rank runs/mans-roc-pairs -o strengths.pdf""",
    {
        "comparisons": Way(
            options=RankOptions,
            compute=ranked.ranked,
            table=_preferences,
            tables=lambda found, *, table, long: ranked.tables(found, table, long=long),
            frame=lambda found, **_shown: found.agreement.frame,
            shown=_Topics,
            helps=_RANK,
            without=("panel", "pass_rate", "parser"),
            picture=pictures.strengths,
            coverage="none",
        ),
        "wins": Way(
            options=RankOptions,
            compute=_wins,
            table=_preferences,
            tables=ranked.win_tables,
            helps=_RANK,
            without=("panel", "pass_rate", "parser", "control"),
            picture=pictures.wins,
            coverage="none",
        ),
    },
)
