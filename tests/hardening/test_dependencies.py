"""Class 10: nothing connects at import or in a run without a server, and no model brings code unasked."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import metadata, requires
from pathlib import Path

import pytest

from tests.hardening.conftest import Make

ROOT = Path(__file__).parents[2]
_WATCH = (
    "import sys\n"
    "def hook(name, args):\n"
    "    if name in ('socket.connect', 'socket.getaddrinfo', 'socket.bind', 'socket.sendto'):\n"
    "        sys.stderr.write(f'CONNECT {name} {args[1:]}\\n'); import os; os._exit(9)\n"
    "sys.addaudithook(hook)\n"
)


def watched(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _WATCH + code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)


def test_importing_every_module_connects_nowhere() -> None:
    code = (
        "import importlib, pkgutil, judge\n"
        "for one in pkgutil.walk_packages(judge.__path__, 'judge.'):\n"
        "    if '__main__' in one.name: continue\n"
        "    try: importlib.import_module(one.name)\n"
        "    except ImportError: pass\n"
        "print('done')"
    )
    done = watched(code)
    assert (done.returncode, done.stdout.strip()) == (0, "done"), done.stderr[-2000:]


@pytest.mark.parametrize("command", ["run", "status", "coverage", "verify"])
def test_a_run_without_a_server_connects_nowhere(make: Make, command: str) -> None:
    place = make()
    first = watched("from judge.cli.main import main\nmain(sys.argv[1:])", "run", str(place), "--quiet")
    assert first.returncode == 0, first.stderr
    done = watched("from judge.cli.main import main\nmain(sys.argv[1:])", command, str(place))
    assert "CONNECT" not in done.stderr
    assert done.returncode == 0


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
    assert found == {"datasets/studies/storyer.py", "eval_prompts/apart_child.py"}
