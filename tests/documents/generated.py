"""Every page that is made from the program: `python -m tests.documents.generated --write`."""

from __future__ import annotations

import sys
from pathlib import Path

from judge.show.report import words
from tests.documents import commands, file_keys, language_models, layers, python_api

ROOT = Path(__file__).resolve().parents[2]


def fresh() -> dict[str, str]:
    """Path of each generated file -> what it ought to hold."""
    return (
        commands.pages()
        | file_keys.pages()
        | python_api.page()
        | layers.picture()
        | _glossary()
        | language_models.page(ROOT / "mkdocs.yml")
    )


def _glossary() -> dict[str, str]:
    rows = "".join(f"| {term} | {meaning} |\n" for term, meaning in words.glossary().items())
    about = "Words as the program and these pages use them, in alphabetical order. A report holds those that it uses."
    return {"docs/glossary.md": f"# Glossary\n\n{about}\n\n| word | meaning |\n|---|---|\n{rows}"}


def stale(files: dict[str, str]) -> list[str]:
    """Paths whose files hold something else, or that are left over from commands that are gone."""
    left = {path.relative_to(ROOT).as_posix() for path in (ROOT / commands.FOLDER).glob("*.md")} - set(files)
    changed = [path for path, text in files.items() if not _holds(ROOT / path, text)]
    return sorted([*left, *changed])


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def main() -> int:
    """Print which pages are stale, or write them."""
    files = fresh()
    outdated = stale(files)
    if "--write" not in sys.argv:
        print("\n".join([*outdated, "stale: make docs"] if outdated else ["fresh"]))
        return int(bool(outdated))
    for path in outdated:
        if path in files:
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(files[path], encoding="utf-8")
        else:
            (ROOT / path).unlink()
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
