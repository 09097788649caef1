"""Identity of the run that a certificate covers: judge, Eval-Prompts, criteria and settings, of a stored or a planned
run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from judge.asking.plan.queries import Plan
from judge.base.fingerprint import fingerprint
from judge.base.records import Criterion

SETTINGS = ("generation", "api", "system", "structured", "scoring")
"""Parts of a run's definition that change answers; of `generation` all but the seed, which only draws others."""


def settings_of(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in a run's definition that affect its answers (generation without the seed, api, system, structured,
    scoring), by name.

    The entry `wording` is the hash of the prompt texts that are taken from a study's publication; None if the run takes
    none.
    """
    settings = {name: definition.get(name) for name in SETTINGS}
    settings["generation"] = {key: value for key, value in (settings["generation"] or {}).items() if key != "seed"}
    published = definition.get("published")
    return settings | {"wording": None if published is None else fingerprint(published)}


def criteria_of(criteria: Iterable[Criterion]) -> dict[str, str]:
    """Hash of each criterion's definition, scale and guidelines, by name."""
    return {criterion.name: fingerprint(criterion.record()) for criterion in criteria}


def identity_of(plan: Plan) -> dict[str, Any]:
    """What identifies a planned run when it is compared with a certificate: judge, settings, Eval-Prompts, criteria and
    repeats.
    """
    definition = plan.definition()
    return {
        "judge": {"name": plan.spec.judge, "judge_key": definition["judge_key"]},
        "settings": settings_of(definition),
        "eval_prompts": dict(definition["eval_prompts"]),
        "criteria": criteria_of(plan.criteria),
        "repeats": plan.spec.repeats,
    }
