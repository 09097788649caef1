"""Analyses that compare Eval-Prompts, judges, runs, stories or systems with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge.analysis import succession
from judge.analysis.comparison import comparison
from judge.analysis.comparison import tables as comparison_tables
from judge.analysis.jury import jury as combined
from judge.analysis.jury import tables as jury_tables
from judge.analysis.options.planning_options import SuccessionOptions
from judge.analysis.options.table_options import CompareOptions, JuryOptions, RankOptions, SystemsOptions, from_words
from judge.analysis.preference import printed
from judge.analysis.preference.ranked import ranked
from judge.analysis.preference.reading import narrowed, read
from judge.analysis.systems import systems as of_systems
from judge.analysis.systems import tables as systems_tables
from judge.analysis.systems.separation import separation
from judge.api.result import Result
from judge.api.source import Source

if TYPE_CHECKING:
    import pandas as pd


def compare(source: Source, **words: Any) -> Result:
    """Differences in agreement with human ratings on the same stories, e.g. between two Eval-Prompts or two judges.

    `source` holds the opened runs, and `words` are fields of `CompareOptions`.
    """
    chosen = from_words(CompareOptions, **words)
    table = source.table
    if chosen.by == "parser":
        ours = table if source.parser == "ours" else source.read("ours")
        table = comparison.both_parsers(ours, source.read("as-published"))
    compared = comparison.compared(table, chosen)
    return Result(compared.frame, comparison_tables.tables(compared, pairs=True), value=compared)


def succeeded_by(source: Source, new: Any, **words: Any) -> Result:
    """Tests of whether the judge of `new`, an opened run, may replace the judge of `source`.

    `words` are fields of `SuccessionOptions`.
    """
    outcome = succession.succession(source.table, new.table, from_words(SuccessionOptions, **words))
    return Result(outcome.frame, succession.tables(outcome), value=outcome)


def jury(source: Source, **words: Any) -> Result:
    """Ratings of several judges (a jury) combined into one rating, with cross-validation.

    `source` holds the opened runs, and `words` are fields of `JuryOptions`.
    """
    juries = combined.jury(source.table, from_words(JuryOptions, **words))
    return Result(juries.frame, jury_tables.tables(juries), value=juries)


def rank(source: Source, **words: Any) -> Result:
    """Judges' preferences between two stories: agreement with human raters, order effects, and ranks of systems and
    stories.

    `source` holds the opened runs, and `words` are fields of `RankOptions`.
    """
    table = read(source.folders)
    for keep in source.kept:
        table = narrowed(table, keep.criteria, keep.judges, keep.eval_prompts)
    ranking = ranked(table, from_words(RankOptions, **words))
    return Result(ranking.agreement.frame, printed.tables(ranking), value=ranking)


def systems(source: Source, **words: Any) -> Result:
    """Means and ranks of systems, and groups of systems that do not differ significantly.

    `source` holds the opened runs, and `words` are fields of `SystemsOptions`.
    """
    standings = of_systems.systems(source.table, from_words(SystemsOptions, **words))
    return Result(standings.frame, systems_tables.tables(standings), value=standings)


def system_differences(source: Source, **words: Any) -> Result:
    """Differences of mean ratings between all pairs of systems.

    `source` holds the opened runs, and `words` are fields of `SystemsOptions`.
    """
    standings = of_systems.systems(source.table, from_words(SystemsOptions, **words))
    return Result(standings.differences, systems_tables.tables(standings, differences=True), value=standings)


def system_separation(source: Source, **words: Any) -> pd.DataFrame:
    """Counts of pairs of systems by whether a judge and human raters agree on their difference.

    `source` holds the opened runs, and `words` are fields of `SystemsOptions`.
    """
    return separation(source.table, from_words(SystemsOptions, **words)).frame
