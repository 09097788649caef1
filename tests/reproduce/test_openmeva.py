"""MANS: figures computed outside this program, with numpy 2 and the packages krippendorff 0.9.0 and pingouin 0.7.0."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judge.reproduce import openmeva
from judge.reproduce.cell import Cell, Place, published
from judge.reproduce.study import Options, Study


@pytest.fixture(scope="module")
def cells(mans_study: Study) -> dict[Place, Cell]:
    return {(c.table, c.row, c.column): c for c in mans_study.cells(Options())}


def test_agreement_for_raters_who_may_be_exchanged(cells: dict[Place, Cell]) -> None:
    expected = {
        ("mans_alpha", "interval"): (0.771, 0.710),
        ("mans_alpha", "nominal"): (0.435, 0.528),
        ("mans_alpha", "ratio"): (0.689, 0.684),
        ("mans_icc", "ICC(1,1)"): (0.771, 0.710),
        ("mans_icc", "ICC(1,k)"): (0.944, 0.924),
    }
    found = {(t, c): tuple(cells[t, row, c].as_published for row in openmeva.SETS) for t, c in expected}
    assert found == expected


def test_means_and_spread_of_systems(cells: dict[Place, Cell]) -> None:
    expected = {
        "mans_roc": {"fusion": (2.33, 0.64), "s2s": (1.86, 0.58), "gpt_kg": (3.21, 0.82), "gpt": (3.03, 0.80)}
        | {"plan_write": (2.12, 0.64)},
        "mans_wp": {"fusion": (2.70, 0.65), "s2s": (2.48, 0.77), "gpt_kg": (3.18, 0.70), "gpt": (3.11, 0.71)}
        | {"plan_write": (2.58, 0.69)},
    }
    for name, systems in expected.items():
        for system, (mean, sd) in systems.items():
            assert cells["mans_system_means", name, system].as_published == mean
            assert cells["mans_system_sds", name, system].as_published == sd
    assert (cells["mans_system_means", "mans_roc", "all"].as_published) == 2.51
    assert (cells["mans_system_means", "mans_wp", "all"].as_published) == 2.81
    interval = cells["mans_system_means", "mans_roc", "gpt"].corrected
    assert (interval.low or 9) < 3.03 < (interval.high or 0)


def test_counts(cells: dict[Place, Cell]) -> None:
    counts = {"mans_roc": [686, 2015, 1458, 745, 96], "mans_wp": [271, 1542, 2130, 974, 83]}
    for name, expected in counts.items():
        assert [cells["mans_counts", name, f"rated {i}"].as_published for i in range(1, 6)] == expected
        assert cells["mans_counts", name, "lists in ascending order"].as_published == 1000
    assert cells["mans_spread", "mans_roc", "% of stories within one point"].as_published == 98.3
    assert cells["mans_spread", "mans_wp", "% of stories within one point"].as_published == 95.8


def test_what_sorting_destroyed_is_refused(cells: dict[Place, Cell]) -> None:
    for form in openmeva.NEEDS_RATERS:
        cell = cells["mans_refused", "mans_wp", form]
        assert (cell.as_published, cell.corrected.value) == (None, None)
        assert "1000 of 1000 lists are stored in ascending order" in cell.note()


def test_the_printed_alphas_match(cells: dict[Place, Cell]) -> None:
    # Krippendorff's alpha as the study prints it: .77 for ROC, .71 for WP.
    found = [cells["alpha_as_printed", name, "interval"] for name in openmeva.SETS]
    assert [(c.published, c.as_published, c.state) for c in found] == [(0.77, 0.77, "match"), (0.71, 0.71, "match")]
    for name, cell in zip(openmeva.SETS, found, strict=True):
        assert cell.corrected.value == cells["mans_alpha", name, "interval"].corrected.value
        assert cell.corrected.low is not None


def test_a_trained_metric_is_not_computable(cells: dict[Place, Cell]) -> None:
    printed = published("openmeva")
    assert len(printed) == 25
    assert cells["union_correlation", "mans_roc", "UNION"].published == 0.4119
    missing = [place for place in printed if place[0].startswith("union")]
    assert len(missing) == 23
    for place in missing:
        assert cells[place].state == "not computable"
        assert "UNION" in cells[place].note()
        note = cells[place].note()
        assert "judge correlate" in note
        assert ("--layout separation" in note) == (place[0] != "union_correlation")


def test_numbers_come_from_the_file(studies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "openmeva").mkdir()
    for name in openmeva.SETS:
        content = json.loads((studies / "openmeva" / f"{name}.json").read_text(encoding="utf-8"))
        for entry in content.values():
            entry["gen"]["gpt"], entry["gen"]["s2s"] = entry["gen"]["s2s"], entry["gen"]["gpt"]
        content["1"]["gen"]["gpt"]["score"].reverse()
        (tmp_path / "openmeva" / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    monkeypatch.setenv("JUDGE_DATA", str(tmp_path))
    study = openmeva.study(Options())
    found = {(c.table, c.row, c.column): c for c in study.cells(Options(), "mans_system_means")}
    assert found["mans_system_means", "mans_roc", "s2s"].as_published == 3.03
    assert found["mans_system_means", "mans_roc", "gpt"].as_published == 1.86
    (counted,) = (
        c
        for c in study.cells(Options(), "mans_counts")
        if (c.row, c.column) == ("mans_roc", "lists in ascending order")
    )
    assert counted.as_published == 999
