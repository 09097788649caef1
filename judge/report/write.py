"""Writing the page and the words beside it, with progress on stderr. Writes whole files or none."""

from __future__ import annotations

from pathlib import Path

from judge.errors import SpecError
from judge.report import checklist, methods
from judge.report.material import Material
from judge.report.page import html
from judge.report.references import bibtex
from judge.report.sections import SECTIONS, sections


def write_page(material: Material, output: Path, *, quiet: bool = False) -> int:
    """Make and write the page; its size in bytes. Raises SpecError where it cannot be written."""
    if not output.parent.is_dir():
        raise SpecError(f"{output} cannot be written: there is no folder {output.parent}")
    if quiet:
        made = list(sections(material))
    else:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        console = Console(stderr=True)
        # Where stderr is a file, a bar that is gone would leave an empty line.
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task("report", total=len(SECTIONS))

            def told(name: str) -> None:
                progress.update(task, description=name)

            made = []
            for section in sections(material, told):
                made.append(section)
                progress.advance(task)
    page = html(material, made).encode("utf-8")
    _write(output, page)
    return len(page)


def write_methods(material: Material, folder: Path) -> list[Path]:
    """`methods.md`, `references.bib`, `checklist.md` in a folder; their paths."""
    text = methods.paragraph(material)
    contents = {
        "methods.md": methods.markdown(material),
        "references.bib": bibtex(methods.cited(text)),
        "checklist.md": checklist.markdown(material),
    }
    for name, content in contents.items():
        _write(folder / name, content.encode("utf-8"))
    return [folder / name for name in contents]


def _write(path: Path, content: bytes) -> None:
    fresh = path.with_name(f"{path.name}.new")
    try:
        fresh.write_bytes(content)
        fresh.replace(path)
    except OSError as error:
        raise SpecError(f"{path} cannot be written: {error.strerror}") from error
