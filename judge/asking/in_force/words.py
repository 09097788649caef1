"""A requested setting and whether it is in force, and text on several: for signatures, notes and Methods sections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from judge.base.wording import enumerated

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


_SHORT = {"temperature": "temp", "presence_penalty": "pp", "frequency_penalty": "fp", "repetition_penalty": "rp"}
# Settings that move no number: where `n` is not taken, each repeat is a request of its own.
_HARMLESS = frozenset({"n"})

_FOUND_OUT = ("server", "answers", "probe")

_STATES = ("refused", "ignored", "unknown")


def stored(manifest: Mapping[str, Any]) -> list[SettingInForce]:
    """The settings that a manifest stores; empty for an older version's, which stores none."""
    kept = (manifest.get("in_force") or {}).get("settings") or {}
    return [SettingInForce(setting=name, **record) for name, record in kept.items()]


def records(settings: Iterable[SettingInForce], before: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Setting -> its record for the manifest. Without evidence in this session, that in `before` is kept."""
    earlier_by_name = {
        setting.setting: setting
        for setting in stored(before)
        if setting.source in _FOUND_OUT and setting.state != "unknown"
    }
    kept = {}
    for setting in settings:
        earlier = earlier_by_name.get(setting.setting)
        stays = setting.state == "unknown" and earlier is not None and earlier.asked == setting.asked
        kept[setting.setting] = (earlier if stays and earlier is not None else setting).record()
    return kept


def mark(settings: Iterable[SettingInForce]) -> str:
    """Part of a signature on settings not known to be in force, such as `temp:ignored|seed+stop:unknown`, or ""."""
    short: dict[str, list[str]] = {state: [] for state in _STATES}
    for setting in settings:
        if setting.state != "honoured" and setting.setting not in _HARMLESS:
            short[setting.state].append(_SHORT.get(setting.setting, setting.setting))
    return "|".join(f"{'+'.join(names)}:{state}" for state, names in short.items() if names)


def sentences(settings: Iterable[SettingInForce]) -> list[str]:
    """Sentences on requested settings not known to be in force; those with the same reason share one."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for setting in settings:
        if setting.state != "honoured" and setting.setting not in _HARMLESS:
            reason = "" if setting.source == "none" else setting.evidence
            by_reason.setdefault((setting.state, reason), []).append(_asked(setting))
    return [_sentence(state, reason, names) for (state, reason), names in by_reason.items()]


def _sentence(state: str, reason: str, names: list[str]) -> str:
    listed = enumerated(names)
    if not reason:
        return f"whether the server keeps to {listed} is not known"
    were, have = ("was", "has") if len(names) == 1 else ("were", "have")
    effect = {"refused": f" and {were} refused", "ignored": f" and {have} no effect", "unknown": ""}[state]
    tail = ", so whether that is in force is not known" if state == "unknown" else ""
    return f"{listed} {were} requested{effect}: {reason}{tail}"


def _asked(setting: SettingInForce) -> str:
    name = setting.setting.replace("_", " ")
    if setting.setting == "system":
        return "a system message"
    if isinstance(setting.asked, list):
        return f"{name} {', '.join(map(repr, setting.asked))}"
    return f"{name} {setting.asked:g}" if isinstance(setting.asked, float) else f"{name} {setting.asked}"
