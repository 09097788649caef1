"""`judge doctor --provider`: key, reach, models and known refusals, over loopback; a key goes nowhere else."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest

from judge.backends.provider_check import facts_of
from judge.base.credentials.providers import PROVIDERS
from judge.cli.main import main
from tests.conformance.gemini import KEY as GEMINI_KEY
from tests.conformance.gemini import GeminiImitated
from tests.conformance.providers import IMITATIONS, Imitation
from tests.conformance.server import KEY, Imitated


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """None of the user's own keys and settings."""
    for provider in PROVIDERS:
        for name in provider.variables:
            monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("JUDGE_TRUSTED_HOSTS", raising=False)
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path))


def doctor(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    """Rows of what was examined; the lines of run.yaml as rows of that name."""
    with pytest.raises(SystemExit) as end:
        main(["doctor", "--format", "json", "--provider", *arguments])
    printed, complained = capsys.readouterr()
    assert not end.value.code, complained
    assert KEY not in printed
    examined, lines = json.loads(printed)
    return [*examined["rows"], *({"what": "run.yaml", "detail": row["line"]} for row in lines["rows"])]


def one(rows: list[dict[str, Any]], what: str) -> dict[str, Any]:
    (found,) = (row for row in rows if row["what"] == what)
    return found


def variable(imitation: Imitation) -> str:
    provider = facts_of(imitation.facts).provider
    return provider.variables[0] if provider is not None else "OPENAI_API_KEY"


@pytest.mark.parametrize("imitation", IMITATIONS, ids=lambda imitation: str(imitation.name))
def test_a_server_that_is_there_is_examined(
    imitation: Imitation, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable(imitation), KEY)
    with Imitated(imitation) as server:
        rows = doctor(capsys, imitation.facts, "--base-url", server.base_url, "--model", imitation.model)
        assert server.counts == {"models": 1}  # nothing but its list is asked for
    assert one(rows, "key")["detail"] == f"{variable(imitation)} is set"
    reach = one(rows, "server")
    if imitation.listed and imitation.models_refusal is None:
        assert (reach["state"], f"lists {len(imitation.listed)} models" in reach["detail"]) == ("ok", True)
        listed = imitation.model in imitation.listed or f"models/{imitation.model}" in imitation.listed
        assert one(rows, "model")["state"] == ("ok" if listed else "missing")
    else:
        assert reach["state"] == "note"
    for refused in imitation.refuses:
        assert one(rows, f"refuses {refused.name}")["state"] == "note"
    lines = [row["detail"] for row in rows if row["what"] == "run.yaml"]
    assert f"judge: openai/{imitation.model}" in lines
    assert f"base_url: {server.base_url}" in lines


def test_a_wrong_key_a_missing_key_and_a_silent_server(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    groq = next(imitation for imitation in IMITATIONS if imitation.name == "groq")
    with Imitated(groq) as server:
        missing = doctor(capsys, "groq", "--base-url", server.base_url)
        assert one(missing, "key")["mend"] == "export GROQ_API_KEY=..."
        assert one(missing, "server")["state"] == "note"
        monkeypatch.setenv("OPENAI_API_KEY", KEY)  # another provider's
        assert one(doctor(capsys, "groq", "--base-url", server.base_url), "key")["state"] == "missing"
        monkeypatch.setenv("GROQ_API_KEY", "wrong-key-of-mine")
        wrong = one(doctor(capsys, "groq", "--base-url", server.base_url), "server")
        assert (wrong["state"], wrong["mend"]) == ("failed", "check GROQ_API_KEY")
    silent = doctor(capsys, "ollama", "--base-url", "http://127.0.0.1:9/v1")
    assert one(silent, "server")["state"] == "failed"
    assert "start the server" in one(silent, "server")["mend"]


def test_gemini_is_examined_by_its_own_api(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", GEMINI_KEY)
    with GeminiImitated() as server:
        rows = doctor(capsys, "gemini", "--base-url", server.base_url, "--model", "gemini-2.5-pro")
        assert (one(rows, "server")["state"], "lists 3 models" in one(rows, "server")["detail"]) == ("ok", True)
        assert one(rows, "model")["state"] == "ok"
        assert {row["detail"] for row in rows if row["what"] == "run.yaml"} >= {"judge: gemini/gemini-2.5-pro"}
        missing = doctor(capsys, "gemini", "--base-url", server.base_url, "--model", "gemini-2.5-prr")
        assert one(missing, "model")["mend"] == "did you mean gemini-2.5-pro?"
        assert not any("key=" in address for address in server.addresses)
        monkeypatch.setenv("GEMINI_API_KEY", "AIza-not-this-one-000000")
        wrong = one(doctor(capsys, "gemini", "--base-url", server.base_url), "server")
        assert (wrong["state"], wrong["mend"]) == ("failed", "check GEMINI_API_KEY")
    lines = [row["detail"] for row in doctor(capsys, "gemini") if row["what"] == "run.yaml"]
    assert not any(line.startswith("base_url") for line in lines)


def test_a_key_is_not_sent_to_a_strangers_host(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sent = []

    class Nowhere:
        async def __aenter__(self) -> None:
            raise aiohttp.ClientConnectionError("there is no network in tests")

        async def __aexit__(self, *failure: object) -> None: ...

    def get(self: object, url: str, *, headers: dict[str, str], allow_redirects: bool) -> Nowhere:
        sent.append((url, headers, allow_redirects))
        return Nowhere()

    monkeypatch.setattr(aiohttp.ClientSession, "get", get)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    stranger = doctor(capsys, "openai", "--base-url", "https://llm.stranger.example/v1")
    assert "was not sent" in one(stranger, "key")["detail"]
    assert sent == [("https://llm.stranger.example/v1/models", {}, False)]
    doctor(capsys, "openai", "--base-url", "http://api.openai.com/v1")  # without encryption
    assert sent[-1][1] == {}
    doctor(capsys, "openai")
    assert sent[-1] == ("https://api.openai.com/v1/models", {"Authorization": f"Bearer {KEY}"}, False)
    monkeypatch.setenv("JUDGE_TRUSTED_HOSTS", "llm.stranger.example")
    doctor(capsys, "openai", "--base-url", "https://llm.stranger.example/v1")
    assert sent[-1][1] == {"Authorization": f"Bearer {KEY}"}


def test_an_address_that_is_to_be_filled_in_is_not_asked(capsys: pytest.CaptureFixture[str]) -> None:
    rows = doctor(capsys, "azure")
    assert one(rows, "server")["state"] == "missing"
    assert "--base-url" in one(rows, "server")["mend"]


def test_the_tables_fit_eighty_columns(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("openai", "azure", "llama.cpp"):
        with pytest.raises(SystemExit):
            main(["doctor", "--provider", name, "--base-url", "http://127.0.0.1:9/v1"])
        assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_a_stray_option_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["doctor", "--model", "m"])
    assert "--provider" in capsys.readouterr().err
