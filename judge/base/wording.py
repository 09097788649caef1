"""Sentences that mention options, for the command line, Python or web pages. An `Advice` is a string in Python's
wording (``level="system"``), as exceptions, frames and notebooks show it. It keeps its template and arguments, so that
the command line can write flags (`written`), and a page whose readers cannot set options can leave it out."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Any, Protocol, TypeVar


def typed(path: Path) -> str:
    """A path as it is typed in a shell."""
    return shlex.quote(str(path))


class Wording(Protocol):
    """How options are written for one kind of reader, such as users of Python."""

    def option(self, field: str) -> str:
        """An option's name, as its readers know it."""

    def setting(self, field: str, value: object, *, exact: bool) -> str:
        """An option with its value. If `exact`, text values are in quotation marks."""


class InPython:
    """For users of Python, with options as arguments of a call: ``level="system"``."""

    def option(self, field: str) -> str:
        return field

    def setting(self, field: str, value: object, *, exact: bool) -> str:  # noqa: ARG002  a call always quotes
        """As in a Python call, where text values are always in quotation marks."""
        try:
            plain = isinstance(value, str | Mapping)
            return f"{field}={json.dumps(value, ensure_ascii=False) if plain else repr(value)}"
        except TypeError:  # a mapping of what JSON does not have
            return f"{field}={value!r}"


class InPlainWords:
    """For readers who cannot set options, which are plain words: ``level system``."""

    def option(self, field: str) -> str:
        return field.replace("_", " ")

    def setting(self, field: str, value: object, *, exact: bool) -> str:  # noqa: ARG002  words are never quoted
        """Name and value in plain words; only the name where the value is True."""
        return self.option(field) if value is True else f"{self.option(field)} {value}"


PYTHON = InPython()
PLAIN = InPlainWords()


_Made = tuple[str, tuple[object, ...], dict[str, object]]


class Advice(str):
    """A (part of a) sentence that mentions options: as a string, for Python.

    The template has the syntax of `str.format`. Positional arguments, advice too, fill ``{}``; ``{level}`` becomes the
    option `level` with its keyword argument's value, or its name alone; ``{level!r}`` quotes a text value. Texts of
    users must be arguments, because braces in a template have a meaning."""

    __slots__ = ("_made", "rest")
    _made: _Made
    rest: str
    """The part for readers who cannot give options; empty here."""

    def __new__(cls, template: str, /, *texts: object, **options: object) -> Advice:
        """The sentence from a template, texts and options by name (see the class)."""
        return _advice(Advice, "", (template, texts, options))

    def written(self, wording: Wording) -> str:
        """The sentence worded for another kind of reader, such as users of the command line."""
        return _filled(self._made, wording)

    @property
    def options(self) -> Mapping[str, object]:
        """The options that the sentence names with their values, by name."""
        return self._made[2]

    def mapped(self, change: Callable[[str], str]) -> Advice:
        """A copy of the sentence with `change` applied to its template and to every text argument."""
        template, texts, options = self._made
        new = {name: _changed(value, change) for name, value in options.items()}
        changed_parts = (change(template), tuple(_changed(text, change) for text in texts), new)
        return _advice(type(self), change(self.rest), changed_parts)

    def __reduce__(self) -> tuple[Any, ...]:
        """For `copy` and `pickle`: the template and its arguments."""
        return _advice, (type(self), self.rest, self._made)


class Note(Advice):
    """A complete sentence, followed by advice in brackets or after `joint`. Readers who cannot set options see only the
    sentence."""

    __slots__ = ()

    def __new__(cls, text: str, advice: str, *, joint: str | None = None) -> Note:
        """The note from a sentence and its advice. `joint` stands between; None = brackets."""
        parts: _Made = ("{} ({})", (text, advice), {}) if joint is None else ("{}{}{}", (text, joint, advice), {})
        return _advice(Note, text, parts)


_Kind = TypeVar("_Kind", bound=Advice)


def written(words: str, wording: Wording | None) -> str:
    """A text for one kind of reader; a plain string is unchanged. With None (readers who cannot set options), advice is
    left out, and the result may be empty."""
    if not isinstance(words, Advice):
        return words
    return words.rest if wording is None else words.written(wording)


def joined(*parts: str) -> str:
    """The parts as one text, an `Advice` if any part is one. Where options cannot be set, it is empty if such a part
    is."""
    some = [part for part in parts if isinstance(part, Advice)]
    if not some:
        return "".join(parts)
    rest = "".join(written(part, None) for part in parts) if all(part.rest for part in some) else ""
    return _advice(Advice, rest, ("{}" * len(parts), parts, {}))


def listed(parts: Iterable[str], between: str) -> str:
    """The parts joined with `between`; an `Advice` if any part is one."""
    pieces = [piece for part in parts for piece in (between, part)]
    return joined(*pieces[1:])


def few(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def enumerated(names: Sequence[str]) -> str:
    """One or more names as `a`, `a and b`, or `a, b and c`."""
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]])


def changed(words: str, change: Callable[[str], str]) -> str:
    """The text with `change` applied; in an `Advice`, to the template and every text argument."""
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
    def __init__(self, wording: Wording, options: Mapping[str, object]) -> None:
        super().__init__({name: _Mention(wording, name, value) for name, value in options.items()})
        self._wording = wording

    def __missing__(self, field: str) -> _Mention:
        return _Mention(self._wording, field)


_BARE = object()


class _Mention:
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
