"""The suite with every supported Python of this machine, or those named: `python -m tests.every_python 3.11.2 3.13`.

Each gets a virtual environment of its own under `.venv-pythons`. What is not there, or could not be tried, is named at
the end; nothing is downloaded but packages.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / ".venv-pythons"
_ASK = "import sys; print('.'.join(map(str, sys.version_info[:3])), sys.implementation.name, sys.executable)"


@dataclass(frozen=True, slots=True)
class Tried:
    """How the suite went with one Python."""

    python: str
    version: str
    failure: str | None


def supported() -> list[str]:
    """The versions that pyproject.toml's classifiers name, such as 3.11."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return re.findall(r"Python :: (3\.\d+)$", "\n".join(project["classifiers"]), re.MULTILINE)


def found() -> dict[str, Path]:
    """Full version -> program, of the supported Pythons on PATH, of the system, of pyenv and of uv; lowest first."""
    versions: dict[str, Path] = {}
    for program in _candidates():
        version, executable = _asked(program)
        if version.rpartition(".")[0] in supported():
            versions.setdefault(version, Path(executable))
    return dict(sorted(versions.items(), key=lambda one: [int(part) for part in one[0].split(".")]))


def _candidates() -> Iterator[Path]:
    names = [f"python{version}" for version in supported()] + ["python3"]
    for folder in [*os.environ.get("PATH", "").split(os.pathsep), "/usr/bin", "/usr/local/bin"]:
        # A virtual environment's Python is that of another program here.
        if folder and not (Path(folder).parent / "pyvenv.cfg").is_file():
            yield from (Path(folder) / name for name in names)
    home = Path.home()
    for pattern in (".pyenv/versions/*/bin/python", ".local/share/uv/python/*/bin/python3"):
        yield from sorted(home.glob(pattern))
    yield Path(sys._base_executable)  # type: ignore[attr-defined]  # under which our own environment was made


def _asked(program: Path) -> tuple[str, str]:
    """Full version and where the program itself lies (pyenv's are scripts that start another); empty for none."""
    if not program.is_file():
        return "", ""
    try:
        done = subprocess.run([program, "-c", _ASK], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return "", ""
    version, implementation, executable = done.stdout.strip().split(" ", 2)
    return (version, executable) if implementation == "cpython" else ("", "")


def tried(version: str, program: Path, options: Sequence[str]) -> Tried:
    """Install into an environment of this Python, and run the suite in it."""
    place = PLACE / version
    python = place / "bin" / "python"
    name = str(program)
    if _ended([program, "-m", "venv", place]):
        shutil.rmtree(place, ignore_errors=True)
        return Tried(name, version, "no virtual environment could be made (Debian: apt-get install python3-venv)")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", "constraints.txt"]
    if _ended([*install, "-e", ".[dev]"]):
        return Tried(name, version, "the packages could not be installed")
    _ended([python, "-m", "tests.machine"])
    code = _ended([python, "-m", "pytest", "-n", "2", "-q", *options])
    return Tried(name, version, f"pytest ended with {code}" if code else None)


def _ended(command: Sequence[str | Path]) -> int:
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def main(arguments: Sequence[str]) -> int:
    """Try all, or those that are named, and say in the end which passed, failed and were not there.

    Other arguments are pytest's.
    """
    named = [word for word in arguments if re.fullmatch(r"3\.\d+(\.\d+)?", word)]
    options = [word for word in arguments if word not in named]
    wanted = {v: p for v, p in found().items() if not named or {v, v.rpartition(".")[0]} & set(named)}
    print("".join(f"found Python {version}: {program}\n" for version, program in wanted.items()), flush=True)
    results = [tried(version, program, options) for version, program in wanted.items()]
    for one in results:
        print(f"Python {one.version} ({one.python}): {'passed' if one.failure is None else f'FAILED: {one.failure}'}")
    for version in named or supported():
        if not any(f"{one.version}.".startswith(f"{version}.") for one in results):
            print(f"Python {version}: not on this machine, not tried")
    absent = named and len(results) < len(named)
    return int(bool(absent) or not results or not all(one.failure is None for one in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
