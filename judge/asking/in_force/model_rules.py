"""What the model catalogue says about one setting of a run. Nothing is known about a setting that the catalogue does
not list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from judge.asking.in_force.catalogue import Entry, catalogue
from judge.asking.in_force.endpoints import Asked
from judge.asking.run_definition.writing import AnySpec

_CORE = frozenset({"temperature", "top_p"})
"""Settings that the catalogue lists for every model that takes them, so that a model without them takes none."""

_EVERY_INTERFACE = _CORE | {"max_tokens", "top_k"}
"""Settings that mean the same in a provider's own interface and in its OpenAI-compatible one."""

_THINKING = "thinking.type"


@dataclass(frozen=True, slots=True)
class Said:
    """Statement on a setting: its state, and `words`, the clause that gives the reason.

    *honoured*: it works as requested. *refused*: the server does not accept it. *ignored*: it has no effect.
    """

    state: Literal["honoured", "refused", "ignored", "unknown"]
    words: str


def by_catalogue(who: Asked, name: str, value: Any, spec: AnySpec, *, thinking: bool | None) -> Said | None:
    """The model catalogue's statement on a setting with this value; None where it makes none.

    A statement that a setting works is used only if the model was found at its provider's own address, and not by its
    name only. A statement that a setting does not work always holds, because it concerns the model.
    """
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
    """Statement on a setting that does not apply in combination with another, such as temperature with thinking; None
    where there is no such combination in the run.
    """
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
    """Statement that a value is outside the catalogue's range or list of values; None where it is not, or where nothing
    is listed.
    """
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
    """Values of those settings on which it can depend whether another setting applies. They are the model's defaults,
    replaced by the values that the run sets; where answers show that the model thinks, thinking counts as enabled.
    """
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
