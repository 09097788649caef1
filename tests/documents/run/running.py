"""Runs commands of the documentation in a folder that holds what their page assumes."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path

import pytest

from tests.conftest import NEEDS_DATA
from tests.documents.run.collected import Command, of_help, of_pages
from tests.documents.run.excused import EXCUSED, SERVERS, SLOW, STUDIES
from tests.documents.run.prepared import BEFORE, after
from tests.golden_tables.calls import inside, judge
from tests.server.loopback import LoopbackServer

PAGES, HELP = of_pages(), of_help()
EVERY = [command for commands in (*PAGES.values(), *HELP.values()) for command in commands]
ELSEWHERE = {*EXCUSED, *SERVERS, *SLOW}
"""Lines of commands that are not run page by page."""

_LINES = {page: {command.line for command in commands} for page, commands in PAGES.items()}
ON_PAGES = set().union(*_LINES.values())
"""Lines that pages have, which are run there and not as the example of a help text once more."""
REPEATED = {page for page, lines in _LINES.items() if any(lines < others for others in _LINES.values())}
"""Pages of which another page has every line."""

DECLARED = {"certify": 4, "run runs/my-run --batch collect": 3, "run runs/new-stories": 4}
"""Commands that also end otherwise when they have worked: a condition that is not met, batches that are at work."""

QUICKER = {
    "certify": ["--resamples", "200"],
    "doctor --statistics": ["--set", "studies=100", "--seed", "1"],
    "explain": ["--set", "permutations=19", "--set", "refits=19", "--resamples", "20"],
    "report": ["--resamples", "200", "--set", "permutations=200"],
    "summary": ["--resamples", "200"],
}
"""How commands begin -> options that are added to save minutes, unless the page has them."""

_ADDRESS = "http://127.0.0.1:8000/v1"


def _run(
    place: str, commands: list[Command], folder: Path, data: Path | None, url: str, left_out: set[str]
) -> list[str]:
    """Run the commands in order; a sentence for each that ended with another code than it may."""
    failed = []
    with inside(folder, data):
        environment(url)
        BEFORE.get(place, lambda _url: None)(url)
        for command in commands:
            if command.line in left_out:
                continue
            for words, target in command.parts:
                known = _words(words, url)
                code, out, err = judge(known)
                allowed = {0, *(other for begun, other in DECLARED.items() if " ".join(known).startswith(begun))}
                if code not in allowed:
                    words_of_it = f"{out[-800:]}\n{err[-1500:]}"
                    failed.append(f"{command.place}: judge {' '.join(known)} ended with {code}\n{words_of_it}")
                if target:
                    Path(target).write_text(out, encoding="utf-8")
                after(known, url)
    return failed


def _words(words: list[str], url: str) -> list[str]:
    """Words as a shell would give them, with the stand-in's address."""
    found = []
    for word in words:
        filled = os.path.expandvars(word).replace(_ADDRESS, url)
        found += sorted(glob.glob(filled)) or [filled]  # noqa: PTH207  as a shell writes them
    if (
        found[:2] == ["run", "runs/my-run"]
        and "--batch" not in found
        and "mans_roc" in Path("runs/my-run/run.yaml").read_text(encoding="utf-8")
    ):
        found += ["--set", "eval_prompts=[ep1]", "--set", "repeats=1"]  # 1,000 requests in place of 12,000
    more = next((words for begun, words in QUICKER.items() if " ".join(found).startswith(begun)), [])
    said, asked = ({word.partition("=")[0] for word in words if not word.isdigit()} for words in (found, more))
    # Only the layout clusters of explanations has these numbers.
    other = found[0] == "explain" and "clusters" not in found
    return found if other or (asked - {"--set"}) & said else [*found, *more]


def needs_study(commands: list[Command], left_out: set[str] = ELSEWHERE) -> list[pytest.MarkDecorator]:
    """The marker of tests of these commands, if any of those that are not left out reads a study's files."""
    reads = any(re.search(STUDIES, command.line) for command in commands if command.line not in left_out)
    return [NEEDS_DATA] if reads else []


def failures(
    place: str,
    commands: list[Command],
    folder: Path,
    data: Path | None,
    server: LoopbackServer,
    left_out: set[str] = ELSEWHERE,
) -> list[str]:
    """Sentences on commands that failed, of all that are not left out."""
    return _run(place, commands, folder, data, server.url, left_out)


def environment(url: str) -> None:
    """Set what pages assume of the environment, inside `inside`."""
    os.environ |= {"RUN": "runs/my-run", "SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_COUNT": "1"}
    os.environ |= {"JUDGE_NO_BROWSER": "1", "OPENAI_API_KEY": "sk-none", "OPENAI_BASE_URL": url}
    os.environ["port"] = url.rsplit(":", maxsplit=1)[-1].removesuffix("/v1")  # noqa: SIM112  as the page names it
