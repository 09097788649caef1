"""`judge doctor`: what works here, and the command that mends what does not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def doctor(
    form: Annotated[str, typer.Option("--format", help="table, json, csv, md or latex.")] = "table",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file.")] = None,
) -> None:
    """What is installed, reachable and cached, the command that mends the rest, and the control judge's model card.

    Example: judge doctor
    """
    from judge.backends.surface import model_card
    from judge.doctor import examine
    from judge.tables import Column, Table, emit

    columns = [
        Column("what", "what"),
        Column("state", "state"),
        Column("detail", "detail"),
        Column("mend", "mend it with"),
    ]
    rows = [{"what": f.what, "state": f.state, "detail": f.detail, "mend": f.mend} for f in examine()]
    signature = f"{sum(f['state'] == 'ok' for f in rows)} of {len(rows)} ok"
    emit(
        [Table("What works here", columns, rows, signature), *model_card()],
        form,
        output,
    )
