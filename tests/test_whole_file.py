"""Whole or not at all: what stood there stays until all of the new file is written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from judge.base.files import draft, write_whole


@pytest.mark.parametrize("durable", [False, True])
def test_a_file_is_written_in_place_of_another(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "table.csv"
    write_whole(path, "a\r\nü\n", durable=durable)
    assert path.read_bytes() == "a\r\nü\n".encode()
    write_whole(path, b"b", durable=durable)
    assert path.read_bytes() == b"b"
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_leaves_the_file_as_it_was_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("before", encoding="utf-8")

    def half() -> None:
        with draft(path) as fresh:
            fresh.write_text("half", encoding="utf-8")
            assert path.read_text(encoding="utf-8") == "before"
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link_and_a_pipe_a_pipe(tmp_path: Path) -> None:
    path, link = tmp_path / "table.csv", tmp_path / "link.csv"
    path.write_text("before", encoding="utf-8")
    link.symlink_to(path)
    write_whole(link, "after")
    assert link.is_symlink()
    assert path.read_text(encoding="utf-8") == "after"
    pipe, heard = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    write_whole(pipe, "through")
    reader.join(10)
    assert heard == ["through"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", ["no/folder.csv", "."])
def test_where_nothing_can_be_written_the_system_says_why(tmp_path: Path, name: str) -> None:
    with pytest.raises(OSError, match=r"No such file or directory|Is a directory"):
        write_whole(tmp_path / name, "x")


_KILLED = """
import os, signal, sys
from pathlib import Path
from judge.base.files import draft
with draft(Path(sys.argv[1])) as fresh:
    fresh.write_text("half")
    print(fresh.name, flush=True)
    {}
"""


def _writer(path: Path, then: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _KILLED.format(then), str(path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_what_a_killed_writer_left_is_deleted_at_the_next_use_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    dead = _writer(path, "os.kill(os.getpid(), signal.SIGKILL)")
    assert dead.communicate()[0].endswith(".new\n")
    assert dead.returncode == -signal.SIGKILL
    (left,) = tmp_path.glob("*.new")
    alive = _writer(path, "sys.stdin.readline()")
    assert alive.stdout is not None
    writing = tmp_path / alive.stdout.readline().strip()
    # Beginning to write has deleted what was left; the draft of the process that still writes stays, and files of
    # other names, of another machine and of nobody's making.
    assert list(tmp_path.glob("*.new")) == [writing]
    others = [
        tmp_path / name for name in ("a.json.new", "b.json.00000000-1-00000000.new", "a.json.0badbeef-1-0000000f.new")
    ]
    for other in others:
        other.write_text("mine")
    write_whole(path, "whole")
    assert left not in set(tmp_path.iterdir())
    assert {*tmp_path.glob("*.new")} == {writing, *others}
    assert path.read_text() == "whole"
    alive.communicate("\n")
    assert path.read_text() == "half"
    # A day later nobody writes the other machine's draft any more.
    os.utime(others[2], (0, 0))
    write_whole(path, "again")
    assert {*tmp_path.glob("*.new")} == {*others[:2]}
