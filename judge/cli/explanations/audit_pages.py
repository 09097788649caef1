"""Commands `judge audit serve` and `judge audit pack`: web pages for annotators. The pages are in `judge.show.web`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli.table_options import Quiet

if TYPE_CHECKING:
    from judge.explanations.audit.file.store import AuditStore

_Host = Annotated[
    str, typer.Option("--host", help="address of the pages; any other than loopback needs a key, which is printed")
]
_Port = Annotated[
    int | None,
    typer.Option("--port", help="port of the pages; 0: any free port; default: the first free one from 8765 on"),
]
_Audit = Annotated[Path, typer.Argument(metavar="AUDIT", help="audit file, or the folder of its run")]


def serve(
    audit: _Audit,
    host: _Host = "127.0.0.1",
    port: _Port = None,
    annotators: Annotated[
        str,
        typer.Option(
            "--annotators", metavar="NAME,NAME", help="annotators to register; a link for each of them is printed"
        ),
    ] = "",
    show_judge: Annotated[
        bool,
        typer.Option("--show-judge", help="judge, Eval-Prompt and rating beside each explanation; default: hidden"),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Serve an audit's pages to annotators until Ctrl-C; the first line on stdout is the address.

    Each annotator enters a name, practises, and answers by keyboard, mouse or touch, at the same time as others and
    with breaks of any length. Every answer is in the file before the page shows "saved". On other machines annotators
    need the printed address with its key, which stays the same when the server is started again. Results and the second
    round, in which disagreements are settled, have a separate address: annotators should not see them before they have
    finished.

    Annotators do not see which judge, which Eval-Prompt and which rating an explanation belongs to, unless --show-judge
    is given; the audit's file, its report and its exports keep them.

    Each annotator's answers open by a personal link: the address of the page that begins the work. The links of all
    registered annotators are printed at the start, in case one is lost.

    Example: judge audit serve runs/demo

    Example: judge audit serve audit.sqlite --host 0.0.0.0 --port 9000
    """
    from judge.base.printing.tables import printable
    from judge.explanations.audit.file.store import AuditStore
    from judge.show.web.audit.owning import Owners
    from judge.show.web.audit.pages import application, lasting_key
    from judge.show.web.server import check_installed
    from judge.show.web.server import serve as serve_pages

    check_installed()
    with AuditStore.open(audit) as store:
        for name in _names(annotators):
            store.register(name)
        _hide(store, show_judge=show_judge)
        owners = Owners(store)
        own = {f"own link of {printable(name)}": owners.link(name) for name in store.registered()}
        if not quiet:
            sys.stderr.write(f"{store.path}: {store.item_count} explanations\n")
        serve_pages(
            lambda access: application(store, access),
            host=host,
            port=port,
            title="annotators",
            quiet=quiet,
            key=lasting_key(store),
            also={"results and the second round, not for annotators,": "/results"} | own,
        )


def _hide(store: AuditStore, *, show_judge: bool) -> None:
    from judge.explanations.audit.file.items import BLINDABLE

    # An audit that was drawn with some of them hidden keeps these hidden.
    drawn = () if set(store.blind) == set(BLINDABLE) else store.blind
    store.hide(drawn if show_judge else BLINDABLE)


def pack(
    audit: _Audit,
    annotators: Annotated[
        str, typer.Option("--annotators", metavar="NAME,NAME", help="annotators' names, one page for each")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FOLDER", help="folder to write the pages to")],
) -> None:
    """Write an HTML file for each annotator who cannot reach a server; it works offline, by double-click.

    Answers stay in the annotator's browser until they are downloaded as a file, which judge audit import reads. What
    the audit hides (the system, and the judge and rating where they are blinded) is not in the pages.

    Example: judge audit pack runs/demo --annotators ann,bob -o pack
    """
    from judge.base.errors import SpecError
    from judge.explanations.audit.file.store import AuditStore
    from judge.show.web.audit.offline_pack import write_pack

    names = _names(annotators)
    if not names:
        raise SpecError("--annotators names nobody", hint="as in --annotators ann,bob")
    with AuditStore.open(audit, writing=False) as store:
        for path in write_pack(store, names, output):
            print(path)


def _names(annotators: str) -> list[str]:
    return [name.strip() for name in annotators.split(",") if name.strip()]


def register(app: typer.Typer) -> None:
    """Add the commands `serve` and `pack` to `judge audit`."""
    app.command("serve")(serve)
    app.command("pack")(pack)
