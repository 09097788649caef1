"""A selection of preferences by names keeps rows and facts alike, whatever the letter case."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from judge.analysis.preference.sides import of_names
from judge.ratings.preferences_table.journaled import ComparisonFacts, PreferencesTable


def _fact(judge: str) -> ComparisonFacts:
    return ComparisonFacts(
        "r", judge, "d", None, 1, (), ("EP1",), "both", ties=True, parser="1", notes=(), path=Path("r")
    )


def test_a_judge_named_in_another_case_keeps_its_rows_and_its_facts() -> None:
    frame = pd.DataFrame(
        {
            "criterion": ["c", "c", "c"],
            "judge": ["Lama", "mixtral", None],
            "eval_prompt": ["EP1", "EP1", None],
            "source": ["llm", "llm", "rater"],
        }
    )
    table = PreferencesTable(frame, pd.DataFrame(), (_fact("Lama"), _fact("mixtral")))
    kept = of_names(table, None, ["LAMA"], None)
    assert kept.frame["judge"].dropna().tolist() == ["Lama"]
    assert [fact.judge for fact in kept.facts] == ["Lama"]
