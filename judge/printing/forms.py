"""Names of the formats in which tables are printed."""

from __future__ import annotations

from typing import Literal, get_args

Format = Literal["table", "json", "csv", "md", "latex"]
FORMATS: tuple[str, ...] = get_args(Format)
