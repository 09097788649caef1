"""Options of one command or method that goes several ways: those of all ways together, and what a way refuses.

A way is a layout of a question, a reader of imported files or a form of export, with a frozen dataclass of options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, Literal, Protocol, get_args, get_origin, get_type_hints

from judge.base.errors import SpecError, unknown
from judge.base.wording import Advice


class Alternative(Protocol):
    """One way: its options as fields by name, their types, and help texts of those whose field has none."""

    @property
    def own(self) -> Mapping[str, Field[Any]]: ...

    @property
    def hints(self) -> Mapping[str, Any]: ...

    @property
    def helps(self) -> Mapping[str, str]: ...


@dataclass(frozen=True, slots=True)
class Option:
    """An option of several ways; `default` is `MISSING` if it is required, `metavar` stands for its value in helps."""

    name: str
    hint: Any
    default: Any
    text: str
    metavar: str | None = None

    def joined(self, other: Option) -> Option:
        """The option of two ways as one, with the words of both."""
        hint = self.hint
        if get_origin(hint) is Literal and get_origin(other.hint) is Literal:
            hint = Literal[tuple(dict.fromkeys((*_words(hint), *_words(other.hint))))]
        return Option(self.name, hint, self.default, self.text or other.text, self.metavar or other.metavar)

    @property
    def required(self) -> bool:
        return self.default is MISSING


def options_of(ways: Mapping[str, Alternative]) -> dict[str, Option]:
    """The options of all ways together."""
    options: dict[str, Option] = {}
    for way in ways.values():
        hints = way.hints
        for name, own in way.own.items():
            text = own.metadata.get("help") or way.helps.get(name, "")
            made = Option(name, hints[name], own.default, text, own.metadata.get("metavar"))
            options[name] = options[name].joined(made) if name in options else made
    return options


def refuse(given: Mapping[str, Any], ways: Mapping[str, Alternative], choice: str, chosen: str) -> None:
    """Raise SpecError for an option that no way has, that the way `chosen` does not have, or that it needs and that is
    not given. `choice` is the option that chooses the way."""
    for key, value in given.items():
        takers = [name for name, way in ways.items() if key in way.own]
        if not takers:
            raise SpecError(unknown("option", key, options_of(ways)))
        if chosen not in takers:
            words = Advice(f"{{{key}}} has no effect with {{{choice}}}", **{key: value, choice: chosen})
            raise SpecError(
                words, hint=Advice(f"leave it out, or ask for {{{choice}}}", **{choice: " or ".join(takers)})
            )
    for name, own in ways[chosen].own.items():
        if own.default is MISSING and name not in given:
            raise SpecError(Advice(f"{{{choice}}} needs {{{name}}}", **{choice: chosen}))


def _words(hint: Any) -> Iterator[str]:
    for each in get_args(hint):
        yield from _words(each) if get_origin(each) is Literal else [each]


def option(text: str, *, default: Any = None, metavar: str | None = None) -> Any:
    """Field of a dataclass of options, as of `Option`."""
    return field(default=default, metadata={"help": text, "metavar": metavar})


@dataclass(frozen=True, slots=True)
class Form:
    """A form of file as one of several ways. The fields of the frozen dataclass `options` are made by `option`."""

    name: str
    text: str
    options: type

    @property
    def own(self) -> dict[str, Field[Any]]:
        return {each.name: each for each in fields(self.options)}

    @property
    def hints(self) -> dict[str, Any]:
        return get_type_hints(self.options)

    @property
    def helps(self) -> Mapping[str, str]:
        """None: every field has its help text."""
        return {}


@dataclass(frozen=True, slots=True)
class Nothing:
    """Options of a form that has none."""
