"""Record in a run's manifest of one requested setting and whether it is in force."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["honoured", "refused", "ignored", "unknown"]
Source = Literal["server", "answers", "probe", "documentation", "catalogue", "engine", "none"]


@dataclass(frozen=True, slots=True)
class SettingInForce:
    """One requested setting, its state (honoured, refused, ignored or unknown), and the evidence: a clause that can
    follow "temperature 0 was asked;".

    `source` says where the evidence comes from. `setting` is a key of run.yaml: of `generation`, of `engine`, or of the
    run itself.
    """

    setting: str
    asked: Any
    state: State
    evidence: str
    source: Source

    def record(self) -> dict[str, Any]:
        """The setting's value, state and evidence, as the manifest stores them under the setting's name."""
        return {key: value for key, value in asdict(self).items() if key != "setting"}
