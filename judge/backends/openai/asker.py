"""A connection to one server, for what asks beside the plan: the probe, a diagnosis, questions about seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import aiohttp

from judge.backends.dialect import Dialect, Scrub
from judge.backends.openai.answers import CHAT


@dataclass(frozen=True, slots=True)
class Asker:
    """A connection to one server, and how it is spoken to."""

    client: Callable[[], aiohttp.ClientSession]
    url: str
    model: str
    scrub: Scrub
    dialect: Dialect = CHAT
