"""Rebuilds `models.json` from a wheel of `modelparams`. Neither the package nor its dependencies need to be installed.

    pip download modelparams --no-deps -d /tmp/modelparams
    python -m tests.catalogue_build /tmp/modelparams/modelparams-*.whl

The result contains the settings that a run can request, the settings that these depend on, and each model's
availability. Labels, tools and most descriptions are left out.
"""

from __future__ import annotations

import argparse
import json
import re
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from email.parser import Parser
from pathlib import Path
from typing import Any

from judge.base.files import package_file
from judge.base.late_pattern import late

# A provider's name of a setting -> the name that run.yaml has for it.
SETTINGS = {
    "temperature": "temperature",
    "topP": "top_p",
    "top_p": "top_p",
    "p": "top_p",
    "max_tokens": "max_tokens",
    "maxTokens": "max_tokens",
    "maxOutputTokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "seed": "seed",
    "random_seed": "seed",
    "stop": "stop",
    "stop_sequences": "stop",
    "stopSequences": "stop",
    "n": "n",
    "candidateCount": "n",
    "logprobs": "logprobs",
    "response_format.type": "structured",
    "responseMimeType": "structured",
    "text.format.type": "structured",
    "top_k": "top_k",
    "topK": "top_k",
    "k": "top_k",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "repetition_penalty": "repetition_penalty",
    "reasoning_effort": "reasoning_effort",
}

_HOLDERS = ("generationConfig.", "inferenceConfig.", "additionalModelRequestFields.", "extra_body.")
_NO_EFFECT = late(r"no effect|ignored", re.IGNORECASE)
_SENTENCES = late(r"(?<=\.)\s+")


def build(wheel: Path, taken: str) -> dict[str, Any]:
    with zipfile.ZipFile(wheel) as archive:
        catalogue = json.loads(archive.read("modelparams/_generated/catalog.json"))
        info = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(info).decode("utf-8"))
        licence = archive.read(info.replace("METADATA", "licenses/LICENSE")).decode("utf-8")
    sets: dict[str, int] = {}
    models = []
    for entry in catalogue:
        # A subscription's entry repeats the key's; its requests are not those of an API.
        if entry["authType"] != "api_key":
            continue
        params = json.dumps(_params(entry["params"]), sort_keys=True)
        models.append(_model(entry, sets.setdefault(params, len(sets))))
    return {
        "name": metadata["Name"],
        "version": metadata["Version"],
        "taken": taken,
        "source": f"https://pypi.org/project/{metadata['Name']}/{metadata['Version']}/",
        "license": metadata["License-Expression"],
        "license_text": licence,
        "params": [json.loads(text) for text in sets],
        "models": models,
    }


def _model(entry: Mapping[str, Any], params: int) -> dict[str, Any]:
    kept = {"provider": entry["provider"], "model": entry["model"], "surface": entry["apiSurface"], "params": params}
    for key, name in (("wireId", "id"), ("status", "status"), ("shutdownOn", "shutdown"), ("replacement", "next")):
        if entry.get(key):
            kept[name] = entry[key]
    return kept


def _params(listed: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    # Other settings on which these depend keep the catalogue's names.
    plain = {_plain(param["path"]): param for param in listed}
    settings = {SETTINGS[path]: _setting(path, param) for path, param in plain.items() if path in SETTINGS}
    needed = {path for setting in settings.values() for rule in setting.get("except", ()) for path in rule}
    for path in needed - set(settings):
        if path in plain:
            settings[path] = {"default": plain[path].get("default")}
    return settings


def _plain(path: str) -> str:
    for holder in _HOLDERS:
        path = path.removeprefix(holder)
    return path


def _setting(path: str, param: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    if path != SETTINGS[path]:
        kept["as"] = path
    span = param.get("range") or {}
    kept |= {key: span[key] for key in ("min", "max") if key in span}
    for key in ("default", "values"):
        if param.get(key) is not None:
            kept[key] = param[key]
    applies = param.get("applicability") or {}
    rules = applies.get("except")
    if rules:
        kept["except"] = rules if isinstance(rules, list) else [rules]
    words = [sentence for sentence in _SENTENCES.split(param["description"]) if _NO_EFFECT.search(sentence)]
    if words:
        kept["words"] = " ".join(words)
    return kept


def main() -> None:
    """Rewrite the shipped snapshot and print what it contains."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="modelparams-*.whl, from pip download")
    file = package_file("asking", "in_force", "models.json")
    parser.add_argument("--output", "-o", type=Path, default=file, help=f"default: {file}")
    asked = parser.parse_args()
    document = build(asked.wheel, datetime.now(UTC).date().isoformat())
    asked.output.write_text(as_json(document), encoding="utf-8", newline="\n")
    print(f"{asked.output}: {document['name']} {document['version']}, {len(document['models'])} models")


def as_json(catalogue: Mapping[str, Any]) -> str:
    """The snapshot as JSON with one model or set of settings per line, so that a new one's diff is readable."""
    head = {key: value for key, value in catalogue.items() if key not in ("params", "models")}
    lines = [json.dumps(head, indent=1)[:-2]]
    for key in ("params", "models"):
        rows = ",\n".join(json.dumps(row) for row in catalogue[key])
        lines.append(f' "{key}": [\n{rows}\n ]')
    return ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    main()
