"""The self-test finds what was planted; and it can fail: a fault that is not there is not found."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from judge.cli.main import main
from judge.lab import self_test
from judge.lab.self_test import ALPHA, FAMILY, FAULTS, OWN, POWER, SEEDS, Outcome, limits, measure, study, write_folder

STUDIES = 8


@pytest.fixture(scope="module")
def outcomes():
    return {one.diagnostic: one for one in measure(STUDIES, first_seed=7)}


@pytest.mark.parametrize("diagnostic", [fault.diagnostic for fault in FAULTS.values()])
def test_every_planted_fault_is_found(outcomes, diagnostic: str) -> None:
    one = outcomes[diagnostic]
    assert one.tests >= STUDIES
    assert one.power >= POWER
    # 8 studies bound false alarms only roughly; the 1,000 of `judge doctor --statistics` do it closely.
    assert one.false_alarms <= ALPHA + 4 * (ALPHA * (1 - ALPHA) / STUDIES) ** 0.5


@pytest.fixture(scope="module")
def without_fault() -> list[dict[tuple[str, str], tuple[int, int]]]:
    """Studies in which the lenient judge is as honest as the honest one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(FAULTS, "lenient", replace(FAULTS["lenient"], think=None))
        return [study(seed) for seed in range(4)]


def test_a_fault_that_is_not_there_is_not_found(without_fault) -> None:
    found = [one["lenient", "leniency"] for one in without_fault]
    assert sum(hits for _, hits in found) <= 3 < sum(tests for tests, _ in found)


def test_a_study_is_what_the_command_makes_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_folder(tmp_path, 11)
    with pytest.raises(SystemExit) as left:
        main(["diagnose", str(tmp_path), "--set", f"own={OWN}", "--full", "--format", "json"])
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
    without_fault, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(self_test, "_studies", lambda seeds, _: (without_fault[seed % 4] for seed in seeds))
    with pytest.raises(SystemExit) as left:
        main(["doctor", "--statistics", "--set", "studies=20", "--seed", "1", "--set", "workers=1"])
    assert left.value.code == 4
    printed = capsys.readouterr().out
    assert "failed" in printed
    assert "self-test|studies:20|seeds:1-20|alpha:0.05|" in printed


@pytest.mark.parametrize("studies", [100, 500, SEEDS])
def test_luck_alone_fails_the_whole_family_in_one_of_a_hundred_self_tests_at_most(studies: int) -> None:
    checks = 2 * len(FAULTS)
    least, limit = limits(studies, checks)
    missed = binom.cdf(np.ceil(least * studies - 1e-9) - 1, studies, POWER)
    false = binom.sf(np.floor(limit * studies + 1e-9), studies, ALPHA)
    # Sound diagnostics: each of the checks fails by luck with at most its share; the next limits would exceed it.
    assert max(missed, false) <= FAMILY / checks
    assert 0 < len(FAULTS) * (missed + false) <= FAMILY
    assert binom.sf(np.floor(limit * studies + 1e-9) - 1, studies, ALPHA) > FAMILY / checks
    assert binom.cdf(np.ceil(least * studies - 1e-9), studies, POWER) > FAMILY / checks


def test_the_self_test_still_finds_a_diagnostic_that_is_wrong() -> None:
    least, limit = limits(SEEDS, 2 * len(FAULTS))
    # Twice the false alarms, or a fault missed in a fifth of studies.
    assert binom.sf(np.floor(limit * SEEDS + 1e-9), SEEDS, 2 * ALPHA) > 0.99
    assert binom.cdf(np.ceil(least * SEEDS - 1e-9) - 1, SEEDS, 0.8) > 0.99
    outcome = Outcome("leniency", "lenient", "+0.2", SEEDS, power=0.95, false_alarms=0.06, least=least, limit=limit)
    assert outcome.passed
    assert not replace(outcome, false_alarms=0.1).passed
    assert not replace(outcome, power=0.8).passed
