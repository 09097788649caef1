"""Sentences that mention options of a command or function, and that can be worded for the command line, for Python or
for web pages.

An `Advice` is a string in Python's wording, where an option is written, for example, as ``level="system"``. Exceptions,
frames and notebooks show it so. It keeps its template and arguments, so that the command line can write flags instead
(function `written`). A page whose readers cannot set options can leave the advice out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from string import Formatter
from typing import Any, Protocol, TypeVar


class Wording(Protocol):
    """Protocol of classes that write options in sentences for one kind of reader, such as users of Python."""

    def option(self, field: str) -> str:
        """The name of an option, as written for the readers of this wording (such as users of Python)."""

    def setting(self, field: str, value: object, *, exact: bool) -> str:
        """An option with its value, as written for the readers of this wording (such as users of Python). If `exact`,
        text values are in quotation marks.
        """


class InPython:
    """Wording for users of Python, in which options are written as arguments of a call: ``level="system"``."""

    def option(self, field: str) -> str:
        """Name of an option as an argument in Python."""
        return field

    def setting(self, field: str, value: object, *, exact: bool) -> str:  # noqa: ARG002  a call always quotes
        """An option as an argument with its value, as in a Python call. `exact` has no effect, since text values are
        always in quotation marks.
        """
        try:
            plain = isinstance(value, str | Mapping)
            return f"{field}={json.dumps(value, ensure_ascii=False) if plain else repr(value)}"
        except TypeError:  # a mapping of what JSON does not have
            return f"{field}={value!r}"


class InPlainWords:
    """Wording for readers who cannot set options, in which options are plain words: ``level system``."""

    def option(self, field: str) -> str:
        """Name of an option in plain words."""
        return field.replace("_", " ")

    def setting(self, field: str, value: object, *, exact: bool) -> str:  # noqa: ARG002  words are never quoted
        """Name and value of an option in plain words; only the name where the value is True. `exact` has no effect."""
        return self.option(field) if value is True else f"{self.option(field)} {value}"


PYTHON = InPython()
PLAIN = InPlainWords()


_Made = tuple[str, tuple[object, ...], dict[str, object]]


class Advice(str):
    """A sentence, or part of one, that mentions options of a command or function. As a string it is worded for Python;
    it can also be worded for other kinds of readers.

    The template has the syntax of `str.format`. Positional arguments, which may be advice too, fill its ``{}``.
    ``{level}`` is replaced by the option `level` with the value of the keyword argument `level`, or by the option's
    name alone without that argument. ``{level!r}`` puts a text value in quotation marks. Texts of users must be passed
    as arguments, because braces in a template have a meaning.
    """

    __slots__ = ("_made", "rest")
    _made: _Made
    rest: str
    """The part for readers who cannot give options; empty here."""

    def __new__(cls, template: str, /, *texts: object, **options: object) -> Advice:
        """Make the sentence from a template, texts and options by name (see the class). As a string it is worded for
        Python.
        """
        return _advice(Advice, "", (template, texts, options))

    def written(self, wording: Wording) -> str:
        """The sentence worded for another kind of reader, such as users of the command line."""
        return _filled(self._made, wording)

    def mapped(self, change: Callable[[str], str]) -> Advice:
        """A copy of the sentence with `change` applied to its template and to every text argument."""
        template, texts, options = self._made
        new = {name: _changed(value, change) for name, value in options.items()}
        changed_parts = (change(template), tuple(_changed(text, change) for text in texts), new)
        return _advice(type(self), change(self.rest), changed_parts)

    def __reduce__(self) -> tuple[Any, ...]:
        """Support for `copy` and `pickle`, which keeps the template and its arguments."""
        return _advice, (type(self), self.rest, self._made)


class Note(Advice):
    """A sentence that is complete by itself, followed by advice that mentions options. The advice is put in brackets,
    or after the text `joint` if that is given.

    Readers who cannot set options see only the sentence.
    """

    __slots__ = ()

    def __new__(cls, text: str, advice: str, *, joint: str | None = None) -> Note:
        """Make the note from a sentence and its advice. As a string it has both, worded for Python. `joint` is the text
        between the two; None = the advice is put in brackets.
        """
        parts: _Made = ("{} ({})", (text, advice), {}) if joint is None else ("{}{}{}", (text, joint, advice), {})
        return _advice(Note, text, parts)


_Kind = TypeVar("_Kind", bound=Advice)


def written(words: str, wording: Wording | None) -> str:
    """A text worded for one kind of reader; a plain string is returned unchanged. If `wording` is None (readers who
    cannot set options), advice is left out, and the result may be empty.
    """
    if not isinstance(words, Advice):
        return words
    return words.rest if wording is None else words.written(wording)


def joined(*parts: str) -> str:
    """The parts joined into one text, which is an `Advice` (a text that mentions options) if any part is one. For
    readers who cannot set options, the whole text is empty if one of its `Advice` parts is empty for them.
    """
    some = [part for part in parts if isinstance(part, Advice)]
    if not some:
        return "".join(parts)
    rest = "".join(written(part, None) for part in parts) if all(part.rest for part in some) else ""
    return _advice(Advice, rest, ("{}" * len(parts), parts, {}))


def listed(parts: Iterable[str], between: str) -> str:
    """The parts joined into one text with `between` as separator; it is an `Advice` (a text that mentions options) if
    any part is one.
    """
    pieces = [piece for part in parts for piece in (between, part)]
    return joined(*pieces[1:])


def changed(words: str, change: Callable[[str], str]) -> str:
    """The text with `change` applied to it. In an `Advice` (a text that mentions options) it is applied to the template
    and to every text argument.
    """
    return words.mapped(change) if isinstance(words, Advice) else change(words)


def _advice(kind: type[_Kind], rest: str, parts: _Made) -> _Kind:
    self = str.__new__(kind, _filled(parts, PYTHON))
    self.rest = rest
    self._made = parts
    return self


def _filled(parts: _Made, wording: Wording) -> str:
    template, texts, options = parts
    filled_texts = [text.written(wording) if isinstance(text, Advice) else text for text in texts]
    return Formatter().vformat(template, filled_texts, _Mentions(wording, options))


def _changed(value: object, change: Callable[[str], str]) -> object:
    return changed(value, change) if isinstance(value, str) else value


class _Mentions(dict[str, "_Mention"]):
    """Values for the named fields of a template. Each name stands for an option; the value of the option is known if
    the caller gave it.
    """

    def __init__(self, wording: Wording, options: Mapping[str, object]) -> None:
        super().__init__({name: _Mention(wording, name, value) for name, value in options.items()})
        self._wording = wording

    def __missing__(self, field: str) -> _Mention:
        return _Mention(self._wording, field)


_BARE = object()


class _Mention:
    """One option mentioned in a template, which `str.format` converts to text for one kind of reader."""

    def __init__(self, wording: Wording, field: str, value: object = _BARE) -> None:
        self._wording, self._field, self._value = wording, field, value

    def _written(self, *, exact: bool) -> str:
        if self._value is _BARE:
            return self._wording.option(self._field)
        return self._wording.setting(self._field, self._value, exact=exact)

    def __str__(self) -> str:
        return self._written(exact=False)

    def __repr__(self) -> str:
        return self._written(exact=True)
