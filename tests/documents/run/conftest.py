"""The folder that the documentation's commands find, made once and copied for each test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge import backends
from tests.conftest import NEEDS_DATA
from tests.documents.run.world import build
from tests.golden_tables.calls import inside
from tests.server.loopback import LoopbackServer


@pytest.fixture(scope="session")
def server() -> Iterator[LoopbackServer]:
    """The stand-in for models' servers: it answers by a hash."""
    with LoopbackServer() as started:
        yield started


@pytest.fixture(scope="session")
def world(server: LoopbackServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that pages assume, made once."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "home").mkdir()
    with inside(folder, None):
        build(server.url)
    return folder


@pytest.fixture
def data(request: pytest.FixtureRequest) -> Path | None:
    """The studies' files for a test that is marked as needing them."""
    if request.node.get_closest_marker(NEEDS_DATA.name) is None:
        return None
    folder: Path = request.getfixturevalue("studies")
    return folder.resolve()


@pytest.fixture
def folder(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the world, in which models whose weights are asked for are bigrams."""
    for name in ("hf", "local"):
        monkeypatch.setitem(backends.SCORERS, name, "tests.documents.run.scorer")
    place = tmp_path / "world"
    shutil.copytree(world, place)
    return place
