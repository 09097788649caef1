"""What other operating systems lack: every module and the main commands without Unix's own modules."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

WITHOUT_UNIX = """
import sys, warnings

# Files are read and written in UTF-8 whatever the system's own encoding.
warnings.filterwarnings("error", category=EncodingWarning, module=r"judge(\\.|$)")
UNIX = {"fcntl", "resource", "termios", "pwd", "grp", "tty", "pty", "syslog", "readline", "curses"}


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in UNIX:
            raise ImportError(f"{name} is of Unix only", name=name)


assert not UNIX & set(sys.modules)
sys.meta_path.insert(0, Absent())
"""

EVERY_MODULE = (
    WITHOUT_UNIX
    + """
import importlib, pkgutil, judge

ENGINES = {"torch", "transformers", "vllm", "ray", "umap", "yake", "sentence_transformers"}
imported = 0
for module in pkgutil.walk_packages(judge.__path__, "judge."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            assert error.name in ENGINES, module.name
        imported += 1
print(imported)
"""
)

COMMANDS = """
from judge.cli.main import main
for line in sys.argv[1:]:
    try:
        main(line.split())
    except SystemExit as left:
        if left.code:
            raise
"""

HOLDER = (
    WITHOUT_UNIX
    + """
import time
from pathlib import Path
from judge.asking.run_folder import lock
with lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""
)


HOMELESS = """
import pwd, sys

def nobody(number):
    raise KeyError(number)

pwd.getpwuid = nobody
"""


def python(
    code: str, *arguments: object, cwd: Path | None = None, home: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter that warns of files opened in the system's own encoding."""
    command = [sys.executable, "-X", "warn_default_encoding", "-c", code, *map(str, arguments)]
    env = {name: value for name, value in os.environ.items() if home or name != "HOME"} | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def test_every_module_is_imported_without_the_modules_of_unix() -> None:
    done = python(EVERY_MODULE)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= len(list((ROOT / "judge").rglob("[!_]*.py")))


def test_runs_tables_pages_and_bundles_are_made_without_the_modules_of_unix(tmp_path: Path) -> None:
    lines = (
        "--help",
        "demo --quiet",
        "run runs/demo --judge scripted/three --quiet",
        "ratings runs/demo --format csv -o ratings.csv",
        "export runs/demo --as bundle -o demo.zip --resamples 20",
        "status demo.zip --verify",
        "status runs/demo --format json -o status.json",
    )
    done = python(WITHOUT_UNIX + COMMANDS, *lines, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Start here" in done.stdout
    assert "demo: 48 stories" in done.stdout
    assert (tmp_path / "runs" / "demo" / "report.html").stat().st_size > 10_000
    (row, _) = json.loads((tmp_path / "status.json").read_text(encoding="utf-8"))["rows"]
    assert row["answered"] == 1728
    assert (tmp_path / "ratings.csv").read_text(encoding="utf-8").count("\n") > 1728


def test_where_no_file_can_be_locked_a_marker_keeps_a_second_writer_out(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        second = python(HOLDER, tmp_path)
        holder.send_signal(signal.SIGKILL)
    assert f"is in use by another process (pid {holder.pid})" in second.stderr
    third = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE)
    with third:
        assert third.stdout is not None
        assert third.stdout.readline() == b"held\n"
        third.terminate()


def test_a_user_without_a_home_folder_can_work(tmp_path: Path) -> None:
    lines = ("data list", "demo --quiet", "export runs/demo --as bundle -o b.zip --resamples 20")
    done = python(HOMELESS + COMMANDS, *lines, cwd=tmp_path, home=False)
    assert done.returncode == 0, done.stderr
    done = python(HOMELESS + COMMANDS, "--install-completion bash", cwd=tmp_path, home=False)
    assert done.stderr.startswith("error: Could not determine home directory.\nhint: judge --show-completion bash")
