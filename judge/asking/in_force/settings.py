"""Whether each requested setting is honoured, refused, ignored or unknown, with evidence.

No request is sent, and nothing is honoured without a source. Sources in order: a refusal by the server, proofs in its
answers, a probe, statements against the setting by the catalogue or the endpoint's documentation, for it by the
catalogue, indications in answers, and statements for it by the documentation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from judge.asking.in_force.catalogue import Asked, addresses_of, catalogue, life_of, who_is_asked
from judge.asking.in_force.seen import NOTHING, ONE_BY_ONE, Said, Seen, by_catalogue
from judge.asking.in_force.words import SettingInForce, Source, sentences
from judge.asking.run_definition.writing import AnySpec
from judge.backends import IN_PROCESS
from judge.backends.engine_keys import SAMPLING, TOP_LOGPROBS
from judge.base.credentials.providers import MODELLESS, PROTOCOLS, JudgeName
from judge.base.late_pattern import late

_ENGINE = SAMPLING | {"reasoning_effort"}
_ADDRESS = late(r"https?://[^\s'\"]+")
_PREFIX = late(r"^https?://\S+ ")
_NAMES = {"max_tokens": ("max_tokens", "max_completion_tokens"), "logprobs": ("logprobs", "top_logprobs")}
_FIELDS = {"structured": ("structured", "response_format", "structured_outputs", "guided_choice")}


def settings_in_force(
    spec: AnySpec,
    *,
    server: Mapping[str, Any] | None = None,
    refusals: Mapping[str, str] | None = None,
    seen: Seen = NOTHING,
) -> list[SettingInForce]:
    """Every requested setting with its state; none for a judge without a model. `server` is the probe's result,
    `refusals` maps refused settings (named as in run.yaml or the request) to the server's messages, and `seen` is the
    answers' evidence. All three may be missing, as before a run."""
    if spec.provider in MODELLESS:
        return []
    asked = list(settings_of(spec))
    if spec.provider in IN_PROCESS:
        text = f"{spec.provider} generates in this process with it"
        return [SettingInForce(name, value, "honoured", text, "engine") for name, value in asked]
    if spec.provider not in PROTOCOLS:
        text = f"the back-end {spec.provider} does not say whether it keeps to it"
        return [SettingInForce(name, value, "unknown", text, "none") for name, value in asked]
    backend, model = JudgeName.of(spec.judge)
    who = who_is_asked(model, addresses_of(spec.base_url, server, backend=backend), server, backend=backend)
    look = _Look(spec, server or {}, refusals or {}, seen, who)
    return [look.at(name, value) for name, value in asked]


def settings_of(spec: AnySpec) -> Iterator[tuple[str, Any]]:
    """(name, value) of each setting that the definition names; for others the provider's default applies."""
    generation = spec.generation
    for name in ("temperature", "top_p", "max_tokens", "seed"):
        if getattr(generation, name) is not None:
            yield name, getattr(generation, name)
    if generation.stop:
        yield "stop", list(generation.stop)
    if spec.repeats > 1 and generation.seed is None:
        yield "n", spec.repeats
    if spec.scoring == "logprobs":
        yield "logprobs", spec.engine.get("top_logprobs", TOP_LOGPROBS)
    if spec.structured != "none":
        yield "structured", spec.structured
    if spec.system:
        yield "system", spec.system
    for key in sorted(_ENGINE & set(spec.engine)):
        yield key, spec.engine[key]


def _from(source: Source, statement: Said | None) -> tuple[Said, Source] | None:
    return None if statement is None else (statement, source)


@dataclass(frozen=True, slots=True)
class _Look:
    spec: AnySpec
    server: Mapping[str, Any]
    refusals: Mapping[str, str]
    seen: Seen
    who: Asked

    def at(self, name: str, value: Any) -> SettingInForce:
        # Where no evidence decides, the reason is that of the strongest.
        statement = by_catalogue(self.who, name, value, self.spec, thinking=self.seen.thinking)
        catalogued = _from("catalogue", statement)
        without_effect = catalogued if catalogued and catalogued[0].state == "ignored" else None
        evidence = (
            self._refused(name),
            _from("answers", self.seen.firm.get(name)),
            self._probe(name),
            without_effect,
            self._against(name, value),
            catalogued,
            _from("answers", self.seen.hints.get(name)),
            self._documented(name),
        )
        spoken = [finding for finding in evidence if finding is not None]
        decided = [finding for finding in spoken if finding[0].state != "unknown"]
        said, source = (*decided, *spoken, (Said("unknown", self._nothing()), "none"))[0]
        return SettingInForce(name, value, said.state, _ADDRESS.sub("the server", said.words), source)

    def _refused(self, name: str) -> tuple[Said, Source] | None:
        words = next(
            (self.refusals[wire_name] for wire_name in self._wire_names(name) if wire_name in self.refusals), None
        )
        if words is None:
            return None
        sent = self.server.get("max_tokens_parameter") or next(iter(self._told("max_tokens_parameter")), None)
        if name == "max_tokens" and sent is not None and sent not in self.refusals:
            return Said("honoured", f"it is sent as {sent}, since the server refuses the other name"), "server"
        after = "; each repeat is a request of its own" if name == "n" else ""
        message = _PREFIX.sub("", " ".join(words.split()))[:240]
        return Said("refused", f"the server refused it: {message}{after}"), "server"

    def _wire_names(self, name: str) -> tuple[str, ...]:
        return _NAMES.get(name) or _FIELDS.get(name) or (name, f"generation.{name}", f"engine.{name}")

    def _probe(self, name: str) -> tuple[Said, Source] | None:
        if name == "n" and 1 in self._told("answers_per_call"):
            return Said("ignored", ONE_BY_ONE), "server"
        if name != "seed":
            return None
        kept = self._told("seed_kept")
        if False in kept or any("same seed" in note for note in self.server.get("notes", ())):
            return Said("ignored", "two answers to one question with one seed differ"), "probe"
        if kept and all(kept):
            words = "two answers to one question with one seed are equal, and another seed's answer differs"
            return Said("honoured", words), "probe"
        return None

    def _told(self, fact: str) -> list[Any]:
        # One value from each server that reports it.
        return [entry[fact] for entry in self.server.get("servers", ()) if entry.get(fact) is not None]

    def _statement(self, name: str) -> Mapping[str, Any] | None:
        if self.who.endpoint is None:
            return None
        key = name
        if name == "structured":
            key = "choice" if self.spec.structured == "choice" else "json"
        return self.who.endpoint.settings.get(key) or self.who.endpoint.settings.get("any")

    def _against(self, name: str, value: Any) -> tuple[Said, Source] | None:
        statement = self._statement(name)
        if statement is None or statement["state"] == "honoured":
            return None
        if "above" in statement and not (isinstance(value, int | float) and value > statement["above"]):
            return None
        if self._routed_as_asked():
            return None
        return Said(statement["state"], f"{self._docs()} says: {statement['words']}"), "documentation"

    def _routed_as_asked(self) -> bool:
        # A router may use only providers that support every setting.
        routing = self.spec.engine.get("provider")
        return isinstance(routing, Mapping) and routing.get("require_parameters") is True

    def _documented(self, name: str) -> tuple[Said, Source] | None:
        statement = self._statement(name)
        if statement is None:
            return None
        if statement["state"] == "honoured":
            tail = f": {statement['words']}" if "words" in statement else ""
            return Said("honoured", f"{self._docs()} lists it{tail}"), "documentation"
        if self.who.endpoint is not None and self.who.endpoint.routes and self._routed_as_asked():
            words = "the request goes to providers that take it alone (require_parameters)"
            return Said("honoured", words), "documentation"
        return None

    def _docs(self) -> str:
        return f"the documentation of {self.who.endpoint.name}" if self.who.endpoint else ""

    def _nothing(self) -> str:
        if self.who.entry is not None and not self.who.by_name:
            return f"neither the server nor {catalogue().named} says anything of it"
        if self.who.endpoint is not None:
            return f"neither the server nor what is known of {self.who.endpoint.name} says anything of it"
        return "the server does not say whether it keeps to it"


def warnings(spec: AnySpec) -> list[str]:
    """Warnings before the first request: on settings not in force, and on the model's shutdown."""
    settings = [setting for setting in settings_in_force(spec) if setting.source != "none"]
    life = life_of(spec.judge, spec.base_url)
    ends = [f"a published judge can become unavailable: {life.sentence}"] if life is not None and life.ends else []
    return [*sentences(settings), *ends]
