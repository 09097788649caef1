"""Base of every result of an analysis: its signature and its notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge.analysis.options.signature import joined

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Signed:
    """Base of a result of an analysis, with its notes and the parts of its signature line.

    `signature_parts` list each choice that can change the numbers of the result; `notes` are whole sentences.
    """

    signature_parts: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def signature(self) -> str:
        """Signature line of the tables and figures made from this result, which lists each choice that can change their
        numbers.
        """
        return joined(self.signature_parts)

    def signed(self, rows: Iterable[Mapping[str, object]], columns: Sequence[str] | None = None) -> pd.DataFrame:
        """These rows as a frame, with the result's signature line and notes in its `attrs`."""
        import pandas as pd

        from judge.analysis.frames import signed

        frame = pd.DataFrame(list(rows), columns=None if columns is None else list(columns))
        return signed(frame, self.signature, self.notes)
