"""Checks whether a provider can be used from this machine, by its list of models only. The key goes only over https to
the provider's own hosts, to this machine, and to hosts that the user's configuration trusts with it. Redirects are not
followed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import aiohttp
import yaml

from judge.backends.anthropic import VERSION, route_of
from judge.backends.gemini import GEMINI
from judge.backends.openai.credentials import endpoint, without_slash
from judge.backends.openai.errors import connection_error, read_body
from judge.backends.openai.negotiation import models_in
from judge.backends.refusal_kinds import read_refusal
from judge.base import redaction
from judge.base.credentials.providers import OPENAI, PROTOCOLS, PROVIDERS, Provider, provider_of
from judge.base.credentials.trust import VARIABLE, trusted
from judge.base.credentials.written_keys import Origin, origin_of
from judge.base.errors import SpecError, nearest, unknown
from judge.base.files import package_file
from judge.base.late_pattern import late
from judge.base.wording import Advice

# Facts about providers' endpoints: address, settings that they refuse or ignore, pitfalls, sources.


@dataclass(frozen=True, slots=True)
class ProviderFacts:
    """Facts about one endpoint from documentation and public threads.

    `name` is the word for `judge doctor`, `title` the one for printing. A word in capitals in `base_url` or `model` (an
    example) must be replaced by the user. `tried` is what this program was tested against: `imitation` (of the
    endpoint) or `never`. `run` has further lines of run.yaml. `refused` and `ignored` map settings to explanations;
    `traps` are sentences about pitfalls. `local`: users run the server. `provider_name` is the provider's, if it
    differs from `name`."""

    name: str
    title: str
    base_url: str
    model: str
    tried: str
    run: Mapping[str, Any]
    refused: Mapping[str, str]
    ignored: Mapping[str, str]
    traps: tuple[str, ...]
    sources: tuple[str, ...]
    local: bool = False
    backend: str = "openai"
    provider_name: str | None = None

    @property
    def provider(self) -> Provider | None:
        """Provider with its hosts and key variables; None for a server that users run themselves."""
        return next((provider for provider in PROVIDERS if provider.name == (self.provider_name or self.name)), None)

    @property
    def usual(self) -> bool:
        """Whether the endpoint's address is the back-end's default."""
        return self.backend != "openai" and PROTOCOLS[self.backend].address == self.base_url

    def run_lines(self, model: str | None = None, base_url: str | None = None) -> str:
        """Lines of run.yaml for this endpoint, as text."""
        lines = {"judge": f"{self.backend}/{model or self.model}"}
        if base_url not in (None, self.base_url) or not self.usual:
            lines["base_url"] = base_url or self.base_url
        lines |= self.run
        return "".join(f"{key}: {_flow(value)}\n" for key, value in lines.items())


@lru_cache(maxsize=1)
def provider_facts() -> Mapping[str, ProviderFacts]:
    """All known endpoints by name."""
    text = package_file("backends", "provider_facts.yaml").read_text(encoding="utf-8")
    return {name: _facts(name, row) for name, row in yaml.safe_load(text).items()}


def facts_of(name: str) -> ProviderFacts:
    """The endpoint with this name. Raises SpecError, with the known names, for an unknown one."""
    facts_by_name = provider_facts()
    facts = facts_by_name.get(name.lower().replace("_", ".")) or facts_by_name.get(name.lower())
    if facts is None:
        raise SpecError(unknown("provider", name, tuple(facts_by_name)))
    return facts


def _facts(name: str, row: Mapping[str, Any]) -> ProviderFacts:
    return ProviderFacts(
        name,
        row["title"],
        row["base_url"],
        row["model"],
        row["tried"],
        row.get("run") or {},
        row.get("refused") or {},
        row.get("ignored") or {},
        tuple(row.get("traps") or ()),
        tuple(row.get("sources") or ()),
        row.get("local", False),
        row.get("backend", "openai"),
        row.get("of"),
    )


def _flow(value: Any) -> str:
    text: str = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...")


# Seconds for the list of models.
PATIENCE = 10.0

_TO_FILL_IN = late(r"\b[A-Z]{4,}\b")


@dataclass(frozen=True, slots=True)
class Checked:
    """Result for one item, such as the key: its state, and what the user can do about it (`mend`)."""

    item: str
    state: Literal["ok", "missing", "failed", "note"]
    detail: str
    mend: str | None = None


@dataclass(frozen=True, slots=True)
class _Key:
    variable: str | None
    check: Checked
    # Empty without a key, and if the server may not receive it.
    headers: dict[str, str]


def check_provider(name: str, base_url: str | None = None, model: str | None = None) -> list[Checked]:
    """All checks, in the order in which they are printed. `base_url` replaces the provider's own address; `model` is
    looked up."""
    facts = facts_of(name)
    url = without_slash(base_url or facts.base_url)
    return [*_server(facts, url, model), *_documented(facts)]


def _server(facts: ProviderFacts, url: str, model: str | None) -> Iterator[Checked]:
    if gap := _TO_FILL_IN.search(url):
        key = _key(facts, None)
        yield key.check
        yours = Advice("{base_url}", base_url=url)
        yield Checked("server", "missing", f"its address holds {gap[0]}, which is yours", yours)
        return
    key = _key(facts, origin_of(url, Advice("{base_url}")))
    yield key.check
    yield from asyncio.run(_models(facts, url, model, key))


def _key(facts: ProviderFacts, origin: Origin | None) -> _Key:
    provider = facts.provider
    names = provider.variables if provider is not None else OPENAI.variables
    variable = next((name for name in names if os.environ.get(name, "").strip()), None)
    if variable is None:
        variables = " or ".join(names)
        if provider is None:
            return _Key(
                None, Checked("key", "note", f"{variables} is not set; a server of your own may not need it"), {}
            )
        return _Key(None, Checked("key", "missing", f"{variables} is not set", f"export {names[0]}=..."), {})
    if origin is not None and not _may_go(facts, origin, variable):
        detail = f"{variable} is set, and was not sent: {origin} is no host of {facts.title}"
        return _Key(None, Checked("key", "note", detail, f"export {VARIABLE}={origin}, if you trust it"), {})
    value = os.environ[variable].strip()
    redaction.remember(value)
    header, scheme = (provider.header, provider.scheme) if provider else ("Authorization", "Bearer ")
    if facts.backend != "openai" and provider is not None:
        header, scheme = provider.own_header, ""
    return _Key(variable, Checked("key", "ok", f"{variable} is set"), {header: scheme + value})


def _may_go(facts: ProviderFacts, origin: Origin, variable: str) -> bool:
    if origin.loopback or trusted(origin, variable):
        return True
    return facts.provider is not None and origin.scheme == "https" and provider_of(origin.host) is facts.provider


async def _models(facts: ProviderFacts, url: str, model: str | None, key: _Key) -> list[Checked]:
    try:
        timeout = aiohttp.ClientTimeout(total=PATIENCE)
        async with (
            aiohttp.ClientSession(
                timeout=timeout,
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"anthropic-version": VERSION} if facts.backend == "anthropic" else None,
            ) as client,
            client.get(_list_of(facts, url), headers=key.headers, allow_redirects=False) as reply,
        ):
            status, headers, body = reply.status, dict(reply.headers), await read_body(reply)
    except TimeoutError:
        return [Checked("server", "failed", f"{url}: no answer within {PATIENCE:g} s", _start(facts))]
    except (aiohttp.ClientError, ValueError) as error:
        reason = connection_error(error, url) if isinstance(error, aiohttp.ClientError) else error
        return [Checked("server", "failed", redaction.redact(str(reason)), _start(facts))]
    if status == 200:
        entries = models_in(body)
        return _listed(url, None if entries is None else [str(entry["id"]) for entry in entries], model)
    return [_refused(facts, url, status, headers, body, key)]


def _list_of(facts: ProviderFacts, url: str) -> str:
    match facts.backend:
        case "anthropic":
            return route_of(url, "/models?limit=1000")
        case "gemini":
            return endpoint(url, GEMINI.models)
        case _:
            return endpoint(url, "/models")


def _refused(facts: ProviderFacts, url: str, status: int, headers: dict[str, str], body: bytes, key: _Key) -> Checked:
    refusal = read_refusal(status, headers, body)
    words = redaction.redact(refusal.error_body.shown())
    sentence = f"{url} answers HTTP {status}" + (f": {words}" if words else "")
    if facts.name == "anthropic-openai" and refusal.kind in ("auth", "request"):
        detail = f"{sentence}; its list of models wants other headers, so that this says nothing of your key"
        return Checked("server", "note", detail, Advice("judge run {pilot} shows whether the key is taken", pilot=1))
    if refusal.kind == "auth":
        mend = f"check {key.variable}" if key.variable else "set its key"
        return Checked("server", "failed" if key.variable else "note", sentence, mend)
    if status == 404:
        return Checked(
            "server", "note", f"{sentence}; it may have no list of models", "check the address if a run fails"
        )
    return Checked("server", "failed", sentence, "try again later" if refusal.retryable else "check the address")


def _listed(url: str, names: list[str] | None, model: str | None) -> list[Checked]:
    if names is None:
        return [Checked("server", "failed", f"{url} answers, but not with a list of models", "check the address")]
    checks = [Checked("server", "ok", f"{url} answers and lists {len(names)} models")]
    if model is None:
        return checks
    # Gemini lists its models as `models/NAME`.
    if model in names or f"models/{model}" in names:
        return [*checks, Checked("model", "ok", f"{model} is listed")]
    near = nearest(model, [name.removeprefix("models/") for name in names])
    mend = f"did you mean {near}?" if near else "check the name; an Azure deployment is never listed"
    return [*checks, Checked("model", "missing", f"{model} is not listed", mend)]


def _start(facts: ProviderFacts) -> str:
    if facts.local:
        return Advice("start the server, or give its address with {base_url}")
    return "check network and address"


def _documented(facts: ProviderFacts) -> Iterator[Checked]:
    for word, settings in (("refuses", facts.refused), ("ignores", facts.ignored)):
        for setting, words in settings.items():
            yield Checked(f"{word} {setting}", "note", str(words))
    for trap in facts.traps:
        yield Checked("trap", "note", trap)
    if not facts.sources:
        yield Checked(
            "settings", "note", "the settings that it refuses are unknown; a run learns them from its first query"
        )
    tried = "an imitation of its documented behaviour" if facts.tried == "imitation" else "nothing that imitates it"
    yield Checked("tried", "note", f"this program was tried against {tried}, never against the live endpoint")
