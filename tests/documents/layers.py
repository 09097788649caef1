"""The picture of the layers, drawn from the contract in pyproject.toml that holds them."""

from __future__ import annotations

import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATH = "docs/pictures/layers.svg"
_WIDTH, _ROW, _GAP = 900, 30, 8


def layers() -> list[list[str]]:
    """Packages of each layer, the highest layer first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    return [row.split(" | ") for row in contracts[0]["layers"]]


def picture() -> dict[str, str]:
    """Path of the picture -> SVG: one row of boxes a layer."""
    rows = layers()
    height = len(rows) * (_ROW + _GAP) + _GAP
    box = f'viewBox="0 0 {_WIDTH} {height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img" font-family="sans-serif" font-size="13">',
        "<title>Layers of the package: imports go down only</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for place, row in enumerate(rows):
        top = _GAP + place * (_ROW + _GAP)
        room = _WIDTH - 2 * _GAP - _GAP * (len(row) - 1)
        letters = sum(len(name) + 4 for name in row)
        left = float(_GAP)
        for name in row:
            wide = room * (len(name) + 4) / letters
            parts.append(
                f'<rect x="{left:.1f}" y="{top}" width="{wide:.1f}" height="{_ROW}" rx="4" '
                'fill="#eaf1fb" stroke="#0b57a4"/>'
                f'<text x="{left + wide / 2:.1f}" y="{top + 20}" text-anchor="middle" fill="#12263f">'
                f"{escape(name)}</text>"
            )
            left += wide + _GAP
    return {PATH: "\n".join([*parts, "</svg>", ""])}
