"""A question that is asked of runs: its ways, each with options, a computation and printed tables.

A way is one statistic or layout that answers the question, such as the accuracy of pairs for "does it agree with
people?". The options of a question are those of all its ways together. Each way takes those that it has; one that it
does not have is refused by name, whether the command line or Python gave it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from judge.errors import OptionError, SpecError, unknown
from judge.questions.answer import Answer
from judge.questions.way import Way
from judge.wording import Advice

if TYPE_CHECKING:
    from judge.questions.source import Source

WAY = "layout"
"""Name of the option that chooses a question's way."""


@dataclass(frozen=True)
class Question:
    """A question, with its ways by name; the first is taken where none is named.

    `text` is its help: a line, and after an empty line whatever more there is to say, with examples of commands.
    """

    name: str
    text: str
    ways: Mapping[str, Way]

    @property
    def first(self) -> str:
        """Name of the way that is taken where none is named."""
        return next(iter(self.ways))

    @functools.cached_property
    def options(self) -> dict[str, Option]:
        """All options of the question by name: the choice of the way if there are several, then those of each way."""
        choices: Any = Literal[tuple(self.ways)]
        several = {WAY: Option(WAY, choices, self.first, "what is shown")} if len(self.ways) > 1 else {}
        for way in self.ways.values():
            hints = get_type_hints(way.options) | get_type_hints(way.shown)
            for name, own in way.own.items():
                text = own.metadata.get("help") or way.helps.get(name, "")
                made = Option(name, hints[name], own.default, text)
                several[name] = several[name].joined(made) if name in several else made
        return several

    def way(self, words: Mapping[str, Any]) -> tuple[str, Way]:
        """The way that these words choose, with its name. Raises OptionError for a name that is none."""
        name = words.get(WAY, self.first)
        if name not in self.ways:
            raise OptionError(WAY, name, allowed=tuple(self.ways))
        return name, self.ways[name]

    def chosen(self, words: Mapping[str, Any]) -> tuple[Way, Any, dict[str, Any]]:
        """The way that these words choose, its options, and the choices of what is shown by name.

        Raises SpecError for an option that the question or the chosen way does not have, for a value that is none of
        those allowed, and for an option that has no effect because of another.
        """
        name, way = self.way(words)
        given = {key: value for key, value in words.items() if key != WAY}
        self._refuse(given, name, way)
        for each in fields(way.options):
            if each.default is MISSING and each.name not in given:
                raise SpecError(Advice(f"{{{WAY}}} needs {{{each.name}}}", **{WAY: name}))
        parts = [{each.name for each in fields(kind)} for kind in (way.options, way.shown)]
        options, show = (
            _made(kind, {key: value for key, value in given.items() if key in part})
            for kind, part in zip((way.options, way.shown), parts, strict=True)
        )
        return way, options, {each.name: getattr(show, each.name) for each in fields(way.shown)}

    def ask(self, source: Source, **words: Any) -> Answer:
        """The answer for runs that are opened, by options in words. Raises SpecError as `chosen` does."""
        way, options, show = self.chosen(words)
        return _answer(way, source, options, show)

    def answer(self, source: Source, options: Any, **show: Any) -> Answer:
        """The answer in the question's first way, by its options as an object and choices of what is shown."""
        return _answer(self.ways[self.first], source, options, show)

    def _refuse(self, given: Mapping[str, Any], name: str, way: Way) -> None:
        for key, value in given.items():
            if key not in self.options:
                raise SpecError(unknown("option", key, self.options))
            if key not in way.own:
                words = f"{{{key}}} has no effect with {{{WAY}}}"
                takers = [other for other, each in self.ways.items() if key in each.own]
                hint = Advice(f"leave it out, or ask for {{{WAY}}}", **{WAY: " or ".join(takers)})
                raise SpecError(Advice(words, **{key: value, WAY: name}), hint=hint)


def _answer(way: Way, source: Source, options: Any, show: Mapping[str, Any]) -> Answer:
    table = way.table(source, options)
    value = way.compute(table, options, **way.further(source, table))
    return Answer(value, table, options, way, show)


def _made(kind: type, words: Mapping[str, Any]) -> Any:
    from judge.analysis.options.table_options import from_words

    return from_words(kind, **words)


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a question: its name, type, default (`MISSING` if it must be given) and help text."""

    name: str
    hint: Any
    default: Any
    text: str

    def joined(self, other: Option) -> Option:
        """The option of two ways as one: its words are those of both."""
        hint = self.hint
        if get_origin(hint) is Literal and get_origin(other.hint) is Literal:
            hint = Literal[tuple(dict.fromkeys((*_words(hint), *_words(other.hint))))]
        return Option(self.name, hint, self.default, self.text or other.text)

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is MISSING


def _words(hint: Any) -> Iterator[str]:
    for each in get_args(hint):
        yield from _words(each) if get_origin(each) is Literal else [each]
