"""Looks up known holes in the installed packages: `python -m tests.advisories PIP_AUDIT`.

pip-audit succeeds where it could look up nothing at all, so that a machine without the list of holes would seem to be
without holes. Here that is said. The exit code is 1 where a hole is known, else 0.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

_OWN = "storyjudge"


def installed() -> list[str]:
    """NAME==VERSION of every package of this environment but our own."""
    found = {one.metadata["Name"]: one.version for one in distributions()}
    return sorted(f"{name}=={version}" for name, version in found.items() if name != _OWN)


def sentences(answer: str, asked: int, complaint: str = "") -> tuple[int, list[str]]:
    """Exit code and lines for what pip-audit wrote about so many packages."""
    try:
        found: list[dict[str, Any]] = json.loads(answer)["dependencies"]
    except (json.JSONDecodeError, KeyError, TypeError):
        last = (complaint.strip().splitlines() or ["pip-audit gave no answer"])[-1]
        return 0, [f"advisories: NOT LOOKED UP, the data cannot be had here ({last})"]
    known = [one for one in found if "skip_reason" not in one]
    holes = [
        f"{one['name']} {one['version']}: {hole['id']}, mended in {', '.join(hole['fix_versions']) or 'no version'}"
        for one in known
        for hole in one["vulns"]
    ]
    lines = list(holes)
    if len(known) < asked:
        missing = asked - len(known)
        lines.append(f"advisories: NOT LOOKED UP for {missing} of {asked} packages, the data cannot be had here")
    if known:
        lines.append(f"advisories: {len(holes)} known in {len(known)} packages")
    return int(bool(holes)), lines


def main(program: str) -> int:
    """Print what is known; the exit code."""
    asked = installed()
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "installed.txt"
        listed.write_text("\n".join(asked) + "\n", encoding="utf-8")
        command = [program, "--no-deps", "--disable-pip", "--progress-spinner", "off", "-f", "json", "-r", str(listed)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            answer, complaint = done.stdout, done.stderr
        except (OSError, subprocess.TimeoutExpired) as error:
            answer, complaint = "", str(error)
    code, lines = sentences(answer, len(asked), complaint)
    print("\n".join(lines))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
