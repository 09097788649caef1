"""`judge view`: local pages over all runs. The pages are `web.view`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def view(
    runs: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="where runs lie")] = Path("runs"),
    host: Annotated[
        str, typer.Option(help="address to serve at; others than loopback need a key, which is printed")
    ] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(help="port; 0 takes any free one.  [default: 8765 or the next]")] = None,
    open_: Annotated[bool, typer.Option("--open", help="the page opened in a browser")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="the address alone")] = False,
) -> None:
    """Serve pages over all runs in FOLDER until Ctrl-C: progress while they go on, coverage, tables, every judgment,
    one story, or a pair of them, with all that judges and people said, prompt variants side by side, the map of
    explanations.

    Nothing is written but caches in the runs' derived/ folders.

    Example: judge view runs
    """
    from judge.web.server import check_installed, serve
    from judge.web.view.app import view_app

    check_installed()
    serve(lambda access: view_app(runs, access), host=host, port=port, what=f"runs in {runs}", quiet=quiet, open_=open_)
