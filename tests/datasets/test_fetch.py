"""Downloads, from a server on this machine that lays the studies' real files out as their publishers do."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from judge.base.errors import DataError, SpecError
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.locate import fetch, fetchable
from judge.inputs.datasets.sources import SOURCES


class Publisher:
    """Answers /REPOSITORY/COMMIT/PATH with a file, and counts."""

    def __init__(self, files: dict[str, Path]) -> None:
        self.files = files
        self.asked: list[str] = []
        publisher = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                publisher.asked.append(self.path)
                path = publisher.files.get(self.path)
                body = path.read_bytes() if path else b"404: Not Found"
                self.send_response(200 if path else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def publisher(studies: Path, annotations: Path) -> Iterator[Publisher]:
    files = {source.url(""): studies / path for path, source in SOURCES.items() if (studies / path).is_file()}
    files[SOURCES["hanna/hanna_stories_annotations.csv"].url("")] = annotations
    server = Publisher(files)
    thread = threading.Thread(target=server.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.server.shutdown()
    server.server.server_close()
    thread.join()


NOT_HERE = ("storyer_pairs", "creative_short_stories", "confederacy")


@pytest.mark.parametrize("name", [n for n in fetchable() if n not in NOT_HERE])
def test_everything_published_can_be_fetched_and_has_the_published_checksum(name: str, publisher: Publisher) -> None:
    got = fetch(name, publisher.url)
    assert all(f.downloaded and f.path.is_file() for f in got)
    assert [f.source.path for f in got] == list(fetchable()[name])


def test_a_fetched_set_opens_and_is_not_fetched_again(publisher: Publisher) -> None:
    fetch("mans_roc", publisher.url)
    assert len(list(open_dataset("mans_roc").stories())) == 1000
    (again,) = fetch("mans_roc", publisher.url)
    assert not again.downloaded
    assert len(publisher.asked) == 1


def test_a_file_with_another_checksum_is_not_kept(publisher: Publisher, machine: Path) -> None:
    # The copy at hand holds 700 of the 1,000 published pairs, so it is not the published file.
    with pytest.raises(DataError, match=r"checksum differs; nothing was kept; found '99800b72\w+'; allowed: a99e18a1"):
        fetch("storyer_pairs", publisher.url)
    assert not [p for p in (machine / "cache").rglob("*") if p.is_file()]


def test_a_file_that_is_not_there(publisher: Publisher) -> None:
    publisher.files.clear()
    with pytest.raises(DataError, match=r"mans_roc\.json could not be downloaded .* the server answers 404") as caught:
        fetch("mans_roc", publisher.url)
    assert caught.value.hint == "with a copy at hand: judge data add mans_roc.json PATH (this address is unverified)"


def test_no_server_there() -> None:
    with pytest.raises(DataError, match=r"http://127\.0\.0\.1:1/\S+ could not be downloaded to"):
        fetch("mans_roc", "http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("mans", "name 'mans' is not known; did you mean 'mans_"),
        ("demo", "comes with the program"),
        ("hanna_eval_prompts", "has no public address"),
    ],
)
def test_names_that_cannot_be_fetched(name: str, sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence):
        fetch(name)


def test_no_address_is_called_verified_before_it_was_reached() -> None:
    assert not any(source.verified for source in SOURCES.values())


def test_addresses_are_those_of_the_repositories_files() -> None:
    assert SOURCES["openmeva/mans_wp.json"].url() == (
        "https://raw.githubusercontent.com/TIGER-AI-Lab/TIGERScore/6374fd8/data/evaluation/storygen/mans_wp.json"
    )


def test_a_file_may_have_a_server_of_its_own() -> None:
    (path,) = fetchable()["creative_short_stories"]
    source = SOURCES[path]
    assert source.url().startswith("https://huggingface.co/datasets/mismayil/")
    assert source.url("http://mirror").startswith("http://mirror/datasets/mismayil/")
    assert not source.verified
    mans = SOURCES["openmeva/mans_roc.json"]
    assert mans.url().startswith("https://raw.githubusercontent.com/")


def test_what_judge_data_holds_is_not_fetched(publisher: Publisher, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = next(path for url, path in publisher.files.items() if url.endswith("mans_roc.json")).parents[1]
    monkeypatch.setenv("JUDGE_DATA", str(folder))
    (got,) = fetch("mans_roc")
    assert not got.downloaded
    assert got.path == folder / "openmeva/mans_roc.json"
    (got,) = fetch("mans_roc", publisher.url)  # a server that was named is asked
    assert got.downloaded


def test_a_changed_file_of_judge_data_is_fetched(
    publisher: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own/openmeva").mkdir(parents=True)
    (tmp_path / "own/openmeva/mans_roc.json").write_text("[]")
    monkeypatch.setenv("JUDGE_DATA", str(tmp_path / "own"))
    monkeypatch.setattr("judge.inputs.datasets.sources.Source.url", lambda _self, _base=None: "http://127.0.0.1:1/x")
    with pytest.raises(DataError, match="could not be downloaded"):
        fetch("mans_roc")
