"""Restricts run definitions that other people wrote. Two things in them need the user's consent.

The first is a file outside the definition's folder, and the second is running program code that comes with a model.
Values given on the command line come from the user and are not checked here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judge.base.errors import SpecError
from judge.base.folders.trusted import VARIABLE, is_trusted
from judge.base.wording import Advice

_SUFFIXES = {
    "eval_prompts": (".jinja",),
    "writer_prompts": (".jinja",),
    "story_prompts": (),
    "criteria.set": (".yaml", ".yml"),
    "criteria.wording": (".json",),
    "pairs.file": (".jsonl", ".ndjson"),
    "dataset": (),
}
"""Key -> what its files end in; of `dataset` and `story_prompts` the readers see to it."""


def refuse_foreign(data: Mapping[str, Any], folder: Path, where: str) -> None:
    """Raise SpecError where a definition names a file outside `folder`, or allows code that comes with a model
    to run.
    """
    for key, name in _named(data):
        refuse_file(key, name, folder, where)
    entries = data.get("judges")
    for mapping in (data, *(entries if isinstance(entries, list) else ())):
        engine = mapping.get("engine") if isinstance(mapping, Mapping) else None
        if isinstance(engine, Mapping) and engine.get("trust_remote_code"):
            raise SpecError(
                f"{where}: engine.trust_remote_code would run code of the model, which no run.yaml decides",
                hint=Advice(
                    "if you trust the model's code, take the line out and say it: {overrides}",
                    overrides="engine.trust_remote_code=true",
                ),
            )


def refuse_file(key: str, name: str, folder: Path, where: str) -> None:
    """Raise SpecError where `name`, the value of the setting `key`, is a file outside the definition's folder, or a
    file of the wrong type for this setting. `where` names the definition in error messages.
    """
    file = next((path for path in (folder / name, Path(name)) if path.is_file()), None)
    if file is None:
        return
    suffixes = _SUFFIXES[key]
    if suffixes and ("/" in name or "\\" in name or Path(name).suffix) and file.suffix.lower() not in suffixes:
        raise SpecError(f"{where}: {key} {name!r} is no such file: they end in {' or '.join(suffixes)}")
    if not is_trusted(file, folder):
        outside = f"{where}: {key} names a file outside the run's folder: {file.resolve()}"
        words = f"if you mean it: {{overrides}}, or export {VARIABLE}={{}}"
        raise SpecError(outside, hint=Advice(words, file.resolve().parent, overrides=f"{key}={name}"))


def _named(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (key, value) of all settings of a run definition whose value may be a file."""
    criteria, pairs, prompts = data.get("criteria"), data.get("pairs"), data.get("eval_prompts")
    parts = criteria if isinstance(criteria, Mapping) else {"set": criteria}
    listed = prompts if isinstance(prompts, list) else [prompts]
    entries: list[tuple[str, Any]] = [("dataset", data.get("dataset"))]
    entries += [(f"criteria.{key}", parts.get(key)) for key in ("set", "wording")]
    entries += [("eval_prompts", name) for name in listed]
    written = data.get("writer_prompts")
    entries += [("writer_prompts", name) for name in (written if isinstance(written, list) else [written])]
    entries.append(("story_prompts", data.get("story_prompts")))
    entries += [("pairs.file", pairs.get("file"))] if isinstance(pairs, Mapping) else []
    for key, value in entries:
        if isinstance(value, str) and value and "\0" not in value:
            yield key, value
