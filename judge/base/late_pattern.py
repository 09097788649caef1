"""Regular expressions that compile when first used: most commands read no answer, and none needs all of a parser."""

from __future__ import annotations

import re
from typing import Any, cast


class _Late:
    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        # Called for what is not set yet: the expression compiles at the first method, which then stands here itself.
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "_pattern":
            self._pattern = re.compile(self._text, self._flags)
            return self._pattern
        found = getattr(self._pattern, name)
        setattr(self, name, found)
        return found


def late(text: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile`, postponed to the first use. A mistake in `text` is found there, by the test of all expressions."""
    return cast("re.Pattern[str]", _Late(text, flags))
