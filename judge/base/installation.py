"""How this program is installed on this machine, and how its optional dependencies can be installed."""

from __future__ import annotations

import shlex
from pathlib import Path


def install_command(extra: str) -> str:
    """Command that installs the optional dependencies `extra`: in a checkout by its path, because the distribution is
    not in a package index, else by name."""
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "pyproject.toml").is_file():
        return f"pip install -e {shlex.quote(f'{checkout}[{extra}]')}"
    return f"pip install 'storyjudge[{extra}]'"
