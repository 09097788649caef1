"""A question that is asked of runs: its ways, each with options, a computation and printed tables.

A way is one statistic or layout that answers the question, such as the accuracy of pairs for "does it agree with
people?". The options of a question are those of all its ways; one that the chosen way does not have is refused by name.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from judge.analysis.options.alternatives import Option, options_of, refuse
from judge.base.errors import OptionError
from judge.questions.answer import Answer, Way
from judge.questions.source import Source

# Name of the option that chooses a question's way.
WAY = "layout"


@dataclass(frozen=True)
class Question:
    """A question; its first way is taken where none is named. `text` is its help: a line, and after an empty line
    whatever more there is to say, with examples of commands.
    """

    name: str
    text: str
    ways: Mapping[str, Way]

    @property
    def first(self) -> str:
        return next(iter(self.ways))

    @functools.cached_property
    def options(self) -> dict[str, Option]:
        """All options by name: the choice of the way if there are several, then those of each way."""
        choices: Any = Literal[tuple(self.ways)]
        choice = {WAY: Option(WAY, choices, self.first, "what is shown")} if len(self.ways) > 1 else {}
        return choice | options_of(self.ways)

    def way(self, words: Mapping[str, Any]) -> tuple[str, Way]:
        """The way that these words choose, with its name. Raises OptionError for an unknown one."""
        name = words.get(WAY, self.first)
        if name not in self.ways:
            raise OptionError(WAY, name, allowed=tuple(self.ways))
        return name, self.ways[name]

    def chosen(self, words: Mapping[str, Any]) -> tuple[Way, Any, dict[str, Any]]:
        """The way that these words choose, its options, and the choices of what is shown by name. Raises SpecError for
        an option that the question or way does not have, for a value that is not allowed, and for an option that has no
        effect because of another.
        """
        name, way = self.way(words)
        given = {key: value for key, value in words.items() if key != WAY}
        refuse(given, self.ways, WAY, name)
        parts = [{each.name for each in fields(kind)} for kind in (way.options, way.shown)]
        options, show = (
            _made(kind, {key: value for key, value in given.items() if key in part})
            for kind, part in zip((way.options, way.shown), parts, strict=True)
        )
        return way, options, {each.name: getattr(show, each.name) for each in fields(way.shown)}

    def ask(self, source: Source, **words: Any) -> Answer:
        """The answer for opened runs, by options in words. Raises SpecError as `chosen` does."""
        way, options, show = self.chosen(words)
        return _answer(way, source, options, show)

    def answer(self, source: Source, options: Any, **show: Any) -> Answer:
        """The answer in the first way, by its options as an object and choices of what is shown."""
        return _answer(self.ways[self.first], source, options, show)


def _answer(way: Way, source: Source, options: Any, show: Mapping[str, Any]) -> Answer:
    @functools.cache
    def table() -> Any:
        return way.table(source, options)

    def compute() -> Any:
        from judge.ratings.rating_matrix import built_once

        with built_once():
            return way.compute(table(), options, **way.further(source, table()))

    return Answer(way.kept(source, options, compute), table, options, way, show)


def _made(kind: type, words: Mapping[str, Any]) -> Any:
    from judge.analysis.options.table_options import from_words

    return from_words(kind, **words)


def method(question: Question, source: Source) -> Callable[..., Answer]:
    """Function that asks the question of opened runs, with the question's options as its signature."""

    def ask(*first: Any, **words: Any) -> Answer:
        bound = made.bind(*first, **{key: value for key, value in words.items() if key in question.options})
        return question.ask(source, **{**words, **bound.arguments})

    made = signature(question)
    ask.__name__, ask.__doc__ = question.name, inspect.cleandoc(question.text)
    ask.__signature__ = made  # type: ignore[attr-defined]
    return ask


def signature(question: Question) -> inspect.Signature:
    """The question's options as parameters with their types and defaults; only the first may be given by position."""
    parameters = [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY if at else inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=inspect.Parameter.empty if each.required and len(question.ways) == 1 else _default(each.default),
            annotation=each.hint,
        )
        for at, each in enumerate(question.options.values())
    ]
    return inspect.Signature(parameters, return_annotation=Answer)


def _default(default: Any) -> Any:
    from dataclasses import MISSING

    return None if default is MISSING else default
