"""A run's manifest before a session's first query and at its end. It contains no API key and no answer."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from judge.answers.journal import JournalReader
from judge.asking.execution.preparation import Prepared
from judge.asking.execution.sending.runner import Outcomes
from judge.asking.in_force.catalogue import life_of
from judge.asking.in_force.seen import NOTHING, Seen, seen_in
from judge.asking.in_force.settings import settings_in_force
from judge.asking.in_force.words import records
from judge.asking.run_definition.writing import AnySpec
from judge.asking.run_folder import ResultFolder, cost_of, read_manifest
from judge.asking.run_folder.manifest import environment


def opened(
    spec: AnySpec, result: ResultFolder, prepared: Prepared, server: Mapping[str, Any], sitting: Mapping[str, Any]
) -> dict[str, Any]:
    """The manifest before the first query: notes on earlier sessions are kept, and `sitting` is appended."""
    before = read_manifest(result.manifest)
    sources = {"eval_prompt_sources", "criteria_records"}
    return {
        "format": 1,
        "run": spec.name,
        "judge": spec.judge,
        "asked": spec.model_dump(exclude_unset=True),
        "in_force": spec.keys_in_force()
        | {"definition": {k: v for k, v in prepared.definition.items() if k not in sources}, "server": dict(server)}
        | _settings_facts(spec, server, before),
        "environment": environment(),
        "stories": prepared.stories,
        "sittings": [*before.get("sittings", []), dict(sitting)],
        "totals": before.get("totals"),
    }


def _settings_facts(
    spec: AnySpec, server: Mapping[str, Any], before: Mapping[str, Any], seen: Seen = NOTHING
) -> dict[str, Any]:
    settings = settings_in_force(spec, server=server, refusals=server.get("refusals") or {}, seen=seen)
    facts: dict[str, Any] = {"settings": records(settings, before)}
    life = life_of(spec.judge, spec.base_url, server)
    return facts | ({"shutdown": life.record()} if life is not None and life.ends else {})


def with_seen(manifest: dict[str, Any], spec: AnySpec, journal: JournalReader, several: bool | None) -> dict[str, Any]:
    """The manifest with what answers show of the settings. `several`: one call returned several repeats (None:
    unknown)."""
    force = manifest["in_force"]
    return manifest | {
        "in_force": force
        | {"models": journal.models()}
        | _settings_facts(spec, force["server"], manifest, seen_in(journal, spec, several)),
    }


def closed(
    manifest: dict[str, Any],
    journal: JournalReader,
    outcomes: Outcomes,
    began: float,
    notices: Sequence[str],
) -> dict[str, Any]:
    """The manifest with the end of its last session and the totals over all sessions."""
    now = time.time()
    totals, cost = journal.totals(), cost_of(journal.spending(), manifest)
    sitting = manifest["sittings"][-1] | {
        "ended": now,
        "hours": (now - began) / 3600,
        "answered": outcomes.answered,
        "failed": outcomes.failed,
        "retries": outcomes.retries,
        "cost": outcomes.known_cost,
        "stopped": outcomes.stopped,
        "notices": list(notices),
    }
    sittings = [*manifest["sittings"][:-1], sitting]
    return manifest | {
        "sittings": sittings,
        "totals": {
            "answered": totals.answered,
            "failed": dict(totals.failed),
            "attempts": totals.attempts,
            "prompt_tokens": totals.prompt_tokens,
            "completion_tokens": totals.completion_tokens,
            "cached_tokens": totals.cached_tokens,
            **({"reasoning_tokens": totals.reasoning_tokens} if totals.reasoning_tokens else {}),
            "cost": cost.dollars,
            "cost_basis": cost.basis,
            **({"price": cost.price.facts()} if cost.price is not None else {}),
            "hours": sum(s.get("hours", 0.0) for s in sittings),
        },
    }
