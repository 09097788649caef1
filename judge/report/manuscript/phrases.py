"""Pieces of the methods' sentences: citations as pandoc writes them, lists of names, works that datasets come from."""

from __future__ import annotations

from collections.abc import Sequence

DATASETS = {
    "hanna": ("chhun-etal-2022-human", "chhun-etal-2024-language"),
    "mans": ("guan-etal-2021-openmeva",),
    "storyer": ("chen-etal-2022-storyer",),
    "plotguided": ("ghazarian-etal-2021-plot",),
    "deltascore": ("xie-etal-2023-deltascore",),
}
"""Keys of `references` by the beginning of a dataset's name."""


def cite(*keys: str) -> str:
    """A citation of these works."""
    return f"[{'; '.join(f'@{key}' for key in keys)}]"


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "nothing"
