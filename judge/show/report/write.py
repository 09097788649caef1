"""Writes the page and the texts for a paper, with progress on stderr. Each file is written completely or not at all."""

from __future__ import annotations

from pathlib import Path

from judge.asking.run_folder import ResultFolder
from judge.asking.run_folder.layout import DEFINITION
from judge.base.errors import SpecError
from judge.base.references import bibtex
from judge.base.whole_file import write_whole
from judge.show.report.contents import page_sections, sections_of
from judge.show.report.inputs import ReportInputs
from judge.show.report.manuscript import checklist, methods
from judge.show.report.page import html


def write_page(inputs: ReportInputs, output: Path, *, quiet: bool = False) -> int:
    """Make the report page and write it. Returns its size in bytes. Raises SpecError where the file cannot be
    written.
    """
    if not output.parent.is_dir():
        raise SpecError(f"{output} cannot be written: there is no folder {output.parent}")
    if quiet:
        sections = list(page_sections(inputs))
    else:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        console = Console(stderr=True)
        # Where stderr is a file, a bar that is gone would leave an empty line.
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task("report", total=len(sections_of(inputs)))

            def describe(name: str) -> None:
                progress.update(task, description=name)

            sections = []
            for section in page_sections(inputs, describe):
                sections.append(section)
                progress.advance(task)
    page = html(inputs, sections).encode("utf-8")
    _write(output, page)
    return len(page)


def default_output(inputs: ReportInputs) -> Path:
    """Default path of the report page: `report.html` next to the run's definition; for several RUNs, in the working
    folder.
    """
    places = list(dict.fromkeys(_beside(folder) for folder in (*inputs.folders, *inputs.compared)))
    return (places[0] if len(places) == 1 else Path()) / "report.html"


def _beside(folder: ResultFolder) -> Path:
    return folder.path.parent if (folder.path.parent / DEFINITION).is_file() else folder.path


def write_methods(inputs: ReportInputs, page: Path) -> list[Path]:
    """Write `NAME.methods.md`, `NAME.references.bib`, `NAME.checklist.md` next to `NAME.html`. Returns their paths."""
    text = methods.paragraph(inputs)
    contents = {
        "methods.md": methods.markdown(inputs),
        "references.bib": bibtex(methods.cited(text)),
        "checklist.md": checklist.markdown(inputs),
    }
    for name, content in contents.items():
        _write(page.with_name(f"{page.stem}.{name}"), content.encode("utf-8"))
    return [page.with_name(f"{page.stem}.{name}") for name in contents]


def _write(path: Path, content: bytes) -> None:
    try:
        write_whole(path, content)
    except OSError as error:
        raise SpecError(f"{path} cannot be written: {error.strerror}") from error
