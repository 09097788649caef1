"""Tables made of kept judgments are those made by parsing every answer, whatever became of the journal or the file."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge.answers.journal import JournalReader, standing
from judge.answers.journal.snapshot import leave_out_texts
from judge.answers.parsing import parser as load_parser
from judge.answers.parsing import stored_answers as sources
from judge.answers.parsing.ours.parser import Ours
from judge.answers.parsing.stored_answers import StoredAnswers
from judge.asking.execution.preparation import prepare
from judge.asking.plan import make_plan
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder, write_manifest
from judge.base.records import Criterion
from judge.ratings.ratings_table import COLUMNS, judgments, parsed_file, read
from judge.ratings.ratings_table import judgments as helpers

JOURNALS = Path(__file__).resolve().parent / "journals"
TEXTS = (
    "4",
    "Rating: 2\nExplanation: it follows “the lamp” closely.",
    '{"rating": 5, "explanation": "vivid"}',
    "4.5",
    "Between 3 and 4.",
    "I cannot rate this story.",
    "",
    "9",
    "The lamp said: Rating: 3",
    "1. Plot\n2. Voice",
    "Coherence: 2. Relevance: 4, for the most part.",
)
FINISH = ("stop", "length", None)
EVAL_PROMPTS = ("ep1", "ep2")
CRITERIA = ("Relevance", "Coherence")
STORIES = 5


@pytest.fixture(autouse=True)
def kept_from_the_first_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small journals in blocks of seven, whose times tell changes after a twentieth of a second."""
    monkeypatch.setattr(judgments, "LEAST", 0)
    monkeypatch.setattr(standing, "ROWS", 7)
    monkeypatch.setattr(judgments, "ROWS", 3)
    monkeypatch.setattr(standing, "_SETTLING", 30_000_000)


class Made:
    """A run whose journal is written by hand, as the program would write it."""

    def __init__(self, folder: Path, **changes: Any) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        stories = [
            {
                "id": f"s{n}",
                "story_prompt": f"P{n // 2}",
                "system": f"m{n % 2}",
                "text": f"Story {n}. The lamp said: Rating: 3. And so on.",
                "reference": None,
                "ratings": [
                    {"rater": r, "criterion": c, "value": 1 + n % 5}
                    for c in CRITERIA
                    for r in ("r1", "r2")[: 1 + n % 2]
                ],
            }
            for n in range(STORIES)
        ]
        (folder / "stories.jsonl").write_text("".join(json.dumps(story) + "\n" for story in stories))
        spec = {
            "name": "t",
            "dataset": "stories.jsonl",
            "judge": "openai/mock",
            "criteria": {"set": "hanna", "only": list(CRITERIA)},
            "eval_prompts": list(EVAL_PROMPTS),
            "repeats": 3,
            "generation": {"temperature": 1, "max_tokens": 64},
            **changes,
        }
        self.result = ResultFolder(folder / "mock")
        self.result.path.mkdir()
        prepare(make_plan(parse_run_spec(spec, "test"), folder=folder), folder, self.result)
        write_manifest(self.result.manifest, {"judge": "openai/mock", "in_force": {"repeats": 3}})
        self.write("PRAGMA journal_mode = DELETE")

    def write(self, sql: str, *values: Any) -> None:
        """One statement on the journal."""
        with closing(sqlite3.connect(self.result.journal)) as db, db:
            db.execute(sql, values)

    def ask(self, n: int, repeat: int, text: str | None, finish: str | None = "stop", logprobs: Any = None) -> None:
        """An attempt at the n-th query: answered, again if it was before, or failed (text None)."""
        story, rest = f"s{n // 4 % STORIES}", n % 4
        criterion, prompt = CRITERIA[rest // 2], EVAL_PROMPTS[rest % 2]
        key = "b2:" + hashlib.blake2b(f"{story}{criterion}{prompt}".encode(), digest_size=16).hexdigest()
        outcome = "answered" if text is not None else ("provider_error", "timeout", "filtered")[repeat % 3]
        with closing(sqlite3.connect(self.result.journal)) as db, db:
            flags = "story_cut" if n % 3 == 0 else ""
            db.execute("INSERT OR IGNORE INTO queries VALUES (?, ?, ?, ?, ?)", (key, story, criterion, prompt, flags))
            db.execute(
                "INSERT INTO attempts (query_key, repeat, outcome, final, started, seconds, session)"
                " VALUES (?, ?, ?, ?, 0, 1, 1)",
                (key, repeat, outcome, int(text is not None or n % 2)),
            )
            if text is not None:
                db.execute(
                    "INSERT INTO replaced SELECT * FROM responses WHERE query_key = ? AND repeat = ?", (key, repeat)
                )
                db.execute("DELETE FROM responses WHERE query_key = ? AND repeat = ?", (key, repeat))
                told = None if logprobs is None else json.dumps(logprobs)
                row = (key, repeat, text, finish, None, 9, 2, 0, told, "mock-1")
                db.execute("INSERT INTO responses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def fill(self, count: int = 60, seed: int = 1) -> Made:
        """Ask so many repeats, in a drawn order."""
        rng = random.Random(seed)
        for place in rng.sample(range(60), count):
            self.ask(place // 3, place % 3, rng.choice([*TEXTS, None]), rng.choice(FINISH))
        return self

    @property
    def file(self) -> Path:
        return self.result.parsed("ours")


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path / "run").fill()


def plain(result: ResultFolder, name: str = "ours") -> pd.DataFrame:
    """The table as it is made row by row, from nothing but the journal."""
    parser = load_parser(name)
    with JournalReader(result.journal) as journal:
        definition = journal.meta()["definition"]
        stories = {story.id: story for story in journal.stories()}
        criteria = [Criterion.of(record) for record in definition["criteria_records"]]
        reading = StoredAnswers.of_run(parser, criteria, definition, lambda story: stories[story].text)
        rows: list[tuple[Any, ...]] = []
        for answer in journal.answers():
            one, story = reading.judgment(answer), stories[answer.story]
            place = (definition["dataset_name"], story.id, story.story_prompt, story.system, answer.criterion)
            number = (answer.repeat, one.rating, one.status, ";".join(one.flags), one.explanation)
            judge = json.loads(result.manifest.read_text())["judge"]
            rows.append((definition["name"], judge, *place, answer.eval_prompt, "judge", None, *number))
        order = list(stories), [one.name for one in criteria], list(definition["eval_prompts"])
        rows.sort(key=lambda r: (order[0].index(r[3]), order[1].index(r[6]), order[2].index(r[7]), r[10]))
        for story in stories.values():
            place = (definition["dataset_name"], story.id, story.story_prompt, story.system)
            rows.extend(
                (definition["name"], None, *place, r.criterion, None, "rater", r.rater, None, r.value, "ok", "", None)
                for r in story.ratings
            )
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame["rating"] = frame["rating"].astype("float64")
    frame["repeat"] = frame["repeat"].astype("Int64")
    return frame


def check(result: ResultFolder, name: str = "ours") -> int:
    """With explanations the table is the plain one; without, it is when its categories are written out. Its rows."""
    whole = plain(result, name)
    table = read([result.path], name)
    pd.testing.assert_frame_equal(table.frame, whole)
    lean = read([result.path], name, explanations=False)
    as_text = lean.frame.astype(dict.fromkeys([c for c in COLUMNS if c not in ("repeat", "rating")], object))
    expected = whole.assign(explanation=None)
    for column in COLUMNS:
        ours, theirs = (f[column].astype(object).where(f[column].notna(), None).tolist() for f in (as_text, expected))
        assert ours == theirs, column
        levels = getattr(lean.frame[column].dtype, "categories", None)
        assert levels is None or list(levels) == sorted(set(expected[column].dropna()))
    given = read([result.path], name, explanations="given").frame
    assert given["explanation"].notna().tolist() == whole["explanation"].notna().tolist()
    assert set(given["explanation"].dropna()) <= {""}
    pd.testing.assert_frame_equal(given.drop(columns="explanation"), lean.frame.drop(columns="explanation"))
    never = read([result.path], name, keep=False)
    assert table.facts == lean.facts == never.facts
    pd.testing.assert_frame_equal(never.frame, whole)
    pd.testing.assert_frame_equal(table.stories, never.stories)
    return len(table.frame)


def rest() -> None:
    """Let so much time pass that the file's times tell the next change."""
    time.sleep(0.05)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The answers that our parser has read."""
    seen: list[str] = []
    parse = Ours.parse

    def noting(self: Ours, response: Any, *arguments: Any, **options: Any) -> Any:
        seen.append(response.text)
        return parse(self, response, *arguments, **options)

    monkeypatch.setattr(Ours, "parse", noting)
    return seen


STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("ask"),
            st.integers(0, 19),
            st.integers(0, 2),
            st.sampled_from([*TEXTS, None]),
            st.sampled_from(FINISH),
        ),
        st.tuples(st.just("save")),
        st.tuples(st.just("restore")),
        st.tuples(st.just("edit"), st.integers(0, 40), st.sampled_from(TEXTS)),
        st.tuples(st.just("vacuum")),
        st.tuples(st.just("story"), st.integers(0, STORIES - 1)),
        st.tuples(st.just("forget")),
        st.tuples(st.just("look")),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(steps=STEPS, name=st.sampled_from(["ours", "as-published"]), start=st.integers(0, 60))
def test_whatever_becomes_of_a_journal(
    steps: list[tuple[Any, ...]], name: str, start: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = Made(tmp_path_factory.mktemp("run") / "r").fill(start, seed=start)
    saved = made.folder / "saved.sqlite"
    shutil.copy2(made.result.journal, saved)
    for step, *words in [("look",), *steps, ("look",)]:
        if step == "ask":
            made.ask(*words)
        elif step == "save":
            shutil.copy2(made.result.journal, saved)
        elif step == "restore":
            shutil.copy2(saved, made.result.journal)
        elif step == "edit":
            made.write("UPDATE responses SET text = ? WHERE rowid = ?", words[1], words[0])
        elif step == "vacuum":
            vacuum(made.result.journal)
        elif step == "story":
            made.write("UPDATE stories SET text = text || '!' WHERE position = ?", words[0])
        elif step == "forget":
            made.result.parsed(name).unlink(missing_ok=True)
        rest()
        check(made.result, name)


def vacuum(path: Path) -> None:
    """Numbers of rows may change."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("VACUUM")


@pytest.mark.parametrize("changes", [{"structured": "json"}, {"structured": "choice"}, {"scoring": "logprobs"}])
@pytest.mark.parametrize("name", ["ours", "as-published"])
def test_every_way_of_asking(changes: dict[str, Any], name: str, tmp_path: Path) -> None:
    made = Made(tmp_path / "run", **changes)
    tokens = [{"token": "4", "logprob": -0.4, "top_logprobs": [{"token": "3", "logprob": -1.2}]}]
    for n in range(20):
        made.ask(n, 0, "4", logprobs={"content": tokens})
        tokens[0]["logprob"] = -0.4 - n / 50
    made.fill(30)
    rest()
    for _ in range(2):
        assert check(made.result, name)


def test_a_rating_pattern_is_part_of_what_is_kept(made: Made) -> None:
    rest()
    assert check(made.result)
    with JournalReader(made.result.journal) as journal:
        definition = journal.meta()["definition"]
    definition["rating_patterns"] = {"ep1": r"Rating: (\d)"}
    made.write("UPDATE meta SET value = ? WHERE key = 'definition'", json.dumps(definition))
    rest()
    assert check(made.result)


@pytest.mark.parametrize("old", sorted(JOURNALS.glob("*.sqlite")), ids=lambda path: path.stem)
@pytest.mark.parametrize("name", ["ours", "as-published"])
def test_journals_of_every_format(old: Path, name: str, tmp_path: Path) -> None:
    result = ResultFolder(tmp_path)
    shutil.copy(old, result.journal)
    shutil.copy(old.with_suffix(".manifest.json"), result.manifest)
    for _ in range(2):
        rest()
        assert check(result, name)
    assert result.parsed(name).is_file()


def test_a_journal_without_texts(made: Made) -> None:
    rest()
    assert check(made.result)
    leave_out_texts(made.result.journal)
    rest()
    assert check(made.result)


def test_nothing_is_parsed_twice(made: Made, parsed: list[str]) -> None:
    rest()
    first = read([made.result.path])
    assert len(parsed) == 60 - int((first.frame["status"].isin(["not_answered", "filtered"])).sum())
    parsed.clear()
    for explanations in (False, True):
        read([made.result.path], explanations=explanations)
    assert parsed == []
    made.ask(0, 0, "Rating: 5")
    made.ask(7, 1, "Rating: 1")
    rest()
    for _ in range(2):
        check_same = read([made.result.path])
        assert parsed == ["Rating: 5", "Rating: 1"]
    pd.testing.assert_frame_equal(check_same.frame, plain(made.result))


def test_the_answers_are_not_even_read_where_nobody_wrote(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    rest()
    whole = read([made.result.path])
    monkeypatch.setattr(JournalReader, "block", None)
    monkeypatch.setattr(JournalReader, "answers", None)
    pd.testing.assert_frame_equal(read([made.result.path]).frame, whole.frame)


def test_a_copy_is_read_with_what_is_kept_beside_it(made: Made, parsed: list[str], tmp_path: Path) -> None:
    rest()
    read([made.result.path])
    shutil.copytree(made.result.path, tmp_path / "copy")
    parsed.clear()
    rest()
    again = read([tmp_path / "copy"])
    assert parsed == []
    pd.testing.assert_frame_equal(again.frame, plain(made.result))


def test_another_journal_in_its_place_brings_its_own_judgments(made: Made, tmp_path: Path) -> None:
    rest()
    assert check(made.result)
    other = Made(tmp_path / "other").fill(seed=9)
    # As large, as old and with as many rows: only its content differs.
    shutil.copy2(other.result.journal, made.result.journal)
    rest()
    assert check(made.result)


def test_an_edit_that_leaves_size_and_time_is_seen(made: Made) -> None:
    rest()
    assert check(made.result)
    before = made.result.journal.stat()
    made.write("UPDATE responses SET text = '2' WHERE text = '4'")
    os.utime(made.result.journal, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert made.result.journal.stat().st_size == before.st_size
    rest()
    assert check(made.result)


def test_a_journal_that_was_just_written_is_looked_through(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "_SETTLING", 3_600_000_000_000)
    assert check(made.result)
    with closing(sqlite3.connect(made.file)) as db:
        assert db.execute("SELECT count(*) FROM states").fetchone() == (0,)
    made.write("UPDATE responses SET text = '2' WHERE text = '4'")
    assert check(made.result)


def test_a_table_beside_a_writer(made: Made) -> None:
    made.write("PRAGMA journal_mode = WAL")
    with closing(sqlite3.connect(made.result.journal)) as writer:
        for text in ("Rating: 1", "Rating: 5"):
            with writer:
                writer.execute("UPDATE responses SET text = ? WHERE rowid = 3", (text,))
            for _ in range(2):
                rest()
                assert check(made.result)


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM attempts WHERE id = (SELECT max(id) FROM attempts WHERE outcome = 'answered')",
        "DELETE FROM responses WHERE rowid = 3",
        "DELETE FROM queries WHERE story = 's1'",
        "UPDATE responses SET rowid = -rowid WHERE rowid = 4",
        "UPDATE responses SET rowid = 1 << 60 WHERE rowid = 4",
        "UPDATE queries SET criterion = 'Coherence' WHERE story = 's2'",
    ],
)
def test_a_journal_that_somebody_else_changed(made: Made, sql: str) -> None:
    rest()
    assert check(made.result)
    made.write(sql)
    for _ in range(2):
        rest()
        assert check(made.result)


def test_an_edited_parser_never_reads_old_judgments(
    made: Made, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rest()
    read([made.result.path])
    count = len(parsed)
    monkeypatch.setattr(judgments, "code_of", lambda _: "another")
    read([made.result.path])
    assert len(parsed) == 2 * count
    with closing(sqlite3.connect(made.file)) as db:
        assert len(db.execute("SELECT DISTINCT identity FROM blocks").fetchall()) == 1


def test_the_code_of_parsers(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, published = sources.code_of("ours"), sources.code_of("as-published")
    assert ours is not None
    assert ours != published is not None
    assert sources.code_of("nobody's") is None
    sources._our_code.cache_clear()
    monkeypatch.setattr(sources, "LOADED", 0.0)
    # Sources that were edited after they were imported are not what this process runs.
    assert sources.code_of("ours") is None
    sources._our_code.cache_clear()


@pytest.mark.parametrize(
    ("version", "origin", "told"),
    [("1.2", None, True), ("", None, False), ("1.2", '{"dir_info": {"editable": true}}', False), ("1.2", "{}", True)],
)
def test_third_parties_are_known_by_their_version(
    version: str, origin: str | None, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Package:
        name = "theirs"

        def __init__(self) -> None:
            self.version = version

        def read_text(self, _: str) -> str | None:
            return origin

    class Entry:
        name, value, dist = "theirs", "theirs:load", Package()

    monkeypatch.setattr(sources, "entry_points", lambda group: [Entry()])
    assert (sources.code_of("theirs") is not None) is told


def broken(file: Path, how: str) -> None:
    data = file.read_bytes()
    file.write_bytes(
        {"empty": b"", "no database": b"x" * 5000, "cut": data[: len(data) * 2 // 3], "short": data[:50]}[how]
    )


@pytest.mark.parametrize("how", ["empty", "no database", "cut", "short"])
def test_a_broken_file_is_made_anew(made: Made, parsed: list[str], how: str) -> None:
    rest()
    read([made.result.path])
    broken(made.file, how)
    assert check(made.result)
    read([made.result.path])
    parsed.clear()
    read([made.result.path])
    assert parsed == []


def test_flipped_bytes_are_found(made: Made) -> None:
    rest()
    read([made.result.path])
    data = made.file.read_bytes()
    whole, facts = plain(made.result), read([made.result.path], keep=False).facts
    rng = random.Random(5)
    for _ in range(30):
        place = rng.randrange(len(data))
        made.file.write_bytes(data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :])
        table = read([made.result.path])
        pd.testing.assert_frame_equal(table.frame, whole)
        assert table.facts == facts


def test_values_of_another_kind_are_found(made: Made) -> None:
    rest()
    read([made.result.path])
    data = made.file.read_bytes()
    whole = plain(made.result)
    columns = {"blocks": "count checksum names columns explained known contents", "explanations": "texts"}
    for table, names in (*columns.items(), ("states", "state checksum settled")):
        for name in names.split():
            for value in ("'x'", "zeroblob(3)"):
                made.file.write_bytes(data)
                with closing(sqlite3.connect(made.file)) as db, db:
                    db.execute(f"UPDATE {table} SET {name} = {value}")
                pd.testing.assert_frame_equal(read([made.result.path]).frame, whole)
                made.ask(1, 1, "Rating: 2")
                pd.testing.assert_frame_equal(read([made.result.path]).frame, plain(made.result))
                made.ask(1, 1, "4")
                whole = plain(made.result)


def test_a_folder_that_cannot_be_written(made: Made, capfd: pytest.CaptureFixture[str]) -> None:
    made.result.derived.write_text("in the way")
    rest()
    assert check(made.result)
    assert made.result.derived.read_text() == "in the way"
    assert capfd.readouterr() == ("", "")


def test_a_file_that_cannot_be_written_is_read(made: Made, monkeypatch: pytest.MonkeyPatch, parsed: list[str]) -> None:
    rest()
    read([made.result.path])
    connect = sqlite3.connect

    def reading(path: Any, *arguments: Any, **options: Any) -> Any:
        if str(path).endswith("parsed-ours.sqlite"):
            return connect(f"{path.resolve().as_uri()}?mode=ro", *arguments, uri=True, **options)
        return connect(path, *arguments, **options)

    monkeypatch.setattr(sqlite3, "connect", reading)
    data = made.file.read_bytes()
    parsed.clear()
    read([made.result.path])
    assert parsed == []
    made.ask(0, 0, "Rating: 5")
    rest()
    again = read([made.result.path])
    assert parsed == ["Rating: 5"]
    pd.testing.assert_frame_equal(again.frame, plain(made.result))
    assert made.file.read_bytes() == data


def test_a_full_disk(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed_file, "_TABLES", "PRAGMA max_page_count = 9;" + parsed_file._TABLES)
    rest()
    for _ in range(2):
        assert check(made.result)
    monkeypatch.undo()
    assert check(made.result)


_READ = """
import sys, os, signal
from judge.ratings.ratings_table import judgments, parsed_file, read
from judge.answers.journal import standing
judgments.LEAST, standing.ROWS = 0, 7
put, left = parsed_file.ParsedFile.put, [int(sys.argv[2])]
def dying(self, *words):
    left[0] -= 1
    if left[0] == 0:
        self._db.execute("PRAGMA cache_spill = 1")
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute("DELETE FROM blocks WHERE number = 0")
        os.kill(os.getpid(), signal.SIGKILL)
    return put(self, *words)
parsed_file.ParsedFile.put = dying
frame = read([sys.argv[1]]).frame
print(frame.to_csv())
"""


def reader(made: Made, dies: int = -1) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", _READ, str(made.result.path), str(dies)]
    root = {"PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, **root})


@pytest.mark.skipif(sys.platform == "win32", reason="has no kill -9")
def test_a_kill_in_the_middle(made: Made) -> None:
    rest()
    for dies in (1, 4):
        made.file.unlink(missing_ok=True)
        with reader(made, dies) as process:
            process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert check(made.result)


def test_several_processes_at_once(made: Made) -> None:
    rest()
    whole = plain(made.result).to_csv()
    running = [reader(made) for _ in range(2)]
    for process in running:
        with process:
            assert process.communicate()[0].strip() == whole.strip()
    assert check(made.result)


def many(tmp_path: Path) -> Made:
    made = Made(tmp_path / "many").fill()
    rest()
    return made


def test_others_parse_their_shares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judgments, "LONG", 10)
    monkeypatch.setattr(standing, "ROWS", 16_384 // 1024)
    monkeypatch.setattr(helpers, "_cores", lambda: 3)
    # The others have blocks of their own size: what they keep does not fit, and is made again.
    made = many(tmp_path)
    told: list[int] = []
    read([made.result.path], telling=lambda total: nullcontext(told.append))
    assert told
    assert check(made.result)


@pytest.mark.parametrize("executable", ["/no/such/python", sys.executable])
def test_whether_others_work_is_no_matter(tmp_path: Path, executable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judgments, "LONG", 10)
    monkeypatch.setattr(helpers, "_cores", lambda: 2)
    monkeypatch.setattr(helpers, "_CODE", "raise SystemExit(1)")
    monkeypatch.setattr(sys, "executable", executable)
    made = many(tmp_path)
    assert check(made.result)


def test_small_runs_and_those_who_ask_for_it_keep_nothing(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    read([made.result.path], keep=False)
    monkeypatch.setattr(judgments, "LEAST", 1_000)
    read([made.result.path])
    assert not made.result.derived.exists()
