"""The self-test finds what was planted; and it can fail: a fault that is not there is not found."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from judge.cli.main import main
from judge.self_test import measure
from judge.self_test.power import ALPHA, POWER, study
from judge.self_test.simulate import FAULTS, OWN, write_folder

STUDIES = 25


@pytest.fixture(scope="module")
def outcomes():
    return {one.diagnostic: one for one in measure(STUDIES, first_seed=7)}


@pytest.mark.parametrize("diagnostic", [fault.diagnostic for fault in FAULTS.values()])
def test_every_planted_fault_is_found(outcomes, diagnostic: str) -> None:
    one = outcomes[diagnostic]
    assert one.tests >= STUDIES
    assert one.power >= POWER
    # 25 studies bound false alarms only roughly; the 500 of `judge doctor --statistics` do it closely.
    assert one.false_alarms <= ALPHA + 4 * (ALPHA * (1 - ALPHA) / STUDIES) ** 0.5


def test_a_fault_that_is_not_there_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAULTS, "lenient", replace(FAULTS["lenient"], think=None))
    found = [study(seed)["lenient", "leniency"] for seed in range(5)]
    assert sum(hits for _, hits in found) <= 3 < sum(tests for tests, _ in found)


def test_a_study_is_what_the_command_makes_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_folder(tmp_path, 11)
    with pytest.raises(SystemExit) as left:
        main(["diagnose", str(tmp_path), "--own", OWN, "--full", "--format", "json"])
    assert left.value.code == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    counted: dict[tuple[str, str], tuple[int, int]] = {}
    for row in rows:
        if row["p"] is not None:
            key = (row["judge"].removeprefix("simulated/"), row["diagnostic"])
            tests, hits = counted.get(key, (0, 0))
            counted[key] = (tests + 1, hits + (row["p"] < ALPHA))
    assert counted == study(11)


def test_the_seed_decides_everything(tmp_path: Path) -> None:
    write_folder(tmp_path / "a", 3)
    write_folder(tmp_path / "b", 3)
    write_folder(tmp_path / "c", 4)
    a, b, c = ((tmp_path / name / "imported.csv").read_bytes() for name in "abc")
    assert a == b != c


def test_the_command_prints_its_table_and_leaves_with_4_where_a_bar_is_missed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(FAULTS, "lenient", replace(FAULTS["lenient"], think=None))
    with pytest.raises(SystemExit) as left:
        main(["doctor", "--statistics", "--studies", "20", "--seed", "1", "--workers", "1"])
    assert left.value.code == 4
    printed = capsys.readouterr().out
    assert "failed" in printed
    assert "self-test|studies:20|seeds:1-20|alpha:0.05|" in printed
