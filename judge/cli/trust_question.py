"""Asks the user, on a terminal, whether an API key may be sent to a server. No answer counts as no."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from judge.cli.option_words import complaint

if TYPE_CHECKING:
    from judge.base.credentials.trust import UntrustedHostError


def allowed(error: UntrustedHostError) -> bool:
    """Ask the user whether to send API keys to a server, for this command or always. False if the user declines or if
    there is no terminal.
    """
    from judge.base.credentials.trust import VARIABLE, remember

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    sys.stderr.write(f"{complaint(error)}\n")
    sys.stderr.write(
        f"Send {' and '.join(error.variables)} to {error.origin}? y: for this command, always: from now on, else: no  "
    )
    sys.stderr.flush()
    answer = sys.stdin.readline().strip().lower()
    if answer in ("y", "yes"):
        os.environ[VARIABLE] = ",".join(filter(None, [os.environ.get(VARIABLE), str(error.origin)]))
        return True
    if answer == "always":
        sys.stderr.write(f"kept in {remember(error.origin, error.variables)}\n")
        return True
    return False
