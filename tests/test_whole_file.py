"""Whole or not at all: what stood there stays until all of the new file is written."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from judge.whole_file import draft, write_whole


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
