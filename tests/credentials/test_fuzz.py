"""A planted key in fuzzed places: nothing written or printed holds it. Many more of them: tests/benchmarks/keys.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.credentials.echo_server import EchoServer
from tests.credentials.places import places
from tests.credentials.planted import holds, leaks


@pytest.mark.parametrize("seed", [20261104])
def test_a_planted_key_is_in_no_file_and_no_line(tmp_path: Path, seed: int) -> None:
    found = {}
    with EchoServer() as server:
        for number, place in enumerate(places(seed, 100)):
            if where := leaks(place, tmp_path / str(number), server):
                found[f"{number} {place.name}"] = where
    assert found == {}


def test_the_search_finds_a_key_in_every_form() -> None:
    key = "sk-proj-Zz81kfjA0192jfKKq0sldkfjW"
    from tests.credentials.places import FORMS

    for name, form in FORMS.items():
        if name not in ("masked", "dotted"):
            assert holds(f"words {form(key)} words", key), name
    assert not holds("Incorrect API key provided: ***. You can find yours at /keys; keys begin with sk-proj-", key)
