"""Which key goes where: by the host, by the user's trust, and nowhere else."""

from __future__ import annotations

import asyncio
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.backends import Settings, open_backend
from judge.backends.openai.credentials import Credentials
from judge.base.credentials.providers import PROVIDERS, provider_of
from judge.base.credentials.trust import UntrustedHostError, elsewhere, on_this_machine, remember, trust_file, trusted
from judge.base.credentials.written_keys import Origin, origin_of
from judge.base.errors import BackendError, SpecError
from tests.backends.openai.test_backend import query
from tests.credentials.echo_server import EchoServer, Reply

OWN, OTHER = "sk-own-0123456789ab", "gsk-other-0123456789"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two keys and no trust of whoever tests."""
    for name in [*(v for p in PROVIDERS for v in p.variables), "OPENAI_BASE_URL", "JUDGE_TRUSTED_HOSTS"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", OWN)
    monkeypatch.setenv("GROQ_API_KEY", OTHER)


@pytest.fixture
def server() -> Iterator[EchoServer]:
    with EchoServer() as found:
        yield found


def sent(url: str, **settings: object) -> dict[str, str]:
    return dict(Credentials((url,), Settings((url,), **settings)).headers(url))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "name", "expected"),
    [
        ("https://api.openai.com/v1", "OPENAI_API_KEY", ("Authorization", "Bearer {}")),
        ("https://eu.api.openai.com/v1", "OPENAI_API_KEY", ("Authorization", "Bearer {}")),
        ("https://api.groq.com/openai/v1", "GROQ_API_KEY", ("Authorization", "Bearer {}")),
        ("https://me.openai.azure.com/openai/v1", "AZURE_OPENAI_API_KEY", ("api-key", "{}")),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "GOOGLE_API_KEY", ("Authorization", "Bearer {}")),
        ("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", ("Authorization", "Bearer {}")),
        ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", ("Authorization", "Bearer {}")),
    ],
)
def test_each_host_is_sent_its_own_key(
    monkeypatch: pytest.MonkeyPatch, url: str, name: str, expected: tuple[str, str]
) -> None:
    monkeypatch.setenv(name, "key-0123456789")
    assert sent(url) == {expected[0]: expected[1].format("key-0123456789")}


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example.org/v1",
        "http://api.openai.com/v1",
        "https://api.openai.com.evil.org/v1",
        "https://evilapi.openai.com/v1",
        "https://notapi.openai.com/v1",
        "https://openai.azure.com.evil.org/v1",
        "https://localhost.evil.org/v1",
        "https://127.0.0.1.nip.io/v1",
        "http://2130706433/v1",
        "http://192.0.2.7:8000/v1",
        "https://me.azure-api.net/v1",
    ],
)
def test_a_host_that_the_run_alone_names_is_refused(url: str) -> None:
    with pytest.raises(UntrustedHostError, match=r"would send OPENAI_API_KEY to .*: nothing was sent") as caught:
        open_backend("openai/m", Settings((url,)))
    assert "JUDGE_TRUSTED_HOSTS=" in str(caught.value.hint)
    assert "api_key_env: none" in str(caught.value.hint)
    assert OWN not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com@evil.org/v1",
        "https://evil.org\\@api.openai.com/v1",
        "https://evil.org\\.api.openai.com/v1",
        "https://api.opеnai.com/v1",
        "https://api.openai.com\n.evil.org/v1",
        "ftp://api.openai.com/v1",
        "api.openai.com/v1",
        "https://api.openai.com:99999/v1",
    ],
)
def test_addresses_that_can_be_read_in_two_ways_are_refused(url: str) -> None:
    with pytest.raises(SpecError):
        open_backend("openai/m", Settings((url,)))


def test_another_providers_key_and_other_variables_go_nowhere_by_a_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "aws-0123456789")
    for settings in (
        {"api_key_env": "GROQ_API_KEY"},
        {"api_key_env": "AWS_SECRET_ACCESS_KEY"},
        {"headers": {"X-Trace": "${AWS_SECRET_ACCESS_KEY}"}},
        {"headers": {"X-Trace": "${HOME}"}},
    ):
        with pytest.raises(UntrustedHostError):
            sent("https://api.openai.com/v1", **settings)
    assert sent("https://openrouter.ai/api/v1", headers={"X-Title": "mine"}) == {"X-Title": "mine"}
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    found = sent("https://api.openai.com/v1", headers={"OpenAI-Organization": "${OPENAI_ORG_ID}"})
    assert found == {"OpenAI-Organization": "org-1", "Authorization": f"Bearer {OWN}"}


def test_no_key_is_sent_where_the_run_wants_none_or_brings_its_own() -> None:
    assert sent("https://llm.example.org/v1", api_key_env="none") == {}
    found = sent("http://127.0.0.1:9/v1", headers={"api-key": "${GROQ_API_KEY}"}, trusted=("http://127.0.0.1:9",))
    assert found == {"api-key": OTHER}


LOCAL = ("http://127.0.0.1:8000", "http://[::1]:8000", "http://localhost:8000", "http://0.0.0.0:8000")


@pytest.mark.parametrize("origin", LOCAL)
def test_a_server_of_this_machine_is_sent_no_key_that_a_definition_alone_names(
    origin: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Any program can listen on this machine, and a stranger's run.yaml may name its port and any variable."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "aws-0123456789")
    url = f"{origin}/v1"
    assert sent(url) == {}
    for named in (
        {"api_key_env": "AWS_SECRET_ACCESS_KEY"},
        {"api_key_env": "OPENAI_API_KEY"},
        {"headers": {"X-Trace": "${AWS_SECRET_ACCESS_KEY}"}},
    ):
        with pytest.raises(UntrustedHostError, match="nothing was sent") as caught:
            sent(url, **named)
        assert f"JUDGE_TRUSTED_HOSTS={origin}" in str(caught.value.hint)
        assert "JUDGE_TRUSTED_FOLDERS" in str(caught.value.hint)
    monkeypatch.setenv("JUDGE_TRUSTED_FOLDERS", str(tmp_path / "mine"))
    assert on_this_machine([url], tmp_path) == ()
    own = on_this_machine([url, "https://llm.example.org/v1"], tmp_path / "mine" / "run")
    assert own == (origin,)
    assert sent(url, api_key_env="AWS_SECRET_ACCESS_KEY", trusted=own) == {"Authorization": "Bearer aws-0123456789"}
    monkeypatch.setenv("JUDGE_TRUSTED_HOSTS", origin)
    assert sent(url) == {"Authorization": f"Bearer {OWN}"}


def test_what_the_user_trusts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_TRUSTED_HOSTS", "llm.uni.example, http://gpu-17:8000, *.lab.example")
    for url in ("https://llm.uni.example/v1", "http://gpu-17:8000/v1", "https://a.lab.example:8443/v1"):
        assert sent(url) == {"Authorization": f"Bearer {OWN}"}
    for url in ("http://llm.uni.example/v1", "http://gpu-17:8001/v1", "https://gpu-17:8000/v1", "https://xlab.example"):
        with pytest.raises(UntrustedHostError):
            sent(url)
    known = ("https://llm.uni.example/v1", "http://gpu-17:8000/v1", "https://evil.example/v1")
    entries = elsewhere(known)
    assert entries == ("https://llm.uni.example", "http://gpu-17:8000")
    monkeypatch.delenv("JUDGE_TRUSTED_HOSTS")
    assert sent(known[1], trusted=entries) == {"Authorization": f"Bearer {OWN}"}
    monkeypatch.setenv("JUDGE_TRUSTED_HOSTS", "*")
    with pytest.raises(SpecError, match="JUDGE_TRUSTED_HOSTS has an entry that is no host"):
        sent("https://llm.uni.example/v1")


def test_the_users_own_base_url_is_trusted_with_openais_key_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://gpu-17:8000/v1")
    assert sent("http://gpu-17:8000/v1") == {"Authorization": f"Bearer {OWN}"}
    with pytest.raises(UntrustedHostError):
        sent("http://gpu-17:8000/v1", api_key_env="GROQ_API_KEY")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://openrouter.ai/api/v1")
    assert sent("https://openrouter.ai/api/v1") == {"Authorization": f"Bearer {OWN}"}


def test_the_users_file_names_hosts_with_their_keys() -> None:
    trust_file().parent.mkdir()
    trust_file().write_text("llm.uni.example: GROQ_API_KEY\n", encoding="utf-8")
    assert sent("https://llm.uni.example/v1") == {"Authorization": f"Bearer {OTHER}"}
    with pytest.raises(UntrustedHostError):
        sent("https://llm.uni.example/v1", api_key_env="OPENAI_API_KEY")
    remember(Origin("http", "gpu-17", 8000), ["OPENAI_API_KEY"])
    assert trusted(origin_of("http://gpu-17:8000/v1"), "OPENAI_API_KEY")
    assert trusted(origin_of("https://llm.uni.example/v1"), "GROQ_API_KEY")
    trust_file().write_text("- a\n", encoding="utf-8")
    with pytest.raises(SpecError, match="must hold hosts and variables"):
        sent("https://llm.uni.example/v1")


def test_a_providers_server_without_its_key_says_which() -> None:
    backend = open_backend("openai/m", Settings(("https://api.deepseek.com",)))
    with pytest.raises(BackendError, match="DEEPSEEK_API_KEY is not set"):
        asyncio.run(backend.probe())


def test_keys_that_no_header_can_carry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_TRUSTED_HOSTS", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_API_KEY", f" {OWN}\n")
    assert sent("http://127.0.0.1:9/v1") == {"Authorization": f"Bearer {OWN}"}
    monkeypatch.setenv("OPENAI_API_KEY", f"{OWN}”")
    with pytest.raises(SpecError, match="no header can carry") as caught:
        sent("http://127.0.0.1:9/v1")
    assert OWN not in str(caught.value)
    with pytest.raises(SpecError, match=r"headers\.X names NOT_THERE, which is not set"):
        sent("http://127.0.0.1:9/v1", headers={"X": "${NOT_THERE}"})


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_carries_nothing_to_another_server(server: EchoServer, status: int) -> None:
    with EchoServer() as stranger:
        server.start(Reply(status, b"", {"Location": f"{stranger.url}/chat/completions"}))
        settings = Settings((server.url,), headers={"X-Mine": "${GROQ_API_KEY}"}, trusted=(server.url,))

        async def ask() -> None:
            backend = open_backend("openai/mock", settings)
            try:
                await backend.complete(query(), [0])
            finally:
                await backend.close()

        with pytest.raises(BackendError, match="redirects to") as caught:
            asyncio.run(ask())
        assert not caught.value.retryable
        assert OTHER in server.received[0]
        assert stranger.received == []


def test_two_servers_are_each_sent_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    urls = ("https://api.openai.com/v1", "https://api.groq.com/openai/v1")
    credentials = Credentials(urls, Settings(urls))
    assert [credentials.headers(url)["Authorization"] for url in urls] == [f"Bearer {OWN}", f"Bearer {OTHER}"]


def test_no_listed_host_is_a_name_that_anybody_can_rent() -> None:
    assert provider_of("evil.openai.com") is None
    assert provider_of("groq.com") is None
    assert provider_of("API.OpenAI.com.") is PROVIDERS[0]


RUN = """name: t
dataset: demo
judge: openai/m
criteria: {set: hanna, only: [Coherence]}
eval_prompts: ep1
base_url: https://evil.example.invalid/v1
"""


def asked(tmp_path: Path, answer: str) -> str:
    """What `judge run` prints on a terminal on which this is typed."""
    (tmp_path / "run.yaml").write_text(RUN, encoding="utf-8")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "judge", "run", str(tmp_path), "--limit", "1"]
    # A proxy where nothing listens: what is let go leaves this machine all the same by no way.
    environment = {**os.environ, "HTTPS_PROXY": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    os.write(ours, f"{answer}\n".encode())
    shown = b""
    while True:
        try:
            shown += os.read(ours, 4096)
        except OSError:
            break
    process.wait(60)
    os.close(ours)
    return shown.decode()


def test_on_a_terminal_the_user_is_asked(tmp_path: Path) -> None:
    refused = asked(tmp_path, "")
    assert "Send OPENAI_API_KEY to https://evil.example.invalid?" in refused
    assert "nothing was sent" in refused.rpartition("error:")[2]
    assert not trust_file().exists()
    assert "no connection" in asked(tmp_path, "y")
    assert not trust_file().exists()
    assert "no connection" in asked(tmp_path, "always")
    assert trusted(Origin("https", "evil.example.invalid", 443), "OPENAI_API_KEY")
    assert "Send" not in asked(tmp_path, "")
    assert OWN not in refused
