"""Class 10: nothing connects at import or in a run without a server, and no model brings code unasked."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import metadata, requires
from pathlib import Path

import pytest

from tests.advisories import sentences
from tests.hardening.conftest import run_folder

ROOT = Path(__file__).parents[2]
_WATCH = (
    "import sys\n"
    "def hook(name, args):\n"
    "    if name in ('socket.connect', 'socket.getaddrinfo', 'socket.bind', 'socket.sendto'):\n"
    "        sys.stderr.write(f'CONNECT {name} {args[1:]}\\n'); import os; os._exit(9)\n"
    "sys.addaudithook(hook)\n"
)


_EACH = """
import importlib, pkgutil, judge
from judge.cli.main import main
for command in ("run", "status", "coverage", "status --verify"):
    try: main([*command.split(), sys.argv[1]])
    except SystemExit as left: print("ENDED", command, left.code or 0)
for one in pkgutil.walk_packages(judge.__path__, "judge."):
    if "__main__" in one.name: continue
    try: importlib.import_module(one.name)
    except ImportError: pass
print("IMPORTED")
"""


def test_a_run_without_a_server_and_the_import_of_every_module_connect_nowhere(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _WATCH + _EACH, str(run_folder(tmp_path))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, cwd=ROOT)
    assert (done.returncode, "CONNECT" in done.stderr) == (0, False), done.stderr[-2000:]
    for word in ("ENDED run 0", "ENDED status 0", "ENDED coverage 0", "ENDED status --verify 0", "IMPORTED"):
        assert f"{word}\n" in done.stdout


def test_licences_of_what_is_always_installed_are_known() -> None:
    needed = [one for one in requires("storyjudge") or [] if "extra ==" not in one]
    names = [found.group() for one in needed if (found := re.match(r"[A-Za-z0-9_.-]+", one))]
    assert len(names) > 5
    for name in names:
        about = metadata(name)
        first = (about.get("License") or "").strip().split("\n")[0]
        kinds = [one for one in about.get_all("Classifier") or [] if one.startswith("License")]
        said = " ".join([about.get("License-Expression") or "", first, *kinds])
        assert re.search(r"MIT|BSD|Apache|PSF|Python Software Foundation|ISC|MPL|Unlicense", said), name
        assert not re.search(r"\bA?GPL", said), name


def test_the_list_of_licences_is_whole() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [one for extra, several in project["optional-dependencies"].items() if extra != "dev" for one in several]
    named = {found.group() for one in [*project["dependencies"], *extras] if (found := re.match(r"[\w.-]+", one))}
    text = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([\w.-]+) \| (always|.*?) \| .+ \|$", text, re.MULTILINE))
    assert set(rows) - {"package"} == named - {"storyjudge"}
    core = {found.group() for one in project["dependencies"] if (found := re.match(r"[\w.-]+", one))}
    assert {name for name, why in rows.items() if why == "always"} == core


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        ("", 0, "NOT LOOKED UP, the data cannot be had here (no network)"),
        ('{"dependencies": [{"name": "a", "skip_reason": "not found"}]}', 0, "NOT LOOKED UP for 2 of 2 packages"),
        ('{"dependencies": [{"name": "a", "version": "1", "vulns": []}]}', 0, "NOT LOOKED UP for 1 of 2 packages"),
        (
            '{"dependencies": [{"name": "a", "version": "1", "vulns": [{"id": "X-1", "fix_versions": ["2"]}]}]}',
            1,
            "a 1: X-1, mended in 2",
        ),
    ],
    ids=["no network", "skipped", "half", "a hole"],
)
def test_advisories_say_when_they_cannot_be_had(answer: str, code: int, words: str) -> None:
    found, lines = sentences(answer, 2, "no network")
    assert found == code
    assert words in "\n".join(lines)


def test_how_to_report_is_said() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    for word in ("held", "not held", "report"):
        assert word in text.lower()


def test_nothing_unpickles_but_the_restricted_reader_and_our_own_child() -> None:
    found = {
        path.relative_to(ROOT / "judge").as_posix()
        for path in (ROOT / "judge").rglob("*.py")
        if re.search(r"pickle\.loads?\(|pickle\.Unpickler", path.read_text(encoding="utf-8"))
    }
    assert found == {"inputs/datasets/studies/storyer.py", "inputs/eval_prompts/sandbox.py"}
