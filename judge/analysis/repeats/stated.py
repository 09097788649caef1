"""Ratings as answers state them, in separate runs beside expected values over log-probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from judge.ratings_table import RatingsTable, read


def with_stated(table: RatingsTable, parser: str = "ours") -> RatingsTable:
    """Add to the table a second reading of each run scored by log-probabilities: the ratings stated in its answers.

    The second reading's runs are named so; of it only what the table has is taken, which may have been narrowed.
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
