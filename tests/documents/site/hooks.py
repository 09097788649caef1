"""Hooks of mkdocs: notebooks of the tutorials, and the check that a page fetches nothing when it is read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

_FETCHED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio)\b[^>]*\ssrc\s*=\s*["']?(?:https?:)?//[^"'>\s]+"""
    r"""|<link\b(?![^>]*rel=["']?(?:canonical|next|prev))[^>]*\shref\s*=\s*["']?(?:https?:)?//[^"'>\s]+"""
    r"""|url\(\s*["']?(?:https?:)?//[^)]+|@import\s+["'](?:https?:)?//[^"']+"""
)


def on_files(files: Any, config: Any) -> Any:
    """Add each tutorial as a notebook of the same name: with the outputs that the page shows."""
    import nbformat

    from tests.documents.site.notebooks import notebook

    for source in sorted((Path(config.docs_dir) / "tutorials").glob("*.md")):
        if source.stem != "index":
            content = nbformat.writes(notebook(source.read_text(encoding="utf-8")))
            files.append(File.generated(config, f"tutorials/{source.stem}.ipynb", content=content))
    return files


def on_post_build(config: Any) -> None:
    """Refuse a site that would load something from the network."""
    site = Path(config.site_dir)
    fetched = [
        f"{path.relative_to(site)}: {match[0][:120]}"
        for path in sorted([*site.rglob("*.html"), *site.rglob("*.css")])
        for match in _FETCHED.finditer(path.read_text(encoding="utf-8"))
    ]
    if fetched:
        raise PluginError("pages would load from the network:\n" + "\n".join(fetched[:20]))
