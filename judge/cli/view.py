"""Command `judge view`: serves local web pages about all runs. The pages are in `judge.show.web.view`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judge.cli.table_options import Quiet

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def view(
    runs: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="folder that holds the runs")] = Path("runs"),
    host: Annotated[
        str, typer.Option(help="address of the pages; any other than loopback needs a key, which is printed")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(help="port of the pages; 0: any free port  [default: 8765 or the next]")
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="browser window with the page, opened at the start")] = False,
    quiet: Quiet = False,
) -> None:
    """Serve local pages on all runs in FOLDER until Ctrl-C: progress, coverage, tables, judgments and explanations.

    Pages show runs while they go on, every judgment, one story or a pair of stories with all ratings and explanations
    by judges and people, prompt variants side by side, and the map of explanations.

    Nothing is written except caches in the runs' derived/ folders.

    Example: judge view runs
    """
    from judge.show.web.server import check_installed, serve
    from judge.show.web.view.app import view_app

    check_installed()
    serve(
        lambda access: view_app(runs, access), host=host, port=port, title=f"runs in {runs}", quiet=quiet, open_=open_
    )
