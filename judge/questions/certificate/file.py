"""Writes and reads the JSON file of a certificate: completely or not at all, with its format checked on reading."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge.base.errors import DataError, SpecError
from judge.base.foreign import json_file
from judge.base.whole_file import write_whole

FORMAT = "judge-certificate/2"
_KEYS = ("holds", "judge", "settings", "eval_prompts", "criteria", "left_out", "repeats", "conditions", "rows", "dates")


def text_of(certificate: Mapping[str, Any]) -> str:
    # NaN, which JSON does not have, would make a file that other programs cannot read.
    return json.dumps(certificate, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write(certificate: Mapping[str, Any], path: Path) -> None:
    """Raises SpecError if the file cannot be written."""
    try:
        write_whole(path, text_of(certificate))
    except OSError as error:
        raise SpecError(f"{path} cannot be written: {error.strerror}") from error


def read(path: Path) -> dict[str, Any]:
    """The file's content. Raises DataError if it is not a certificate of this format."""
    hint = f"judge certify RUN -o {path} writes one"
    data = json_file(path, what="certificate", hint=hint)
    form = data.get("format")
    if form != FORMAT:
        raise DataError("no certificate", file=path, column="format", found=form, allowed=FORMAT, hint=hint)
    for key in _KEYS:
        if key not in data:
            raise DataError("a certificate lacks a field", file=path, column=key, hint=hint)
    return dict(data)
