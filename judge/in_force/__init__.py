"""What a run asks for against what is in force: settings with their evidence, and how long a model lives."""

from __future__ import annotations

from judge.in_force.settings import SettingInForce, settings_in_force

__all__ = ["SettingInForce", "settings_in_force"]
