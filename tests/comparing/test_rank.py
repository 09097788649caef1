"""`judge rank` and its figures, from a run of comparisons over a loopback server to tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import judge
from judge.asking.execution.session import sit
from judge.cli.main import main
from tests.comparing.conftest import sitting
from tests.server.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]


@pytest.fixture
def results(loopback: Start, stories: Path) -> Path:
    """A finished run of all pairs in both orders."""
    sit(sitting(loopback(style="verdict"), stories))
    return stories.parent / "results"


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main([*words])
    out, err = capsys.readouterr()
    assert ended.value.code in (None, 0), err
    return out


def test_a_run_of_comparisons_is_ranked(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = json.loads(ran(capsys, "rank", str(results), "--format", "json"))
    (order,) = (table for table in tables if table["title"] == "Order: noise and place")
    assert order["rows"][0]["judge"] == "openai/mock"
    assert "openai/mock" in {row["judge"] for table in tables[:1] for row in table["rows"]}


def test_only_one_table_and_a_wrong_name(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    order = ran(capsys, "rank", str(results), "--table", "order")
    assert "Order: noise and place" in order
    assert "Systems:" not in order
    with pytest.raises(SystemExit):
        main(["rank", str(results), "--table", "orders"])
    assert "orders" in capsys.readouterr().err


def test_the_same_from_python(results: Path) -> None:
    found = judge.open_run(results).rank(control=False)
    assert found.value.order.rows[0].judge == "openai/mock"
    assert "orders:both" in found.signature
    assert len(found.value.systems.frame) == len(found.value.systems.standings) * 3


@pytest.mark.parametrize("kind", ["wins", "strengths"])
def test_figures(results: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    asked = ("--layout", "wins") if kind == "wins" else ()
    assert f"{kind}.png" in ran(capsys, "rank", str(results), *asked, "-o", str(tmp_path / f"{kind}.png"))
    assert (tmp_path / f"{kind}.png").stat().st_size > 5_000


def test_a_datasets_name_stands_for_its_people(studies: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "62.5 %" in ran(capsys, "rank", "storyer_pairs", "--table", "agreement")


def test_a_report_of_ratings_and_comparisons_shows_both(loopback: Start, results: Path, stories: Path) -> None:
    server = loopback()
    rated = {"pairs": None, "eval_prompts": ["ep1"], "folder": "rated"}
    sit(sitting(server, stories, **rated))
    page = stories.parent / "page.html"
    with pytest.raises(SystemExit) as ended:
        main(["report", str(results), str(stories.parent / "rated"), "-o", str(page), "--quiet"])
    assert ended.value.code in (None, 0)
    text = page.read_text(encoding="utf-8")
    assert 'id="preferences"' in text
    assert "Order: noise and place" in text
