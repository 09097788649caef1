"""One requested setting, and whether it is in force: the record that manifests keep."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["honoured", "refused", "ignored", "unknown"]
Source = Literal["server", "answers", "probe", "documentation", "catalogue", "engine", "none"]


@dataclass(frozen=True, slots=True)
class SettingInForce:
    """One requested setting, its state, and the reason: a clause that can follow "temperature 0 was asked;".

    `source` is where the evidence is from; `setting` is the key of run.yaml's `generation`, of `engine`, or of the run.
    """

    setting: str
    asked: Any
    state: State
    evidence: str
    source: Source

    def record(self) -> dict[str, Any]:
        """The record that the manifest keeps under the setting's name."""
        return {key: value for key, value in asdict(self).items() if key != "setting"}
