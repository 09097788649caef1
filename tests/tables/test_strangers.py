"""Strangers' tables are read rightly at once, or refused with command lines that run."""

from __future__ import annotations

import math
import shlex
from pathlib import Path

import pytest

from judge.base.errors import JudgeError
from judge.cli.table_options import complaint, mend
from judge.exchange.checked_table import check
from tests.tables.strangers import MAKERS, Stranger
from tests.tables.test_real_tables import of_frame

ALL = [stranger for maker in MAKERS for stranger in maker()]


@pytest.mark.parametrize("stranger", ALL, ids=lambda stranger: stranger.name)
def test_a_strangers_table_is_read_or_refused(stranger: Stranger, tmp_path: Path) -> None:
    path = stranger.write(tmp_path)
    if stranger.refused:
        with pytest.raises(JudgeError) as error:
            check(path)
        told = f"{complaint(error.value)}\n{mend(error.value) or ''}"
        assert [words for words in stranger.refused if words not in told] == []
        return
    checked = check(path)
    found = of_frame(checked.ratings.frame)
    truth = {("judge", *key): values for key, values in stranger.judges.items()}
    truth |= {("rater", *key): values for key, values in stranger.people.items()}
    assert {key: _plain(values) for key, values in found.items()} == {key: _plain(v) for key, v in truth.items()}
    fields = checked.columns.fields
    assert {name: fields.get(name) for name in stranger.fields} == stranger.fields


def _plain(values: list[float]) -> list[float]:
    return sorted(-1.0 if math.isnan(value) else round(value, 9) for value in values)
