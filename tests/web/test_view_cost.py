"""One cost: `judge view`, `judge status`, `judge report` and the manifest say the same, whenever a price is added."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.asking.run_folder import folder_cost, resolve
from judge.base.printing.text_layout import dollars
from judge.show.web.view.app import view_app
from tests.report.runs import command
from tests.server.meter import Meter, metered, plain
from tests.web.conftest import Served
from tests.web.view_runs import until

Serve = Callable[..., Served]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("JUDGE_HOME", str(folder))
    return folder


def define(runs: Path, meter: Meter, *, longer: int = 1, **more: Any) -> Path:
    """A run about twelve stories, each `longer` sentences longer than the one before."""
    folder = runs / "one"
    folder.mkdir(parents=True)
    stories = [
        {
            "id": f"s{i}",
            "story_prompt": f"p{i // 2}",
            "system": f"m{i % 2}",
            "text": "The lamp went out. " * (1 + longer * i),
            "ratings": [{"rater": r, "criterion": "Overall", "value": 1 + (i + n) % 5} for n, r in enumerate("ab")],
        }
        for i in range(12)
    ]
    (folder / "stories.jsonl").write_text("".join(json.dumps(story) + "\n" for story in stories))
    keys = {
        "name": "one",
        "dataset": "stories.jsonl",
        "judge": "openai/own",
        "criteria": "overall",
        "eval_prompts": ["ep1"],
        "repeats": 2,
        "base_url": meter.url,
    }
    (folder / "run.yaml").write_text(json.dumps(keys | more))
    return folder


class Said:
    """What each place says of the cost of one run."""

    def __init__(self, run: Path, server: Served, capsys: pytest.CaptureFixture[str]) -> None:
        self.run, self.server, self.capsys = run, server, capsys

    @property
    def status(self) -> tuple[float | None, str]:
        self.capsys.readouterr()
        assert command("status", self.run, "--format", "json") == 0
        table = json.loads(self.capsys.readouterr().out)
        return table["rows"][0]["cost"], table["notes"][0].partition(": ")[2]

    @property
    def view(self) -> tuple[str | None, str | None]:
        text = self.server.ask("/run/one/part/standing")[2]
        found = re.search(r'<span title="([^"]*)">(\$[\d,.]+)</span>', text)
        return (found[2], html.unescape(found[1])) if found else (None, None)

    @property
    def report(self) -> str:
        page = self.run / "page.html"
        assert command("report", self.run, "-o", page, "--resamples", "5", "--set", "permutations=5") == 0
        return html.unescape(page.read_text(encoding="utf-8"))

    @property
    def manifest(self) -> dict[str, Any]:
        (folder,) = resolve([self.run])
        totals: dict[str, Any] = json.loads(folder.manifest.read_text())["totals"]
        return totals


def test_a_price_that_is_added_later_is_everywhere_at_once(
    served: Serve, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with metered() as meter:
        run = define(tmp_path / "runs", meter)
        assert command("run", run, "--limit", "6", "--quiet") == 0
        said = Said(run, served(lambda access: view_app(tmp_path / "runs", access)), capsys)
        unknown = "no price is known for openai/own: add the line 'openai/own: {input: X, output: Y}'"
        cost, basis = said.status
        assert cost is None
        assert unknown in basis
        assert said.view == (None, None)
        assert unknown in said.report
        assert said.manifest["cost"] is None
        (home / "prices.yaml").write_text("openai/own: {input: 100, output: 1000, date: 2026-05-04}\n")
        _all_say(said, (100 * meter.prompt_tokens + 1000 * meter.completion_tokens) / 1e6, "as of 2026-05-04")
        assert command("run", run, "--quiet") == 0
        known = (100 * meter.prompt_tokens + 1000 * meter.completion_tokens) / 1e6
        _all_say(said, known, "as of 2026-05-04")
        assert said.manifest["cost"] == pytest.approx(known)
        assert said.manifest["price"]["input"] == 100
        # A changed price holds for what was asked before it too; one that is taken away stays with the manifest.
        (home / "prices.yaml").write_text("openai/own: {input: 200, output: 2000, date: 2026-06-05}\n")
        _all_say(said, 2 * known, "as of 2026-06-05")
        (home / "prices.yaml").unlink()
        _all_say(said, known, "as of 2026-05-04")


def _all_say(said: Said, cost: float, words: str) -> None:
    (folder,) = resolve([said.run])
    assert folder_cost(folder).dollars == pytest.approx(cost)
    found, basis = said.status
    assert found == pytest.approx(cost)
    assert words in basis
    # Figures on the page are up to half a second old.
    assert until(lambda: said.view if said.view == (dollars(cost), basis) else None)
    page = html.unescape(said.server.ask("/run/one")[2])
    assert f"{dollars(cost)}: {basis}" in page
    assert "cost_basis" not in page
    report = said.report
    # Once in the table of what was in force, once in the checklist.
    assert report.count(f"{dollars(cost)}: {basis}") >= 2


def test_a_cost_that_the_server_names_is_everywhere(
    served: Serve, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def named(prompt: int, completion: int) -> dict[str, Any]:
        return plain(prompt, completion) | {"cost": prompt / 1e4, "completion_tokens_details": {"reasoning_tokens": 3}}

    (home / "prices.yaml").write_text("openai/own: {input: 100, output: 1000}\n")
    with metered(usage=named) as meter:
        run = define(tmp_path / "runs", meter)
        assert command("run", run, "--quiet") == 0
        said = Said(run, served(lambda access: view_app(tmp_path / "runs", access)), capsys)
        _all_say(said, meter.prompt_tokens / 1e4, "as the server reported it for 12 requests")
    assert said.manifest["cost"] == pytest.approx(meter.prompt_tokens / 1e4)
    assert said.manifest["reasoning_tokens"] == 36


def test_the_stop_at_max_cost_prints_one_sum(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "prices.yaml").write_text("openai/own: {input: 1000, output: 1000}\n")
    with metered() as meter:
        meter.delay = 0.05
        run = define(tmp_path / "runs", meter, longer=0, repeats=1, concurrency=3)
        assert command("run", run, "--set", "max_cost=0.25") == 3
        spent = (meter.prompt_tokens + meter.completion_tokens) / 1e3
    said = capsys.readouterr().err
    assert "stopped: max_cost $0.2500 for this run is reached" in said
    sums = set(re.findall(r"\$[\d.]+", said)) - {"$0.2500"}
    assert dollars(spent) in sums
    assert re.search(rf"\d+ answered, {re.escape(dollars(spent))};", said)
    (folder,) = resolve([run])
    assert folder_cost(folder).dollars == pytest.approx(spent)
    assert spent <= 0.25


def test_max_cost_is_kept_by_the_cost_that_a_server_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def named(prompt: int, completion: int) -> dict[str, Any]:
        return plain(prompt, completion) | {"cost": 0.01}

    with metered(usage=named) as meter:
        run = define(tmp_path / "runs", meter, repeats=1, concurrency=1)
        assert command("run", run, "--set", "max_cost=0.05", "--quiet") == 1
        assert "ask a few with --pilot 2" in capsys.readouterr().err
        assert command("run", run, "--pilot", "2", "--quiet") == 0
        assert command("run", run, "--set", "max_cost=0.055", "--quiet") == 3
        asked = meter.calls
        # The sum is of the run: what earlier sittings spent is gone.
        assert asked == 5
        assert command("run", run, "--set", "max_cost=0.05", "--quiet") == 3
        assert meter.calls == asked
        assert "were spent before this sitting" in capsys.readouterr().err
        # A server that stops naming costs cannot be kept to a sum.
        meter.usage = plain
        assert command("run", run, "--set", "max_cost=0.075", "--quiet") == 3
        assert meter.calls == asked + 1
    assert "neither the cost of an answer nor tokens that have a price" in capsys.readouterr().err
