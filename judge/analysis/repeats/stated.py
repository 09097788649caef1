"""Adds the ratings that answers state in their text, as separate runs, to ratings scored by log-probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from judge.ratings.ratings_table import RatingsTable, read


def with_stated(table: RatingsTable, parser: str = "ours") -> RatingsTable:
    """The table with a second reading of each run that was scored by log-probabilities: the ratings stated in its
    answers.

    Runs of the second reading are named "RUN, as stated". It has only the judges, stories, Eval-Prompts and criteria
    that the table has, which may have been narrowed. The table is unchanged if no run was scored by log-probabilities.
    """
    scored = [fact for fact in table.facts if fact.parser.endswith("+logprobs") or "+logprobs+" in fact.parser]
    if not scored:
        return table
    places: Sequence[Path] = [fact.path for fact in scored]
    again = read(places, parser, stated=True)
    names = {fact.run: f"{fact.run}, as stated" for fact in again.facts}
    keys = ["run", "judge", "dataset", "story", "eval_prompt", "criterion"]
    judge_keys = table.frame.loc[table.frame["source"] == "judge", keys].drop_duplicates()
    judged = again.frame[again.frame["source"] == "judge"].merge(judge_keys, on=keys)
    judged = judged.assign(run=judged["run"].astype(str).map(names))
    facts = tuple(replace(fact, run=names[fact.run]) for fact in again.facts)
    frame = pd.concat([table.frame, judged.reindex(columns=list(table.frame.columns))], ignore_index=True)
    return replace(table, frame=frame, facts=(*table.facts, *facts))
