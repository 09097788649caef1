"""How the parts of this program are installed on this machine."""

from __future__ import annotations

import shlex
from pathlib import Path


def install_command(extra: str) -> str:
    """The command that installs an optional part: from the checkout in use, or else by the distribution's name.

    The distribution is on no index, so a name alone installs nothing where the program runs from a checkout.
    """
    checkout = Path(__file__).resolve().parent.parent
    if (checkout / "pyproject.toml").is_file():
        return f"pip install -e {shlex.quote(f'{checkout}[{extra}]')}"
    return f"pip install 'storyjudge[{extra}]'"
