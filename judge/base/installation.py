"""How this program is installed on this machine, and how its optional dependencies can be installed."""

from __future__ import annotations

import shlex
from pathlib import Path


def install_command(extra: str) -> str:
    """Command that installs the optional dependencies `extra`: by the checkout's path if the program runs from a
    checkout of its repository, otherwise by the name of the distribution.

    The name alone would not work in a checkout, because the distribution is not in a package index.
    """
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "pyproject.toml").is_file():
        return f"pip install -e {shlex.quote(f'{checkout}[{extra}]')}"
    return f"pip install 'storyjudge[{extra}]'"
