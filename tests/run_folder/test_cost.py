"""What a folder's answers cost: which price, of which day, from which source, and why where it is not known."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from judge.answers.journal.spending import Spending, Tokens
from judge.asking.run_folder import ResultFolder, cost_of, folder_cost
from judge.base.errors import SpecError

MILLION = Tokens(1_000_000, 1_000_000)
ARGON = {
    "judge": "openai/gemini-4-argon",
    "in_force": {"base_url": ["https://generativelanguage.googleapis.com/v1beta/openai"]},
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path))
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    return tmp_path


def run(judge: str = "openai/gpt-4.1", **more: Any) -> dict[str, Any]:
    return {"judge": judge, "in_force": {}, **more}


def test_tokens_are_charged_at_the_price_in_force() -> None:
    found = cost_of(Spending(live=MILLION, batch=MILLION, answers=2), run())
    assert found.dollars == pytest.approx(2 + 8 + 1 + 4)
    assert "tokens at $2.0000 for a million prompt tokens" in found.basis
    assert "tokens of the batch API at $1.0000" in found.basis
    assert "genai-prices" in found.basis
    assert found.words().startswith("$15.0000: ")


def test_the_servers_own_sum_goes_first_and_the_rest_is_charged() -> None:
    found = cost_of(Spending(live=MILLION, reported=0.5, reported_calls=1234, answers=2000), run())
    assert found.dollars == pytest.approx(10.5)
    assert "as the server reported it for 1,234 requests; tokens at $2.0000" in found.basis
    assert cost_of(Spending(reported=0.0, reported_calls=3, answers=3), run("openai/own")).dollars == 0.0


def test_the_price_is_that_of_the_newest_answers_day() -> None:
    for month, dollars in ((11, 12.0), (12, 24.0)):
        when = datetime(2026, month, 15, tzinfo=UTC).timestamp()
        assert cost_of(Spending(live=MILLION, answers=1, last=when), ARGON).dollars == dollars


def test_the_address_that_the_environment_gave_is_the_servers() -> None:
    server = {"servers": [{"base_url": "https://api.groq.com/openai/v1"}]}
    groq = run("openai/llama-3.3-70b-versatile", in_force={"base_url": [], "server": server})
    assert cost_of(Spending(live=MILLION, answers=1), groq).dollars == pytest.approx(0.59 + 0.79)


@pytest.mark.parametrize(
    ("spent", "manifest", "reason"),
    [
        (Spending(live=MILLION, answers=1), run("openai/own"), "add the line 'openai/own: {input: X, output: Y}'"),
        (Spending(live=MILLION, answers=1), run("vllm/m"), "ran on this machine: no tokens were paid for"),
        (Spending(answers=1), run(), "the server reported no tokens"),
        (Spending(answers=1), run("surface/1"), "asks no server and costs nothing"),
        (Spending(), run(), "nothing was answered"),
        (Spending(batch=MILLION, answers=1), run("openai/chatgpt-4o-latest"), "no batch price is known for"),
        (
            Spending(live=Tokens(300_000, 1, longest=300_000), answers=1),
            run("openai/gpt-5.4"),
            "a prompt has 300,000 tokens and the price holds up to 272,000",
        ),
        (Spending(live=MILLION, reported=1.0, reported_calls=1, answers=2), run("openai/own"), "no price is known"),
    ],
)
def test_where_it_is_not_known_the_reason_is_said(spent: Spending, manifest: dict[str, Any], reason: str) -> None:
    found = cost_of(spent, manifest)
    assert found.dollars is None
    assert reason in found.basis


def test_copied_answers_cost_nothing_here() -> None:
    assert cost_of(Spending(answers=5, reused=5), run()).dollars == 0.0
    found = cost_of(Spending(live=MILLION, answers=6, reused=5), run())
    assert found.dollars == 10.0
    assert "5 answers that were copied from another run are not counted" in found.basis


def test_a_price_that_the_tables_lost_is_taken_from_the_manifest(home: Path) -> None:
    kept = run("openai/own", totals={"cost": 9.0, "price": {"input": 1.0, "output": 2.0, "date": "2026-01-02"}})
    found = cost_of(Spending(live=MILLION, answers=1), kept)
    assert found.dollars == 3.0
    assert "as of 2026-01-02" in found.basis
    (home / "prices.yaml").write_text("openai/own: {input: 4, output: 4}\n")
    assert cost_of(Spending(live=MILLION, answers=1), kept).dollars == 8.0
    (home / "prices.yaml").unlink()
    before = cost_of(Spending(live=MILLION, answers=1), run("openai/own", totals={"cost": 9.0}))
    assert before.dollars == 9.0
    assert "its price is in no table now" in before.basis
    with pytest.raises(SpecError, match="no readable price"):
        cost_of(Spending(live=MILLION, answers=1), run("openai/own", totals={"price": {"input": "much"}}))


def test_imported_ratings_have_no_known_cost(tmp_path: Path) -> None:
    found = folder_cost(ResultFolder(tmp_path / "imported"))
    assert found.dollars is None
    assert "imported" in found.basis
