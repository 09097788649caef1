"""File of a certificate: JSON, written whole and read back with its form checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge.errors import DataError, SpecError
from judge.whole_file import write_whole

FORMAT = "judge-certificate/1"
_KEYS = ("holds", "judge", "settings", "eval_prompts", "criteria", "repeats", "conditions", "rows", "dates")


def text_of(certificate: Mapping[str, Any]) -> str:
    """Text of a certificate's file."""
    # NaN, which JSON does not have, would make a file that other programs cannot read.
    return json.dumps(certificate, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write(certificate: Mapping[str, Any], path: Path) -> None:
    """Write a certificate to a file; raises SpecError where the file cannot be written."""
    try:
        write_whole(path, text_of(certificate))
    except OSError as error:
        raise SpecError(f"{path} cannot be written: {error.strerror}") from error


def read(path: Path) -> dict[str, Any]:
    """Read a certificate from a file; raises DataError where the file is not a certificate of this format."""
    hint = f"judge certify RUN -o {path} writes one"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SpecError(f"{path} cannot be read: {error.strerror}", hint=hint) from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError("no certificate: not JSON", file=path, hint=hint) from error
    form = data.get("format") if isinstance(data, dict) else None
    if form != FORMAT:
        raise DataError("no certificate", file=path, column="format", found=form, allowed=FORMAT, hint=hint)
    for key in _KEYS:
        if key not in data:
            raise DataError("a certificate lacks a field", file=path, column=key, hint=hint)
    return dict(data)
