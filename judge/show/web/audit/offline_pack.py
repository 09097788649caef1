"""HTML files of an audit for annotators who cannot reach the server, self-contained, without network requests. Answers
stay in the browser until the annotator saves them as a file, which `judge audit import` imports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from judge.base.errors import SpecError
from judge.base.fingerprint import sha256_script
from judge.base.whole_file import write_whole
from judge.base.wording import Advice
from judge.explanations.audit.file.rows import clean_name
from judge.explanations.audit.file.store import AuditStore
from judge.show.pages import environment, stylesheet
from judge.show.web.audit.pages import TEMPLATES, introduction
from judge.show.web.audit.tasks import as_script, packed_task
from judge.version import __version__

_STATIC = Path(__file__).parents[1] / "static"
_SCRIPTS = (
    "page.js",
    *(f"audit_{name}.js" for name in ("text", "keep", "parts", "reading", "between", "keys")),
    "audit.js",
)


def write_pack(store: AuditStore, annotators: Sequence[str], folder: Path) -> list[Path]:
    """Write `audit-NAME.html` for each annotator; only importing answers registers them. Raises SpecError for an
    invalid name or one that occurs twice, and where the folder cannot be written."""
    names = [clean_name(name) for name in annotators]
    folded = [name.casefold() for name in names]
    for name in names:
        if folded.count(name.casefold()) > 1:
            raise SpecError(
                Advice("{annotators} names {!r} twice", name), hint="two people by one name would count as one rater"
            )
    pages: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        stem = "audit-" + "".join(c if c.isalnum() else "_" for c in name)
        # Some file systems do not tell upper from lower case.
        while stem.casefold() in taken:
            stem += "_"
        taken.add(stem.casefold())
        pages[f"{stem}.html"] = page(store, name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in pages.items():
            write_whole(folder / file, text)
    except OSError as error:
        raise SpecError(
            f"{folder} cannot be written: {error.strerror}", hint="choose another folder with -o"
        ) from error
    return [folder / file for file in pages]


def page(store: AuditStore, annotator: str) -> str:
    """The offline page. Its content security policy allows only this program's scripts, by their hashes."""
    scripts = [(_STATIC / name).read_text(encoding="utf-8") for name in _SCRIPTS]
    return (
        environment(TEMPLATES)
        .get_template("audit_pack.html")
        .render(
            annotator=annotator,
            task=as_script(packed_task(store, annotator)),
            style=_own("style", stylesheet() + (_STATIC / "audit.css").read_text(encoding="utf-8")),
            scripts=[_own("script", script) for script in scripts],
            hashes=[Markup("'sha256-{}'").format(sha256_script(script)) for script in scripts],
            version=__version__,
            **introduction(store),
        )
    )


def _own(tag: str, text: str) -> Markup:
    """Unescaped text, which must come from one of this program's own files."""
    if f"</{tag}" in text.casefold():
        raise AssertionError(f"a file of ours ends its {tag} element")
    return Markup(f"<{tag}>{text}</{tag}>")  # noqa: S704  our own file, read above
