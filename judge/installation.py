"""How this program is installed on this machine, and how its optional dependencies can be installed."""

from __future__ import annotations

import shlex
from pathlib import Path


def install_command(extra: str) -> str:
    """Command that installs the optional dependencies `extra`. If the program runs from a checkout, they are installed
    from there, otherwise by the distribution's name.

    The distribution is not in a package index, so that its name alone would install nothing from a checkout.
    """
    checkout = Path(__file__).resolve().parent.parent
    if (checkout / "pyproject.toml").is_file():
        return f"pip install -e {shlex.quote(f'{checkout}[{extra}]')}"
    return f"pip install 'storyjudge[{extra}]'"
