"""Record in a run's manifest of one requested setting and whether it is in force."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["honoured", "refused", "ignored", "unknown"]
Source = Literal["server", "answers", "probe", "documentation", "catalogue", "engine", "none"]


@dataclass(frozen=True, slots=True)
class SettingInForce:
    """One requested setting (a key of `generation`, `engine` or the run itself), its state, and the evidence: a clause
    to follow "temperature 0 was asked;". `source` is where the evidence comes from."""

    setting: str
    asked: Any
    state: State
    evidence: str
    source: Source

    def record(self) -> dict[str, Any]:
        """The setting's value, state and evidence, as the manifest stores them under the setting's name."""
        return {key: value for key, value in asdict(self).items() if key != "setting"}
