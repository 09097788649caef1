"""`judge retry`: ask again what failed, and on demand what could not be parsed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def retry(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="run.yaml, its folder, or a result folder.")],
    unparsed: Annotated[
        bool, typer.Option("--unparsed", help="Also ask again where no rating could be read; shows in the signature.")
    ] = False,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a key.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Ask the repeats again that were given up (server errors, timeouts, filtered).

    Asking again for answers one did not like biases the sample: --unparsed does it by name, keeps the first answers in
    the journal, and every table then says so. Exit code 3 means that repeats are still missing.

    Example: judge retry runs/mans-roc
    """
    from judge.cli.run import report
    from judge.errors import RunFolderError
    from judge.execution.session import Sitting, sit
    from judge.run_folder import read_manifest, resolve
    from judge.run_folder.layout import definition_of
    from judge.run_spec import load_run_spec, stored_run_spec

    missing = False
    for folder in resolve([run]):
        manifest = read_manifest(folder.manifest)
        if "asked" not in manifest:
            raise RunFolderError(f"{folder.path} was not made by judge run", hint="there is nobody to ask again")
        try:
            definition = definition_of(folder.path)
            spec = load_run_spec(definition, [*(set_ or []), f"judge={manifest['judge']}"])
            place = definition.parent
        except RunFolderError:
            # The result folder was moved away from its run.yaml: the manifest keeps what was asked.
            spec = stored_run_spec(manifest["asked"], str(folder.manifest))
            place = folder.path
        sitting = Sitting(spec, place, folder, again="unparsed" if unparsed else "failed", quiet=quiet)
        missing |= report(sitting, sit(sitting))
    if missing:
        raise typer.Exit(3)
