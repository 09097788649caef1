"""Makes golden files again: `python -m tests.golden_tables.write [NAME...]`, all without names; prints which changed.

A name is a call's (`correlate`), a group and a call's (`demo/correlate`), or a group's (`demo`). Where all are made,
files without a call are deleted.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.golden_tables.calls import GROUPS, HERE, Call, calls, prepare, printed, stored
from tests.golden_tables.differences import differences
from tests.golden_tables.normal import normal


def main(names: Sequence[str]) -> int:
    """Write the golden files named; 1 where a name is not known or a call fails."""
    chosen = [call for call in calls() if not names or {call.name, call.group, f"{call.group}/{call.name}"} & {*names}]
    if not chosen:
        print(f"no call is named {' or '.join(names)}")
        return 1
    told = os.environ.get("JUDGE_DATA")
    for group in GROUPS:
        data = Path(told).resolve() if told and group == "hanna" else None
        if group == "hanna" and data is None:
            print("hanna: left as it is, JUDGE_DATA names no folder")
            continue
        _write_group(group, [call for call in chosen if call.group == group], data)
    if not names:
        for path in {*(p for group in GROUPS for p in (HERE / group).glob("*.json"))} - {
            call.golden for call in chosen
        }:
            path.unlink()
            print(f"deleted {path.parent.name}/{path.name}")
    return 0


def _write_group(group: str, chosen: Sequence[Call], data: Path | None) -> None:
    if not chosen:
        return
    (HERE / group).mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        prepare(folder, group, data)
        for call in chosen:
            made = normal(printed(call, folder, data), folder=str(folder), data=str(data) if data else None)
            _write(call, made)


def _write(call: Call, made: Any) -> None:
    known = call.golden.is_file()
    places = list(differences(stored(call), made)) if known else []
    if known and not places:
        return
    call.golden.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{call.group}/{call.name}: {f'{len(places)} places changed' if known else 'new'}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
