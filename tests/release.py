"""Prepares a release (`make dist`): the wheel, its checksum, and whether a stranger can use it.

The wheel is installed into an environment that holds nothing else, without the constraints of this checkout, and the
demo runs there in an empty folder with an empty home; the same by `uvx` where uv is there or can be installed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"


def build() -> Path:
    """The wheel of this checkout in dist/, with SHA256SUMS beside it."""
    shutil.rmtree(DIST, ignore_errors=True)
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "-w",
        DIST,
        ROOT,
    ]
    subprocess.run(command, check=True)
    (wheel,) = DIST.glob("*.whl")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (DIST / "SHA256SUMS").write_text(f"{digest}  {wheel.name}\n", encoding="utf-8")
    return wheel


def bare(wheel: Path, place: Path) -> None:
    """Install the wheel alone and run the demo. Raises CalledProcessError where something fails."""
    venv.create(place / "venv", with_pip=True)
    python = place / "venv/bin/python"
    _run(place, [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[report]"])
    _run(place, [place / "venv/bin/judge", "--version"])
    _run(place, [place / "venv/bin/judge", "demo", "--quiet"])
    if not (place / "work/runs/demo/report.html").is_file():
        raise SystemExit("error: the demo wrote no report")


def by_uvx(wheel: Path, place: Path) -> None:
    """The demo by `uvx --from WHEEL`, by an uv that is installed for it."""
    python = place / "venv/bin/python"
    _run(place, [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uv"])
    _run(place, [place / "venv/bin/uvx", "--from", f"{wheel}[report]", "judge", "demo", "runs/by-uvx", "--quiet"])


def _run(place: Path, command: list[str | Path]) -> None:
    home, work = place / "home", place / "work"
    home.mkdir(exist_ok=True)
    work.mkdir(exist_ok=True)
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "JUDGE_", "VIRTUAL_ENV"))
    }
    packages = subprocess.run(
        [sys.executable, "-m", "pip", "cache", "dir"], capture_output=True, text=True, check=False
    ).stdout.strip()
    given = kept | {"HOME": str(home)} | ({"PIP_CACHE_DIR": packages} if packages else {})
    subprocess.run(command, check=True, cwd=work, env=given)


def main() -> int:
    """Build, try and say what came of it."""
    wheel = build()
    with tempfile.TemporaryDirectory() as place:
        bare(wheel, Path(place))
        by_uvx(wheel, Path(place))
    print(f"{wheel.relative_to(ROOT)}: {wheel.stat().st_size / 1e6:.1f} MB; installed alone, the demo ran, also by uvx")
    print((DIST / "SHA256SUMS").read_text(encoding="utf-8").strip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
