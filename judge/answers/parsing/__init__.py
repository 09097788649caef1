"""Registry of parsers by name. Other packages add parsers through the entry point `judge.parsers`."""

from __future__ import annotations

import time
from importlib import import_module
from importlib.metadata import entry_points

from judge.answers.parsing.protocol import Parser
from judge.base.errors import SpecError, unknown
from judge.base.records import Structured
from judge.base.wording import Advice

__all__ = ["LOADED", "PARSERS", "Parser", "Structured", "known_parsers", "parser"]

# When this process began to import parsers, in seconds since 1970: what was edited later is not what it runs.
LOADED = time.time()

# Name -> module with `load() -> Parser`.
PARSERS: dict[str, str] = {
    "ours": "judge.answers.parsing.ours.parser",
    "as-published": "judge.answers.parsing.as_published",
}


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
