"""`judge status`: how far runs are, and what became of each repeat."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from judge.run_folder import ResultFolder

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def status(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="run.yaml, its folder, or a result folder.")],
    form: Annotated[str, typer.Option("--format", help="table, json, csv, md or latex.")] = "table",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file.")] = None,
) -> None:
    """How far runs are: answered, given up (by cause), tokens, cost, hours. Works beside a run that goes on.

    Example: judge status runs/mans-roc
    """
    from judge.run_folder import resolve
    from judge.tables import Column, Table, emit

    rows = [_row(folder) for folder in resolve(runs)]
    columns = [
        Column("run", "run"),
        Column("judge", "judge"),
        Column("answered", "answered"),
        Column("planned", "planned"),
        Column("failed", "given up"),
        Column("causes", "causes"),
        Column("batches", "in batches"),
        Column("attempts", "attempts"),
        Column("prompt_tokens", "prompt tokens"),
        Column("cached_tokens", "of them cached"),
        Column("completion_tokens", "answer tokens"),
        *([Column("reasoning_tokens", "of them thinking")] if any(row.get("reasoning_tokens") for row in rows) else []),
        Column("cost", "cost", money=True),
        Column("hours", "hours", 2),
        Column("first_request", "first request", 3),
        Column("last_commit", "last commit", 3),
    ]
    if form == "table":
        from datetime import datetime

        for row in rows:
            for key in ("first_request", "last_commit"):
                if row[key] is not None:
                    row[key] = datetime.fromtimestamp(row[key]).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    signature = f"status of {len(rows)} result folder{'s' if len(rows) != 1 else ''}"
    notes = [f"cost of {row['judge']}: {row['cost_basis']}" for row in rows]
    emit(Table("Status", columns, rows, signature, list(dict.fromkeys(notes))), form, output)


def _row(folder: ResultFolder) -> dict[str, Any]:
    from judge.exchange.batch_ledger import in_flight_note
    from judge.journal import JournalReader
    from judge.run_folder import folder_cost, read_manifest

    manifest = read_manifest(folder.manifest)
    cost = folder_cost(folder)
    row: dict[str, Any] = {"run": manifest.get("run", folder.path.parent.name), "judge": manifest.get("judge", "?")}
    row |= {"cost": cost.dollars, "cost_basis": cost.basis}
    if not folder.journal.is_file():
        return row | dict.fromkeys(("first_request", "last_commit"), None) | {"causes": "imported"}
    with JournalReader(folder.journal) as journal:
        totals = journal.totals()
        definition = journal.meta().get("definition")
        stories = journal.story_count()
    force = manifest.get("in_force", {})
    planned = None
    if definition is not None:
        repeats = force.get("repeats", 1)
        planned = stories * len(definition["criteria_records"]) * len(definition["eval_prompts"]) * repeats
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
        "completion_tokens": totals.completion_tokens,
        "reasoning_tokens": totals.reasoning_tokens,
        "hours": sums.get("hours"),
        "first_request": totals.first_request,
        "last_commit": totals.last_commit,
    }
