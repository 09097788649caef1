"""The fixture `loopback`, for every test that needs a server. Registered by `pytest_plugins` in tests/conftest.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.server.loopback import LoopbackServer


@pytest.fixture
def loopback() -> Iterator[Callable[..., LoopbackServer]]:
    """A factory of loopback servers: `loopback(latency_ms=20, p500=0.05)`. All of them end with the test."""
    with ExitStack() as stack:

        def start(*, ttl: float = 120.0, **settings: Any) -> LoopbackServer:
            return stack.enter_context(LoopbackServer(ttl=ttl, **settings))

        yield start
