"""What a jury can be trusted with: effective judges, intervals of one story's rating, calibration by system."""

from __future__ import annotations

import numpy as np
import pytest

from judge.analysis.jury.jury import jury, tables
from judge.analysis.options.table_options import JuryOptions, from_words
from judge.base.errors import OptionError, SpecError
from tests.analysis.planning.test_planning import pilot

OPTIONS = JuryOptions(combiner="mean", calibrate="linear", foldings=2, ci="none", predict=0.8, carry_over=0.5)


def test_intervals_hold_what_they_promise_and_tables_show_them() -> None:
    found = jury(pilot(60), OPTIONS)
    verdict = found.held[0].verdicts[0]
    assert verdict.interval is not None
    assert verdict.interval.coverage.value == pytest.approx(0.83, abs=0.08)
    assert verdict.interval.worst in {f"sys{i}" for i in range(5)}
    assert 1 <= (verdict.effective.value or 0) <= 3
    shown = tables(found, effective=True)[-3:]
    assert shown[0].rows[0]["effective"] is verdict.effective
    assert shown[1].rows[0]["reach"] is verdict.interval.reach
    assert [row["system"] for row in shown[2].rows] == [one.system for one in verdict.carried]


def test_a_system_that_the_judge_favours_is_found() -> None:
    table = pilot(60)
    frame = table.frame.copy()
    favoured = (frame["source"] == "judge") & (frame["system"] == "sys0")
    frame.loc[favoured, "rating"] = np.minimum(frame.loc[favoured, "rating"] + 2, 5)
    found = jury(type(table)(frame, table.stories, table.facts), OPTIONS)
    by = {one.system: one for one in found.held[0].verdicts[0].carried}
    assert by["sys0"].holds == "no"
    assert (by["sys0"].after.difference.value or 0) > 0.5
    assert "yes" in {one.holds for one in by.values()}


def test_what_has_no_effect_or_no_meaning_is_refused() -> None:
    with pytest.raises(OptionError):
        JuryOptions(predict=1.2)
    with pytest.raises(SpecError, match="no effect"):
        from_words(JuryOptions, carry_over=0.2)


def test_none_is_made_unless_asked_for() -> None:
    plain = jury(pilot(30), JuryOptions(combiner="mean", foldings=1, ci="none"))
    assert plain.held[0].verdicts[0].interval is None
    assert len(tables(plain)) == 1
