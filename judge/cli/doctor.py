"""Command `judge doctor`: checks the installation and prints the command that repairs each problem."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge.base.errors import SpecError
from judge.cli.table_options import Form

if TYPE_CHECKING:
    from judge.doctor import Finding


def doctor(
    statistics: Annotated[
        bool, typer.Option("--statistics", help="test of the diagnostics on simulated judges with planted faults")
    ] = False,
    studies: Annotated[
        int, typer.Option("--studies", help="number of simulated studies for --statistics", min=20)
    ] = 1000,
    seed: Annotated[
        int | None, typer.Option("--seed", help="first seed of the simulated studies; default: a new one")
    ] = None,
    workers: Annotated[int, typer.Option("--workers", help="number of processes for --statistics", min=1)] = 2,
    control: Annotated[
        bool, typer.Option("--control", help="model card of the control judge, and nothing else")
    ] = False,
    provider: Annotated[
        str | None, typer.Option("--provider", help="provider or server to check: openai, gemini, ollama, ...")
    ] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", help="address of the server, for --provider")] = None,
    model: Annotated[str | None, typer.Option("--model", help="name of a model to find in the provider's list")] = None,
    form: Form = "table",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="file for the output, in place of the screen")
    ] = None,
) -> None:
    """List what is installed, reachable and cached, with the command that fixes each problem; problems come first.

    With --statistics: 1,000 simulated studies with new seeds; exit code 4 where a diagnostic misses a planted fault, or
    reports an absent one, more often than chance explains. With --provider: key, connection, models, settings known to
    be refused or ignored, and the lines for run.yaml; only the provider's list of models is requested.

    Example: judge doctor --statistics
    """
    if statistics:
        _self_test(studies, seed, workers, form, output)
        return
    if provider is not None:
        _provider(provider, base_url, model, form, output)
        return
    if base_url is not None or model is not None:
        raise SpecError("--base-url and --model go with --provider", hint="judge doctor --provider openai --model NAME")
    if control:
        from judge.backends.surface import model_card
        from judge.cli.table_options import emit

        emit(model_card(), form, output)
        return
    _examine(form, output)


def _examine(form: str, output: Path | None) -> None:
    from judge.base.printing.tables import Column, Table
    from judge.cli.table_options import emit
    from judge.doctor import STATES, examine

    findings = sorted(examine(), key=lambda finding: STATES.index(finding.state))
    title, signature = "What works here", f"{sum(finding.state == 'ok' for finding in findings)} of {len(findings)} ok"
    if form == "table":
        from judge.cli.table_options import listing

        emit(listing(title, list(_facts(findings)), signature), form, output)
        return
    titles = {"what": "what", "state": "state", "detail": "detail", "mend": "mend it with"}
    rows = [
        {"what": finding.item, "state": finding.state, "detail": finding.detail, "mend": finding.mend}
        for finding in findings
    ]
    emit(Table(title, [Column(key, name) for key, name in titles.items()], rows, signature), form, output)


def _facts(findings: Sequence[Finding]) -> Iterator[tuple[str, str]]:
    """(state, text) of each finding, and with an empty state how to repair it; alike datasets share a line."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for finding in findings:
        kind, _, name = finding.item.rpartition(" ")
        mend = finding.mend or ""
        if kind == "dataset":
            mend = re.sub(rf"(?<![\w+]){re.escape(name)}(?![\w+])", "NAME", mend)
        else:
            kind, name = finding.item, ""
        alike.setdefault((finding.state, kind, finding.detail, mend), []).append(name)
    for (state, kind, detail, mend), names in alike.items():
        several = "s" if len(names) > 1 else ""
        yield state, f"{kind}{several} {', '.join(names)}".rstrip() + f": {detail}"
        if mend:
            yield "", f"mend it with: {mend if several else mend.replace('NAME', names[0])}"


def _provider(name: str, base_url: str | None, model: str | None, form: str, output: Path | None) -> None:
    from judge.backends.provider_check import check_provider, facts_of
    from judge.base.printing.tables import Column, Table
    from judge.cli.table_options import emit

    columns = [
        Column("what", "what", wrap=16),
        Column("state", "state"),
        Column("detail", "detail", wrap=31),
        Column("mend", "mend it with", wrap=20),
    ]
    rows = [
        {"what": finding.item, "state": finding.state, "detail": finding.detail, "mend": finding.mend}
        for finding in check_provider(name, base_url, model)
    ]
    wrong = sum(row["state"] in ("failed", "missing") for row in rows)
    facts = facts_of(name)
    lines = [{"line": line} for line in facts.run_lines(model, base_url).splitlines()]
    tables = [
        Table(facts.title, columns, rows, f"{wrong} to mend" if wrong else "nothing to mend"),
        Table("Lines of run.yaml", [Column("line", "line")], lines, "models and settings are examples"),
    ]
    emit(tables, form, output)


def _self_test(studies: int, seed: int | None, workers: int, form: str, output: Path | None) -> None:
    import secrets

    from rich.progress import Progress

    from judge.cli.table_options import emit
    from judge.lab.self_test import measure, table

    first = secrets.randbelow(10**9) if seed is None else seed
    with Progress(transient=True, console=_stderr()) as progress:
        task = progress.add_task("simulated studies", total=studies)
        outcomes = measure(
            studies, first_seed=first, workers=workers, done=lambda n: progress.update(task, completed=n)
        )
    emit(table(outcomes, studies, first), form, output)
    if not all(outcome.passed for outcome in outcomes):
        raise typer.Exit(4)


def _stderr() -> Any:
    from rich.console import Console

    return Console(stderr=True)
