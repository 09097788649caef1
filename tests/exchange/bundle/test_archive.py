"""One archive of runs: the same bytes for the same run, checked elsewhere, with what was changed named."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import shutil
import sqlite3
import struct
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from judge.answers.journal import JournalReader, JournalWriter
from judge.asking.run_folder import ResultFolder, lock
from judge.base.errors import DataError, RunFolderError
from judge.cli.main import main
from judge.demo import run_demo
from judge.exchange.bundle import verification
from judge.exchange.bundle.archive import bundle
from judge.exchange.bundle.content import OF_RATINGS, TableChoices, difference
from judge.exchange.bundle.verification import check
from judge.exchange.imported_folder import write_folder
from judge.exchange.released import read_scores
from judge.explanations.audit.store import AuditStore

QUICK = TableChoices(resamples=20)
ROOT = "demo-bundle"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's run folder: run.yaml and the control judge's results."""
    folder, _ = run_demo(tmp_path_factory.mktemp("runs") / "demo", quiet=True)
    return folder if (folder / "run.yaml").is_file() else folder.parent


@pytest.fixture(scope="module")
def made(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundle") / "demo.zip"
    bundle([run], path, tables=QUICK)
    return path


@pytest.fixture(scope="module")
def little_run(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run of four stories."""
    folder = tmp_path_factory.mktemp("little") / "demo"
    folder.mkdir()
    shutil.copy(run / "run.yaml", folder / "run.yaml")
    assert command("run", folder, "--limit", 4, "--quiet") == 0
    return folder


@pytest.fixture(scope="module")
def little_made(little_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundle") / "little.zip"
    bundle([little_run], path, tables=QUICK)
    return path


@pytest.fixture
def own(run: Path, tmp_path: Path) -> Path:
    """A copy of the run, to be changed."""
    return Path(shutil.copytree(run, tmp_path / "runs" / "demo"))


@pytest.fixture
def little(little_run: Path, tmp_path: Path) -> Path:
    """A copy of the run of four stories, to be changed."""
    return Path(shutil.copytree(little_run, tmp_path / "runs" / "demo"))


def command(*arguments: object) -> int:
    try:
        main([str(a) for a in arguments])
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def rows_of(text: str) -> list[str]:
    """Lines that are neither signature nor notes."""
    return [line for line in text.splitlines() if not line.startswith("#")]


def rewritten(source: Path, target: Path, change: Callable[[str, bytes], bytes | None], *, sums: bool = False) -> Path:
    """The archive with files changed (None = left out); with `sums` the list of checksums is made to fit."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        listed = []
        for info in old.infolist():
            name = info.filename.removeprefix(f"{ROOT}/")
            content = change(name, old.read(info))
            if content is None or (sums and name == "SHA256SUMS"):
                continue
            listed.append(f"{hashlib.sha256(content).hexdigest()}  {name}\n")
            new.writestr(info.filename, content)
        if sums:
            new.writestr(f"{ROOT}/SHA256SUMS", "".join(listed))
    return target


def test_an_untouched_bundle_holds_what_it_says(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = check(made)
    assert found.problems == []
    assert (found.queries, found.tables) == (576, len(OF_RATINGS) + 4)
    with zipfile.ZipFile(made) as archive:
        names = {name.removeprefix(f"{ROOT}/") for name in archive.namelist()}
        assert found.files == len(names) - 1  # all but the list of checksums
        sums = archive.read(f"{ROOT}/SHA256SUMS").decode()
        for line in sums.splitlines():
            value, _, name = line.partition("  ")
            assert hashlib.sha256(archive.read(f"{ROOT}/{name}")).hexdigest() == value
        readme = archive.read(f"{ROOT}/README.txt").decode()
    place = "runs/demo/surface"
    assert {"README.txt", "bundle.json", "environment.json", "prices.yaml", "runs/demo/run.yaml"} <= names
    assert {f"{place}/journal.sqlite", f"{place}/manifest.json", f"{place}/definition/criteria.json"} <= names
    assert {f"{place}/definition/eval_prompts/ep1.jinja", f"{place}/definition/run.completed.yaml"} <= names
    assert {f"tables/{name}" for name in OF_RATINGS} <= names
    exports = ("metrics.json", "references.bib", "hub/README.md", "irw/demo-people.csv")
    assert {f"exports/{name}" for name in exports} <= names
    assert any(name.startswith("exports/every-eval-ever/data/") for name in names)
    assert "judge status demo-bundle.zip --verify" in readme
    assert "demo: Apache-2.0" in readme
    assert command("status", made, "--verify") == 0
    assert "576 queries and 12 tables compared, no differences" in capsys.readouterr().out


def test_the_same_run_gives_the_same_bytes(run: Path, made: Path, tmp_path: Path) -> None:
    again = bundle([run], tmp_path / "other-name.zip", tables=QUICK)
    assert again.path.read_bytes() == made.read_bytes()
    assert again.rows == 2016
    assert not list(tmp_path.glob(".bundle-*"))


def test_an_unpacked_bundle_works_with_every_command(
    made: Path, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with zipfile.ZipFile(made) as archive:
        archive.extractall(tmp_path)
    unpacked = tmp_path / ROOT / "runs" / "demo"
    printed = []
    for place in (run, unpacked):
        assert command("correlate", place, "--resamples", 20, "--format", "csv") == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    table = (tmp_path / ROOT / "tables" / "correlate.csv").read_text(encoding="utf-8")
    assert rows_of(table) == rows_of(printed[0])
    assert command("status", unpacked, "--verify") == 0
    assert command("status", unpacked) == 0
    assert command("run", unpacked, "--quiet") == 0  # nothing is missing, and nothing refuses to go on
    with JournalReader(unpacked / "surface" / "journal.sqlite") as journal:
        assert (journal.totals().answered, journal.totals().attempts) == (1728, 1728)


@pytest.mark.parametrize("name", ["README.txt", "tables/ratings.csv", "runs/demo/surface/journal.sqlite"])
def test_a_changed_byte_is_found_and_named(little_made: Path, tmp_path: Path, name: str) -> None:
    changed = rewritten(little_made, tmp_path / "a.zip", lambda n, b: b[:-1] + bytes([b[-1] ^ 1]) if n == name else b)
    problems = check(changed).problems
    assert f"{name} has another SHA-256 than SHA256SUMS says" in problems


def test_a_byte_changed_inside_the_packed_data_is_found(little_made: Path, tmp_path: Path) -> None:
    content = bytearray(little_made.read_bytes())
    with zipfile.ZipFile(little_made) as archive:
        info = archive.getinfo(f"{ROOT}/tables/ratings.csv")
    content[info.header_offset + info.compress_size // 2] ^= 0xFF
    (tmp_path / "a.zip").write_bytes(content)
    assert any(problem.startswith("tables/ratings.csv ") for problem in check(tmp_path / "a.zip").problems)


def test_missing_and_added_files_are_named(
    little_made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    less = rewritten(little_made, tmp_path / "a.zip", lambda n, b: None if n == "tables/coverage.csv" else b)
    assert {"tables/coverage.csv is missing"} <= set(check(less).problems)
    with zipfile.ZipFile(less, "a") as archive:
        archive.writestr(f"{ROOT}/extra.txt", "x")
    assert command("status", less, "--verify") == 4
    assert "extra.txt is in no list of checksums" in capsys.readouterr().out


def test_a_forged_table_and_a_forged_answer_are_found_though_checksums_fit(made: Path, tmp_path: Path) -> None:
    def misspell(name: str, content: bytes) -> bytes:
        return content.replace(b"Coherence", b"Coherency", 1) if name.endswith("correlate.csv") else content

    table = rewritten(made, tmp_path / "a.zip", misspell, sums=True)
    (problem,) = check(table).problems
    assert problem.startswith("tables/correlate.csv is not what the journals give: row ")
    assert "'Coherency' against 'Coherence'" in problem

    def lie(name: str, content: bytes) -> bytes:
        if not name.endswith("journal.sqlite"):
            return content
        path = tmp_path / "journal.sqlite"
        path.write_bytes(content)
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE responses SET text = 'Rating: 5' WHERE rowid % 7 = 0")
            db.execute("UPDATE stories SET text = text || '!' WHERE position = 3")
        db.close()
        return path.read_bytes()

    problems = check(rewritten(made, tmp_path / "b.zip", lie, sums=True)).problems
    assert any("12 queries have another hash than when they were sent" in problem for problem in problems)
    assert any(problem.startswith("tables/ratings.csv is not what the journals give: row ") for problem in problems)


def test_an_archive_of_something_else_is_said_to_be_no_bundle(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("table.csv", "a,b\n")
    with pytest.raises(DataError, match="is no bundle: it holds no SHA256SUMS in a folder") as caught:
        check(tmp_path / "a.zip")
    assert caught.value.hint == "judge export RUN --as bundle makes one"


def test_bombs_and_other_files_are_refused(
    little_made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verification, "MOST_BYTES", 1000)
    with pytest.raises(DataError, match="unpacks to"):
        check(little_made)
    monkeypatch.undo()
    (tmp_path / "no.zip").write_bytes(b"not a zip")
    assert command("status", tmp_path / "no.zip", "--verify") == 1
    assert "not a readable zip file" in capsys.readouterr().err
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as archive:
        archive.writestr("a/b.txt", "x")
    with pytest.raises(DataError, match="is no bundle: it holds no SHA256SUMS"):
        check(tmp_path / "empty.zip")


def test_a_file_that_is_longer_than_it_declares_is_damaged(little_made: Path, tmp_path: Path) -> None:
    content = bytearray(little_made.read_bytes())
    # The sizes of the directory at the end are what a reader trusts: halve that of the journal.
    at = content.rindex(f"{ROOT}/runs/demo/surface/journal.sqlite".encode()) - 46
    assert content[at : at + 4] == b"PK\x01\x02"
    (size,) = struct.unpack_from("<I", content, at + 24)
    struct.pack_into("<I", content, at + 24, size // 2)
    (tmp_path / "a.zip").write_bytes(content)
    problems = check(tmp_path / "a.zip").problems
    assert any("journal.sqlite" in problem for problem in problems)


def test_a_journal_with_a_trigger_is_not_opened(little_made: Path, tmp_path: Path) -> None:
    def trapped(name: str, content: bytes) -> bytes:
        if not name.endswith("journal.sqlite"):
            return content
        path = tmp_path / "j.sqlite"
        path.write_bytes(content)
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("CREATE VIEW trap AS SELECT * FROM stories")
        db.close()
        return path.read_bytes()

    problems = check(rewritten(little_made, tmp_path / "a.zip", trapped, sums=True)).problems
    assert "runs/demo/surface/journal.sqlite holds a view 'trap', which no file of this program does" in problems
    assert "tables were not derived again: a journal is missing or broken" in problems


@pytest.mark.parametrize("where", ["answer", "run.yaml", "manifest"])
def test_keys_stop_the_bundle_and_are_not_printed(
    little: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    key = "a-very-secret-value-42"
    monkeypatch.setenv("SOME_API_KEY", key)
    if where == "answer":
        with closing(sqlite3.connect(little / "surface" / "journal.sqlite")) as db, db:
            # Long enough to be parted over several pages, the key somewhere in the middle.
            db.execute("UPDATE responses SET text = ? WHERE rowid = 5", ("x" * 4060 + key + "y" * 9000,))
        db.close()
        named = "runs/demo/surface/journal.sqlite"
    elif where == "manifest":
        manifest = json.loads((little / "surface" / "manifest.json").read_text(encoding="utf-8"))
        manifest["note"] = f"key {key}"
        (little / "surface" / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        named = "runs/demo/surface/manifest.json"
    else:
        text = (little / "run.yaml").read_text(encoding="utf-8")
        (little / "run.yaml").write_text(f"# {key}\n{text}", encoding="utf-8")
        named = "runs/demo/run.yaml"
    with pytest.raises(RunFolderError, match="would hold the value of SOME_API_KEY") as caught:
        bundle([little], tmp_path / "b.zip", tables=QUICK)
    assert str(caught.value).startswith(named)
    assert key not in str(caught.value) + str(caught.value.hint)
    assert not (tmp_path / "b.zip").exists()


def test_what_looks_like_a_key_stops_the_bundle_and_plain_words_do_not(little: Path, tmp_path: Path) -> None:
    definition = (little / "run.yaml").read_text(encoding="utf-8")
    fine = f"# Authorization: the old man asked for it. risk-averse-people-with-long-hyphenated-names\n{definition}"
    (little / "run.yaml").write_text(fine, encoding="utf-8")
    bundle([little], tmp_path / "fine.zip", tables=QUICK)
    for text in ("Authorization: Bearer abcdefgh12345678", "sk-proj-abcdefghij0123456789XY", "hf_" + "aB3" * 12):
        (little / "run.yaml").write_text(f"# {text}\n{definition}", encoding="utf-8")
        with pytest.raises(RunFolderError, match="no bundle was written"):
            bundle([little], tmp_path / "b.zip", tables=QUICK)


def test_keys_that_older_definitions_held_stop_the_bundle(little: Path, tmp_path: Path) -> None:
    path = little / "surface" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["asked"]["engine"] = {"headers": {"X-Title": "my study"}}
    path.write_text(json.dumps(manifest), encoding="utf-8")
    bundle([little], tmp_path / "fine.zip", tables=QUICK)
    manifest["asked"]["engine"]["headers"]["api-key"] = "7f3a9c"
    path.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(
        RunFolderError, match=r"manifest.json would hold a key as it stands in headers.api-key"
    ) as caught:
        bundle([little], tmp_path / "b.zip", tables=QUICK)
    assert "7f3a9c" not in str(caught.value)


def test_encoded_keys_stop_the_bundle(little: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "a-very/secret+value-42"
    monkeypatch.setenv("SOME_API_KEY", key)
    text = (little / "run.yaml").read_text(encoding="utf-8")
    for form in (base64.b64encode(f"user:{key}".encode()).decode(), quote(key, safe="")):
        (little / "run.yaml").write_text(f"# {form}\n{text}", encoding="utf-8")
        with pytest.raises(RunFolderError, match="would hold the value of SOME_API_KEY"):
            bundle([little], tmp_path / "b.zip", tables=QUICK)


def test_home_folders_are_written_as_a_tilde(little: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/jane-doe")
    manifest = json.loads((little / "surface" / "manifest.json").read_text(encoding="utf-8"))
    manifest["environment"]["command"] = ["judge", "run", "/home/jane-doe/runs/demo"]
    (little / "surface" / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    path = bundle([little], tmp_path / "b.zip", tables=QUICK).path
    with zipfile.ZipFile(path) as archive:
        held = [name for name in archive.namelist() if b"jane-doe" in archive.read(name)]
        assert held == []
        shown = json.loads(archive.read(f"{ROOT}/runs/demo/surface/manifest.json"))
    assert shown["environment"]["command"] == ["judge", "run", "~/runs/demo"]
    assert check(path).problems == []


def test_without_texts_no_story_is_in_it_and_its_tables_are_derived_all_the_same(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with JournalReader(own / "surface" / "journal.sqlite") as journal:
        stories = list(journal.stories())
    path = bundle([own], tmp_path / "b.zip", texts=False, tables=QUICK).path
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path)
        everything = b"".join(archive.read(name) for name in archive.namelist())
    for story in stories:
        for text in (story.text, story.story_prompt, story.reference or story.text):
            assert text.encode() not in everything
    unpacked = tmp_path / ROOT / "runs" / "demo" / "surface"
    with closing(sqlite3.connect(unpacked / "journal.sqlite")) as db, db:
        rows = db.execute("SELECT text, words FROM texts_left_out ORDER BY position").fetchall()
    db.close()
    assert rows == [
        (f"sha256:{hashlib.sha256(story.text.encode()).hexdigest()}", len(story.text.split())) for story in stories
    ]
    found = check(path)
    assert found.problems == []
    assert found.queries == 0
    assert found.notes[0] == "runs/demo/surface: texts are left out, so its queries were not rendered again"
    # The judge's own rows are those of the whole run; the control's is undefined, and says why.
    tables = []
    for place in (own, unpacked):
        assert command("correlate", place, "--resamples", 20, "--format", "csv") == 0
        lines = capsys.readouterr().out.split("\n\n")[-1].splitlines()
        tables.append([row for row in csv.DictReader(lines) if row["judge"] == "surface"])
    assert len(tables[0]) == 14
    assert tables[0] == tables[1]
    assert command("status", unpacked, "--verify") == 0
    assert "no query can be rendered again" in capsys.readouterr().out
    assert command("run", unpacked, "--quiet", "--set", "repeats=4") == 1
    assert "no more requests can be made from it" in capsys.readouterr().err


def test_a_bundle_made_while_a_run_is_being_written_is_consistent(own: Path, tmp_path: Path) -> None:
    path = own / "surface" / "journal.sqlite"
    with lock(own / "surface"), closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        # Half of the answers are taken back and committed, the rest of the writer's work is not.
        db.execute("DELETE FROM responses WHERE repeat = 2")
        db.execute("DELETE FROM attempts WHERE repeat = 2")
        db.execute("BEGIN IMMEDIATE")
        db.execute("DELETE FROM responses WHERE repeat = 1")
        made = bundle([own], tmp_path / "b.zip", tables=QUICK)
        db.execute("ROLLBACK")
    db.close()
    assert made.notes == (
        "runs/demo/surface was being written: its journal is whole as of one moment, its manifest may be older",
    )
    assert made.rows == 2 * 576 + 288
    found = check(made.path)
    assert found.problems == []
    with zipfile.ZipFile(made.path) as archive:
        listed = json.loads(archive.read(f"{ROOT}/bundle.json"))
        assert not any(name.endswith(("-wal", "-shm", ".lock")) for name in archive.namelist())
    assert listed["runs"][0]["being_written"] is True


def test_a_writer_goes_on_beside_the_bundle(little: Path, tmp_path: Path) -> None:
    path = little / "surface" / "journal.sqlite"
    with JournalWriter(path) as writer:
        made = bundle([little], tmp_path / "b.zip", tables=QUICK)
        writer.set_meta({"afterwards": True})
    assert check(made.path).problems == []
    with JournalReader(path) as journal:
        assert journal.meta()["afterwards"] is True


def test_several_runs_batches_maps_and_audits_lie_where_commands_look(own: Path, run: Path, tmp_path: Path) -> None:
    (own / "surface" / "batches").mkdir()
    (own / "surface" / "batches" / "one.jsonl").write_text("{}\n", encoding="utf-8")
    (own / "surface" / "batches.json").write_text("{}", encoding="utf-8")
    assert command("audit", "sample", own, "-n", 4, "--quiet", "-o", own / "audit.sqlite") == 0
    with AuditStore.open(own / "audit.sqlite") as audit:
        audit.register("ann")
        audit.answer("ann", 1, {category.key: 0 for category in audit.categories})
    (own / "surface" / "derived").mkdir(exist_ok=True)
    (own / "surface" / "derived" / "explanations.json").write_text("{}", encoding="utf-8")
    made = bundle([own, run], tmp_path / "b.zip", tables=QUICK)
    with zipfile.ZipFile(made.path) as archive:
        names = {name.removeprefix(f"{ROOT}/") for name in archive.namelist()}
    assert {"runs/demo/audit.sqlite", "runs/demo/surface/derived/explanations.json"} <= names
    assert "tables/audit-demo.csv" in names
    assert "runs/demo-2/surface/journal.sqlite" in names
    assert not any("batches" in name for name in names)
    assert "demo/audit.sqlite holds annotators' names as they gave them" in made.notes
    found = check(made.path)
    assert found.problems == []
    # Tables of ratings have 4 further parts; an audit has a file for each of its tables, and their notes.
    audited = [name for name in names if name.startswith("tables/audit-demo")]
    assert {"tables/audit-demo-2.csv", "tables/audit-demo.csv.notes.txt"} <= set(audited)
    assert found.tables == len(OF_RATINGS) + 4 + len(audited)
    more = bundle([own], tmp_path / "c.zip", batches=True, tables=QUICK)
    with zipfile.ZipFile(more.path) as archive:
        assert f"{ROOT}/runs/demo/surface/batches/one.jsonl" in archive.namelist()
    none = bundle([own], tmp_path / "d.zip", texts=False, tables=QUICK)
    assert "demo/audit.sqlite is left out: it holds stories' texts" in none.notes


def test_imported_ratings_are_bundled_with_and_without_texts(studies: Path, tmp_path: Path) -> None:
    files = ("hanna/hanna_metric_scores_llm.csv", "hanna/hanna_llm_stories.csv")
    found = read_scores(*(studies / name for name in files))
    few = found.frame[(found.frame["source"] == "rater") | (found.frame["judge"] == "Beluga-13B")]
    folder = write_folder(tmp_path / "hanna-scores", replace(found, frame=few))
    whole = bundle([folder.path], tmp_path / "a.zip", tables=TableChoices(resamples=5))
    assert check(whole.path).problems == []
    bare = bundle([folder.path], tmp_path / "b.zip", texts=False, tables=TableChoices(resamples=5))
    with zipfile.ZipFile(bare.path) as archive:
        # Of so many ratings the story-prompts are kept with the stories.
        inside = archive.read("hanna-scores-bundle/runs/hanna-scores/imported_stories.csv").decode().splitlines()
        prompts = {row["story_prompt"] for row in csv.DictReader(inside)}
    assert len(prompts) == 96
    assert all(prompt.startswith("sha256:") for prompt in prompts)


def test_tables_are_equal_up_to_rounding_and_the_program_s_version(tmp_path: Path) -> None:
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    one.write_text("a,b\n0.123456789012345,x\n# crit:CH|v0.1.0\n", encoding="utf-8")
    other.write_text("a,b\n0.123456789012346,x\n# crit:CH|v0.2.0\n", encoding="utf-8")
    assert difference(one, other) is None
    other.write_text("a,b\n0.1234,x\n# crit:CH|v0.2.0\n", encoding="utf-8")
    assert difference(one, other) == "row 2, column 'a': '0.123456789012345' against '0.1234'"
    other.write_text("a,b\n", encoding="utf-8")
    assert difference(one, other) == "row 2: too many"


def test_a_run_without_results_and_a_place_that_cannot_be_written_get_a_sentence(run: Path, tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("name: x\n", encoding="utf-8")
    with pytest.raises(RunFolderError, match="has no results yet"):
        bundle([tmp_path], tmp_path / "b.zip")
    with pytest.raises(RunFolderError, match="cannot be written"):
        bundle([run], tmp_path / "nowhere" / "b.zip")


def test_the_folder_of_a_run_stays_as_it_is(little: Path, tmp_path: Path) -> None:
    result = ResultFolder(little / "surface")
    before = {path: path.read_bytes() for path in little.rglob("*") if path.is_file()}
    bundle([little], tmp_path / "b.zip", tables=QUICK)
    assert {path: path.read_bytes() for path in little.rglob("*") if path.is_file()} == before
    assert result.journal in before
