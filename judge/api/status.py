"""Progress of one result folder as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge.asking.run_folder import ResultFolder


def status_row(folder: ResultFolder) -> dict[str, Any]:
    """Progress of a result folder: answers received and planned, failures by cause, tokens, cost in dollars, hours. It
    can be read while the run goes on.
    """
    from judge.answers.journal import JournalReader
    from judge.answers.journal.counting import queries_of
    from judge.asking.in_force.words import mark, stored
    from judge.asking.run_folder import folder_cost, read_manifest
    from judge.exchange.batch.ledger import in_flight_note

    manifest = read_manifest(folder.manifest)
    cost = folder_cost(folder)
    row: dict[str, Any] = {"run": manifest.get("run", folder.path.parent.name), "judge": manifest.get("judge", "?")}
    row |= {"cost": cost.dollars, "cost_basis": cost.basis}
    if not folder.journal.is_file():
        return row | dict.fromkeys(("first_request", "last_commit"), None) | {"causes": "imported"}
    with JournalReader(folder.journal) as journal:
        totals = journal.totals()
        definition = journal.meta().get("definition")
        subjects = journal.subject_count()
    force = manifest.get("in_force", {})
    planned = None
    if definition is not None:
        repeats = force.get("repeats", 1)
        planned = subjects * queries_of(definition) * repeats
    sums = manifest.get("totals") or {}
    return row | {
        "answered": totals.answered,
        "planned": planned,
        "failed": sum(totals.failed.values()),
        "causes": ", ".join(f"{count} {kind}" for kind, count in totals.failed.items()) or None,
        "batches": in_flight_note(folder),
        "attempts": totals.attempts,
        "prompt_tokens": totals.prompt_tokens,
        "cached_tokens": totals.cached_tokens,
        "cache_write_tokens": totals.cache_write_tokens,
        "completion_tokens": totals.completion_tokens,
        "settings": mark(stored(manifest)) or None,
        "reasoning_tokens": totals.reasoning_tokens,
        "hours": sums.get("hours"),
        "first_request": totals.first_request,
        "last_commit": totals.last_commit,
    }
