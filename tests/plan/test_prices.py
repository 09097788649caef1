"""Prices: the shipped snapshot by host and day, the user's table over it, and sentences for what is not known."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import orjson
import pytest

from judge.asking.plan import Price, load_prices
from judge.asking.plan.prices import how_to_price, reports_cost
from judge.base.errors import SpecError
from judge.base.files import package_file

SNAPSHOT = orjson.loads(package_file("asking", "plan", "prices.json").read_bytes())
NOVEMBER = date(2026, 11, 22)


@pytest.fixture(autouse=True)
def own_prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Writes the user's price table."""
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path))
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    return lambda text: (tmp_path / "prices.yaml").write_text(text) and None


def at(host: str) -> list[str]:
    return [f"https://{host}/v1"]


# Golden numbers: the catalogue genai-prices 0.2.3 (MIT), which took them from the providers' price pages.
@pytest.mark.parametrize(
    ("model", "host", "price"),
    [
        ("gpt-4.1", "api.openai.com", Price(2.0, 8.0, 0.5, batch=Price(1.0, 4.0, 0.5))),
        ("gpt-5.4", "api.openai.com", Price(2.5, 15.0, 0.25, batch=Price(1.25, 7.5, 0.13))),
        ("o3", "api.openai.com", Price(2.0, 8.0, 0.5, batch=Price(1.0, 4.0, 0.5))),
        ("claude-opus-4-8", "api.anthropic.com", Price(5.0, 25.0, 0.5, 6.25, batch=Price(2.5, 12.5, 0.25, 3.125))),
        ("gemini-2.5-pro", "generativelanguage.googleapis.com", Price(1.25, 10, 0.125, batch=Price(0.625, 5, 0.125))),
        ("models/gemini-3.5-flash", "generativelanguage.googleapis.com", Price(1.5, 9.0, 0.15)),
        ("deepseek-v4-pro", "api.deepseek.com", Price(1.32, 3.96, 0.044)),
        ("llama-3.3-70b-versatile", "api.groq.com", Price(0.59, 0.79)),
    ],
)  # fmt: skip
def test_prices_are_those_of_the_provider_that_is_addressed(model: str, host: str, price: Price) -> None:
    found = load_prices(f"openai/{model}", at(host), on=NOVEMBER)
    assert found == price
    assert found is not None
    assert "2026-11-22" in found.words()
    assert "genai-prices 0.2.3" in found.words()
    assert "https://" in found.words()


def test_every_shipped_price_has_a_date_and_a_source() -> None:
    assert "MIT" in package_file("asking", "plan", "prices_licence.txt").read_text()
    assert {"openai", "anthropic", "google", "deepseek", "mistral", "groq", "together"} <= set(SNAPSHOT["providers"])
    for section in SNAPSHOT["providers"].values():
        assert section["source"].startswith("https://")
        for model in section["models"]:
            price = load_prices(f"openai/{model}", at(section["hosts"][0]), on=NOVEMBER)
            assert price is not None
            assert price.date == SNAPSHOT["date"]
            assert section["source"] in str(price.source)
            assert 0 <= price.input < 1000
            assert 0 <= price.output < 2000


def test_a_price_that_changes_holds_for_its_days() -> None:
    # gemini-4-argon: introductory rates through 2026-11-30, as its entry in the catalogue says.
    host = at("generativelanguage.googleapis.com")
    before, after = (load_prices("openai/gemini-4-argon", host, on=date(2026, m, d)) for m, d in ((11, 30), (12, 1)))
    assert (before, after) == (
        Price(2.0, 10.0, 0.1, batch=Price(1.0, 5.0, 0.05)),
        Price(4.0, 20.0, 0.2, batch=Price(2.0, 10.0, 0.1)),
    )


def test_a_price_by_the_hour_is_the_highest_and_says_so() -> None:
    found = load_prices("openai/deepseek-v4-pro", at("api.deepseek.com"), on=NOVEMBER)
    assert found is not None
    assert "at other hours the provider charges less" in found.words()


def test_behind_a_gateway_only_a_makers_own_models_have_a_price() -> None:
    gateway = ["http://127.0.0.1:4000/v1"]
    found = load_prices("openai/claude-opus-4-8", gateway, on=NOVEMBER)
    assert found is not None
    assert found.words().endswith(", not that of the addressed server")
    assert "127.0.0.1" not in found.words()
    assert load_prices("openai/llama-3.3-70b-versatile", gateway) is None
    assert load_prices("openai/gpt-oss-120b", gateway) is None
    # Two addresses with two prices: nobody knows which one a request pays.
    both = [*at("api.groq.com"), *at("api.together.xyz")]
    assert load_prices("openai/openai/gpt-oss-120b", at("api.groq.com")) is not None
    assert load_prices("openai/openai/gpt-oss-120b", both) is None


def test_another_tier_of_service_has_no_shipped_price() -> None:
    assert load_prices("openai/gpt-4.1", engine={"service_tier": "default"}) is not None
    assert load_prices("openai/gpt-4.1", engine={"service_tier": "priority"}) is None


def test_the_environments_address_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_prices("openai/gpt-4.1") is not None
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.groq.com/openai/v1")
    assert load_prices("openai/gpt-4.1") is None
    assert load_prices("openai/llama-3.3-70b-versatile") == Price(0.59, 0.79)


def test_a_dated_name_has_the_price_of_the_model_and_no_other_name_has() -> None:
    assert load_prices("openai/claude-sonnet-4-5-20250929", at("api.anthropic.com")) == load_prices(
        "openai/claude-sonnet-4-5", at("api.anthropic.com")
    )
    assert load_prices("openai/gpt-4o-mini-2024-07-18") == load_prices("openai/gpt-4o-mini")
    dearer = load_prices("openai/gpt-4o-2024-05-13")  # it has an entry of its own
    assert dearer is not None
    assert (dearer.input, dearer.output) == (5.0, 15.0)
    assert load_prices("openai/gpt-4o-mini-search") is None
    assert load_prices("openai/unheard-of") is None
    assert load_prices("vllm/gpt-4.1") is None


def test_the_users_table_wins_everywhere(own_prices: Callable[[str], None]) -> None:
    own_prices("openai/gpt-4o-mini: {input: 9, output: 8, cached: 1, batch: 0.5}\nvllm/m: {input: 1, output: 2}\n")
    found = load_prices("openai/gpt-4o-mini", ["http://127.0.0.1:1/v1"], {"service_tier": "flex"})
    assert found == Price(9, 8, 1, batch=Price(4.5, 4, 0.5))
    assert found is not None
    assert found.date == datetime.now(UTC).date().isoformat()
    assert "the user's prices.yaml" in found.words()
    assert load_prices("openai/gpt-4o-mini-2024-07-18") == found
    assert load_prices("vllm/m") == Price(1, 2)
    own_prices(
        "openai/m: {input: 1, output: 2, batch: {input: 0.25, output: 1}, date: 2026-01-02, source: a contract}\n"
    )
    found = load_prices("openai/m")
    assert found == Price(1, 2, batch=Price(0.25, 1))
    assert found is not None
    assert "as of 2026-01-02; a contract" in found.words()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("openai/m: 9", "openai/m has no input and output"),
        ("openai/m: {input: 9}", "openai/m has no output"),
        ("openai/m: {input: -1, output: 2}", "openai/m, input is -1, not a number of dollars"),
        ("openai/m: {input: .nan, output: 2}", "openai/m, input is nan"),
        ("openai/m: {input: $2, output: 2}", "openai/m, input is '\\$2'"),
        ("openai/m: {input: 2, output: yes}", "openai/m, output is True"),
        ("openai/m: {input: 2, output: 2, cache: 1}", "key 'cache' is not known; did you mean 'cached'"),
        ("openai/m: {input: 2, output: 2, batch: {input: 1}}", "openai/m, batch has no output"),
        ("- openai/m", "it holds no names of judges"),
        ("{", "not a price table"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(own_prices: Callable[[str], None], table: str, words: str) -> None:
    own_prices(table + "\n")
    with pytest.raises(SpecError, match=words):
        load_prices("openai/gpt-4o-mini")


def test_what_a_user_is_to_write_is_what_the_table_takes(own_prices: Callable[[str], None]) -> None:
    line = how_to_price("openai/own").partition("'")[2].rpartition("'")[0]
    own_prices(line.replace("X", "1.5").replace("Y", "2") + "\n")
    assert load_prices("openai/own") == Price(1.5, 2)


def test_openrouter_names_costs_itself() -> None:
    assert reports_cost(at("openrouter.ai"))
    assert not reports_cost(())
    assert not reports_cost([*at("openrouter.ai"), *at("api.groq.com")])


def test_cost_counts_cached_and_written_tokens_at_their_own_prices() -> None:
    assert Price(2.0, 8.0, 0.5).cost(1_000_000, 100_000, 400_000) == pytest.approx(1.2 + 0.2 + 0.8)
    assert Price(2.0, 8.0).cost(1_000_000, 0, 400_000) == pytest.approx(2.0)
    assert Price(2.0, 8.0, 0.2, 2.5).cost(1_000_000, 0, 400_000, 100_000) == pytest.approx(1.0 + 0.08 + 0.25)
