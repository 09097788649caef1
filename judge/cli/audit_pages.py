"""`judge audit serve` and `judge audit pack`: the pages on which people judge explanations. Registers, never serves."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the commands that need pages to `judge audit`."""
