"""Connection to one server for requests that are not queries of the plan: probe, diagnosis of refusals, check of
seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import aiohttp

from judge.backends.dialect import Dialect, Scrub
from judge.backends.openai.answers import CHAT


@dataclass(frozen=True, slots=True)
class Asker:
    """Connection to one server: a function that returns the HTTP session, the address, the model, a function (`scrub`)
    that removes keys from texts, and the API format.
    """

    client: Callable[[], aiohttp.ClientSession]
    url: str
    model: str
    scrub: Scrub
    dialect: Dialect = CHAT
