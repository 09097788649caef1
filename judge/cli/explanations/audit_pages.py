"""`judge audit serve` and `judge audit pack`: pages for annotators. The pages are in `judge.web`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

_Audit = Annotated[Path, typer.Argument(metavar="AUDIT", help="the audit's file, or the folder of the run it lies in")]


def serve(
    audit: _Audit,
    host: Annotated[
        str, typer.Option("--host", help="address to listen on; other than this machine's own needs the printed key")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option("--port", help="default: the first free one from 8765 on; 0 takes any")
    ] = None,
    annotators: Annotated[
        str, typer.Option("--annotators", metavar="NAME,NAME", help="make these known, and print each one's own link")
    ] = "",
    quiet: Annotated[bool, typer.Option("--quiet", help="the address alone")] = False,
) -> None:
    """Serve an audit's pages to annotators until Ctrl-C; the first line on stdout is the address.

    Each annotator gives a name, practises, and answers by keyboard, mouse or touch, at the same time as others and with
    stops as long as wanted. Every answer is in the file before the page says "saved". On other machines annotators need
    the printed address with its key, which stays the same when the server is started again. Results and the second
    round, in which disagreements are settled, have an address of their own: annotators should not see them before they
    are done.

    Each annotator's answers open by a link of their own: the address of the page that begins the work. The links of
    all who are known are printed at the start, for whoever lost one.

    Example: judge audit serve runs/demo

    Example: judge audit serve audit.sqlite --host 0.0.0.0 --port 9000
    """
    from judge.audit.file.store import AuditStore
    from judge.printing.tables import printable
    from judge.web.audit.owning import Owners
    from judge.web.audit.pages import application, lasting_key
    from judge.web.server import check_installed
    from judge.web.server import serve as serve_pages

    check_installed()
    with AuditStore.open(audit) as store:
        for name in _names(annotators):
            store.register(name)
        owners = Owners(store)
        own = {f"own link of {printable(name)}": owners.link(name) for name in store.registered()}
        if not quiet:
            sys.stderr.write(f"{store.path}: {store.item_count} explanations\n")
        serve_pages(
            lambda access: application(store, access),
            host=host,
            port=port,
            what="annotators",
            quiet=quiet,
            key=lasting_key(store),
            also={"results and the second round, not for annotators,": "/results"} | own,
        )


def pack(
    audit: _Audit,
    annotators: Annotated[str, typer.Option("--annotators", metavar="NAME,NAME", help="one page for each name")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FOLDER", help="folder to write the pages to")],
) -> None:
    """Write an HTML file for each annotator who cannot reach a server; it works offline, by double-click.

    Answers stay in the annotator's browser until they are downloaded as a file, which judge audit import takes. What
    the audit hides (system, and judge and rating where it is blind to them) is not in the pages.

    Example: judge audit pack runs/demo --annotators ann,bob -o pack
    """
    from judge.audit.file.store import AuditStore
    from judge.errors import SpecError
    from judge.web.audit.offline_pack import write_pack

    names = _names(annotators)
    if not names:
        raise SpecError("--annotators names nobody", hint="as in --annotators ann,bob")
    with AuditStore.open(audit, writing=False) as store:
        for path in write_pack(store, names, output):
            print(path)


def _names(annotators: str) -> list[str]:
    return [name.strip() for name in annotators.split(",") if name.strip()]


def register(app: typer.Typer) -> None:
    """Add the commands that need pages to `judge audit`."""
    app.command("serve")(serve)
    app.command("pack")(pack)
