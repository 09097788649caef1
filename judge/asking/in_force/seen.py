"""Evidence on settings from a run's first answers, without their ratings: cuts at the token limit, output formats, stop
strings, repeats at temperature 0. Proofs and indications are kept apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

from judge.answers.journal import JournalReader
from judge.answers.parsing.asked_form import FORMS, VERDICT_FORMS, has_asked_form
from judge.asking.in_force.catalogue import Asked, Entry, catalogue
from judge.asking.run_definition.writing import AnySpec
from judge.base.records import Answer, Criterion, Response

# What the model catalogue says about one setting of a run. Nothing is known about a setting that the catalogue does
# not list.

# Settings that the catalogue lists for every model that takes them, so that a model without them takes none.
_CORE = frozenset({"temperature", "top_p"})

# Settings that mean the same in a provider's own interface and in its OpenAI-compatible one.
_EVERY_INTERFACE = _CORE | {"max_tokens", "top_k"}

_THINKING = "thinking.type"


@dataclass(frozen=True, slots=True)
class Said:
    """Statement on a setting, with the reason as a clause: it works (*honoured*), is not accepted (*refused*), or has
    no effect (*ignored*)."""

    state: Literal["honoured", "refused", "ignored", "unknown"]
    words: str


def by_catalogue(who: Asked, name: str, value: Any, spec: AnySpec, *, thinking: bool | None) -> Said | None:
    """The catalogue's statement on a setting with this value. That it works counts only where the model was found at
    its provider's own address; that it does not always holds, because it concerns the model."""
    entry = who.entry
    native = who.endpoint is not None and who.endpoint.native
    if entry is None or (native and name not in _EVERY_INTERFACE):
        return None
    if name not in entry.params:
        if name in _CORE and catalogue().lists(entry.provider, name):
            return Said("unknown", f"{catalogue().named} lists no {name} for {_of(entry, who)}")
        return None
    param = entry.params[name]
    return (
        _without_effect(entry, who, name, spec, thinking)
        or _outside(entry, who, name, value, param)
        or _listed(entry, who, name, param)
    )


def _of(entry: Entry, who: Asked) -> str:
    return f"{entry.name} (recognised by its name alone)" if who.by_name else entry.name


def _without_effect(entry: Entry, who: Asked, name: str, spec: AnySpec, thinking: bool | None) -> Said | None:
    # Such as temperature with thinking.
    param = entry.params[name]
    values = _values(entry, spec, thinking)
    broken = next((rule for rule in param.get("except", ()) if _holds(rule, values)), None)
    if broken is None:
        return None
    with_what = ", ".join(f"{path} {_shown(values.get(path))}" for path in broken)
    if "words" in param:
        words = str(param["words"]).rstrip(".")
        return Said("ignored", f"{catalogue().named} says of {_of(entry, who)}: {words} ({with_what})")
    return Said("unknown", f"{catalogue().named} says of {_of(entry, who)} that {name} does not go with {with_what}")


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _outside(entry: Entry, who: Asked, name: str, value: Any, param: Mapping[str, Any]) -> Said | None:
    if name == "structured":
        listed = [str(allowed) for allowed in param.get("values", ())]
        wanted = "structured_outputs" if value == "choice" else "json_schema"
        if param.get("as") == "responseMimeType":
            wanted = "text/x.enum" if value == "choice" else "application/json"
        if wanted in listed or not listed:
            return None
        statement = f"lists {', '.join(listed)} for {_of(entry, who)}"
        return Said("unknown", f"{catalogue().named} {statement}, and {wanted} is asked for")
    if not isinstance(value, int | float):
        return None
    low, high = param.get("min"), param.get("max")
    if (low is None or value >= low) and (high is None or value <= high):
        return None
    return Said("unknown", f"{catalogue().named} lists {name} {_span(param)} for {_of(entry, who)}")


def _listed(entry: Entry, who: Asked, name: str, param: Mapping[str, Any]) -> Said | None:
    if name == "structured" and not param.get("values"):
        return None
    wire = str(param.get("as", name))
    if wire == "random_seed":
        return Said("unknown", f"{catalogue().named} lists random_seed for {_of(entry, who)}, and seed is sent")
    return None if who.by_name else Said("honoured", f"{catalogue().named} lists it for {entry.name}")


def _span(param: Mapping[str, Any]) -> str:
    low, high = param.get("min"), param.get("max")
    if low is None or high is None:
        return f"from {low:g}" if low is not None else f"up to {high:g}"
    return f"from {low:g} to {high:g}"


def _values(entry: Entry, spec: AnySpec, thinking: bool | None) -> dict[str, Any]:
    # The model's defaults, replaced by what the run sets; thinking counts as enabled where answers show it.
    values = {path: param.get("default") for path, param in entry.params.items() if "." in path or path == "do_sample"}
    if thinking and _THINKING in values:
        values[_THINKING] = "enabled"
    values |= {path: value for path, value in _flat(spec.engine) if path in values}
    return values | {name: getattr(spec.generation, name) for name in ("temperature", "top_p")}


def _flat(engine: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in engine.items():
        yield f"{prefix}{key}", value
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")


def _holds(rule: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    return all(_matches(condition, values.get(path)) for path, condition in rule.items())


def _matches(condition: Any, value: Any) -> bool:
    if isinstance(condition, Mapping):
        # {"not": 1} speaks of a value that was said.
        return value is not None and not _matches(condition["not"], value)
    if isinstance(condition, list):
        return value in condition
    return bool(value == condition)


# Answers that are read: a sample is enough, and a run's end must not wait for a million.
MOST = 2000

# Answers or queries from which something is concluded.
FEWEST = 10

# Characters from which two equal answers are no accident; a bare rating is equal by chance.
_LONG = 40


@dataclass(frozen=True, slots=True)
class Seen:
    """Evidence from answers on each setting: `firm` proofs and `hints`. `thinking` None: not known."""

    firm: Mapping[str, Said] = field(default_factory=dict)
    hints: Mapping[str, Said] = field(default_factory=dict)
    thinking: bool | None = None


NOTHING = Seen()

ONE_BY_ONE = "the server gives one answer to a request; each repeat is a request of its own"


def seen_in(journal: JournalReader, spec: AnySpec, several: bool | None) -> Seen:
    """Evidence from a journal's first answers. `several`: one call returned several repeats (None: not known)."""
    answers = [answer for answer in islice(journal.answers(), MOST) if answer.response is not None]
    definition = journal.meta().get("definition")
    if not answers or definition is None:
        return NOTHING
    criteria = {record["name"]: Criterion.of(record) for record in definition["criteria_records"]}
    responses = [answer.response for answer in answers if answer.response is not None]
    firm = {
        "max_tokens": _limit(responses, spec),
        "stop": _stop(responses, spec),
        "n": _repeats(several),
        "logprobs": Said("honoured", "the server gave log-probabilities") if _all_logprobs(responses) else None,
        "structured": _forms(answers, criteria, definition, spec),
    }
    hints = {"temperature": _greedy(answers, spec)}
    thinks = True if any(answer.reasoning for answer in responses) else None
    return Seen(_known(firm), _known(hints), thinks)


def _known(statements: Mapping[str, Said | None]) -> dict[str, Said]:
    return {name: statement for name, statement in statements.items() if statement is not None}


def _limit(responses: Iterable[Response], spec: AnySpec) -> Said | None:
    # A call's tokens are stored with its first answer and include all its repeats.
    most = spec.generation.max_tokens
    if most is None:
        return None
    together = 1 if spec.generation.seed is not None else spec.repeats
    cut, longest = 0, 0
    for response in responses:
        cut += response.finish_reason == "length"
        # Whether thinking counts against the limit differs between providers.
        if response.completion_tokens is not None and not response.reasoning:
            longest = max(longest, response.completion_tokens)
    if longest > most * together:
        return Said("ignored", f"an answer has {longest} tokens")
    return Said("honoured", f"{cut} {_answers(cut)} cut at it") if cut else None


def _answers(count: int) -> str:
    return "answer was" if count == 1 else "answers were"


def _stop(responses: Iterable[Response], spec: AnySpec) -> Said | None:
    stop = spec.generation.stop
    if not stop or spec.engine.get("include_stop_str_in_output"):
        return None
    past = sum(any(word in response.text for word in stop) for response in responses)
    return Said("ignored", f"{past} answers hold a stop string") if past else None


def _repeats(several: bool | None) -> Said | None:
    if several is None:
        return None
    if several:
        return Said("honoured", "the server gave several answers to one request")
    return Said("ignored", ONE_BY_ONE)


def _all_logprobs(responses: Iterable[Response]) -> bool:
    return all(response.logprobs for response in responses)


def _forms(
    answers: Iterable[Answer], criteria: Mapping[str, Criterion], definition: Mapping[str, Any], spec: AnySpec
) -> Said | None:
    # One answer without the requested format shows that the format is not enforced.
    if spec.structured == "none":
        return None
    patterns, joint = definition.get("rating_patterns", {}), definition.get("joint", {})
    counted: Counter[bool | None] = Counter()
    for answer in answers:
        names = joint.get(answer.eval_prompt, [answer.criterion])
        if answer.response is not None and all(name in criteria for name in names):
            pattern = patterns.get(answer.eval_prompt)
            asked = (
                tuple(criteria[name] for name in names) if answer.eval_prompt in joint else criteria[answer.criterion]
            )
            counted[has_asked_form(answer.response, asked, spec.structured, pattern, spec.choices)] += 1
    form = (VERDICT_FORMS if spec.choices else FORMS)[spec.structured]
    total = counted[True] + counted[False]
    if counted[False]:
        return Said("ignored", f"{counted[False]} of {total} answers lack the requested form ({form})")
    if total < FEWEST:
        return None
    return Said("honoured", f"each of {total} answers has the requested form ({form})")


def _greedy(answers: Iterable[Answer], spec: AnySpec) -> Said | None:
    # Different repeats prove nothing: servers may compute batches of requests differently.
    if spec.generation.temperature != 0 or spec.repeats < 2:
        return None
    by_query: dict[str, list[str]] = {}
    for answer in answers:
        if answer.response is not None:
            by_query.setdefault(answer.query_key, []).append(answer.response.text)
    equal = several = 0
    for texts in by_query.values():
        if len(texts) > 1 and max(map(len, texts)) >= _LONG:
            several += 1
            equal += len(set(texts)) == 1
    if several < FEWEST:
        return None
    if equal == several:
        return Said("honoured", f"the repeats of each of {several} queries are equal, word for word")
    return Said("unknown", f"the repeats of {several - equal} of {several} queries differ")
