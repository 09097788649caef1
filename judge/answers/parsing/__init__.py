"""The interface of parsers, and their registry by name. Other packages add parsers through the entry point
`judge.parsers`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import entry_points
from typing import Protocol

from judge.base.errors import SpecError, unknown
from judge.base.records import Criterion, Judgment, Response, Structured
from judge.base.wording import Advice

__all__ = ["LOADED", "PARSERS", "Parser", "Structured", "known_parsers", "parser"]

# When this process began to import parsers, in seconds since 1970: what was edited later is not what it runs.
LOADED = time.time()

# Name -> module with `load() -> Parser`.
PARSERS: dict[str, str] = {
    "ours": "judge.answers.parsing.ours.parser",
    "as-published": "judge.answers.parsing.as_published",
}


class Parser(Protocol):
    """Turns responses into judgments; equal input gives equal output. `version` is part of every table's signature. An
    exception in a parser is an error of the program, never a status."""

    @property
    def version(self) -> str:
        """Name and number, e.g. `ours/4`; the number changes whenever any judgment can change."""
        ...

    @property
    def imputes(self) -> bool:
        """Whether the parser can give a rating that the answer does not state."""
        ...

    def parse(
        self,
        response: Response,
        criterion: Criterion,
        *,
        structured: Structured = "none",
        other_criteria: Sequence[str] = (),
        story: str = "",
        rating_pattern: str | None = None,
    ) -> Judgment:
        """The judgment of one response. Ratings of `other_criteria` must not be used. `story` is "" where it is not
        known, and `rating_pattern` is the Eval-Prompt's own."""
        ...


def known_parsers() -> list[str]:
    """Names of all parsers, including those of installed plug-ins."""
    return sorted({*PARSERS, *(e.name for e in entry_points(group="judge.parsers"))})


def parser(name: str) -> Parser:
    """The parser with this name. Its module is imported only on this call. Raises `SpecError` for an unknown name."""
    if name in PARSERS:
        loader = import_module(PARSERS[name]).load
    else:
        entries = [e for e in entry_points(group="judge.parsers") if e.name == name]
        if not entries:
            raise SpecError(
                unknown("parser", name, known_parsers()),
                hint=Advice(
                    "write {} or {}",
                    *(Advice("{parser}", parser=parser_name) for parser_name in ("ours", "as-published")),
                ),
            )
        loader = entries[0].load()
    loaded: Parser = loader()
    return loaded
