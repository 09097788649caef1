"""The index of a journal: a database with the parsed judgment of each repeat, which can always be rebuilt.

The journal stores no parsed ratings, and parsing 150,000 answers would take too long for a page. Rows are ordered by
story, criterion, Eval-Prompt and repeat, encoded in one number (the place), so that a page can start anywhere without
counting. An update reads only new attempts, unless the parser, the criteria or the journal changed. For a run that
compares stories, a row is a verdict: its place encodes the pair's number, with the two orders next to each other, and
its rating is 1 where the story shown first was preferred, -1 where the second was, and 0 for a tie."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from judge.answers.journal import JournalReader
from judge.answers.parsing import Parser
from judge.answers.parsing import parser as load_parser
from judge.answers.parsing.stored_answers import StoredAnswers, StoredVerdicts
from judge.answers.parsing.verdict import VERSION
from judge.asking.execution.verification import stored_plan
from judge.asking.run_folder import ResultFolder
from judge.base.errors import RunFolderError
from judge.base.fingerprint import fingerprint
from judge.base.records import STATUSES, VERDICT_STATUSES, Answer, Judgment
from judge.base.sqlite_file import closed_on_error, connect, use_wal

# People's preference within a pair of stories: their verdicts or, without these, implied by mean ratings.

_LEAD = {"first": 1, "second": -1, "tie": 0}
# Means of ratings are floats: two that are equal may differ in their last bits.
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Preferred:
    """People's preferences and mean ratings in one journal. `leads` is, by criterion and pair, people who prefer the
    first minus those who prefer the second. `means` is by (criterion, story id)."""

    leads: Mapping[str, Mapping[tuple[str, str], int]]
    means: Mapping[tuple[str, str], float]

    @classmethod
    def of(cls, journal: JournalReader) -> Preferred:
        leads: dict[str, dict[tuple[str, str], int]] = {}
        for pair in journal.preferences():
            for given in pair.preferences:
                by_pair = leads.setdefault(given.criterion, {})
                by_pair[pair.first, pair.second] = by_pair.get((pair.first, pair.second), 0) + _LEAD[given.value]
        return cls(leads, journal.mean_ratings())

    def lead(self, criterion: str, first: str, second: str) -> int | None:
        """1 where people prefer the first story, -1 the second, 0 neither; None where unknown."""
        if self.leads:
            by_pair = self.leads[named] if (named := beside(criterion, self.leads)) is not None else {}
            if not {(first, second), (second, first)} & by_pair.keys():
                return None
            return _sign(by_pair.get((first, second), 0) - by_pair.get((second, first), 0))
        means = self.implied(criterion, first, second)
        return None if means is None else _sign(means[0] - means[1])

    def implied(self, criterion: str, first: str, second: str) -> tuple[float, float] | None:
        """Mean ratings of both stories on a judge's criterion; None where one is missing."""
        named = beside(criterion, dict.fromkeys(name for name, _ in self.means))
        if named is None or not {(named, first), (named, second)} <= self.means.keys():
            return None
        return self.means[named, first], self.means[named, second]


def beside(criterion: str, names_there: Iterable[str]) -> str | None:
    """The human criterion of the same name, else the only one, else None."""
    names = list(names_there)
    same = [name for name in names if name.casefold() == criterion.casefold()]
    return same[0] if same else names[0] if len(names) == 1 else None


def _sign(value: float) -> int:
    return 0 if abs(value) < _SAME else 1 if value > 0 else -1


# Part of the index's identity: with a new number every older index is built again.
FORMAT = 2
# Attempts read and committed at a time.
BATCH = 4_000

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE names (kind TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (kind, number));
CREATE TABLE judgments (
    place INTEGER PRIMARY KEY, system INTEGER NOT NULL, criterion INTEGER NOT NULL, eval_prompt INTEGER NOT NULL,
    repeat INTEGER NOT NULL, status INTEGER NOT NULL, rating REAL, flags TEXT NOT NULL,
    other INTEGER,    -- of a verdict: the system of the story shown second
    agrees INTEGER    -- of a verdict: 1 as people prefer, 0 the other story; NULL where one of both prefers neither
);
CREATE TABLE texts (place INTEGER PRIMARY KEY, query_key TEXT NOT NULL, folded TEXT NOT NULL);
CREATE TABLE cells (
    criterion INTEGER NOT NULL, eval_prompt INTEGER NOT NULL, system INTEGER NOT NULL, status INTEGER NOT NULL,
    rating REAL, other INTEGER, agrees INTEGER, n INTEGER NOT NULL
);
CREATE TABLE people (criterion TEXT NOT NULL, value REAL NOT NULL, n INTEGER NOT NULL);
"""

# Bits below a story's position, a criterion's number, an Eval-Prompt's number; repeats end below 65,536.
#
# Of a verdict the highest bit of the repeat says that the pair is swapped.
_STORY, _CRITERION, _PROMPT, _SWAPPED = 32, 24, 16, 15

# A verdict's preference as the number of its row.
LEAD = {"first": 1.0, "tie": 0.0, "second": -1.0, None: None}


def place_of(story: int, criterion: int = 0, eval_prompt: int = 0, repeat: int = 0) -> int:
    """A judgment's place: story, criterion, Eval-Prompt and repeat in one number."""
    return story << _STORY | criterion << _CRITERION | eval_prompt << _PROMPT | repeat


def story_of(key: int) -> int:
    """The story's position (for verdicts, the pair's number) in a place."""
    return key >> _STORY


def update(folder: ResultFolder, file: Path) -> int:
    """Number of newly read judgments, with the index at `file` up to date. An index of another parser, journal or set
    of criteria is rebuilt. Raises RunFolderError where the journal cannot be read."""
    with JournalReader(folder.journal) as journal:
        definition = journal.meta().get("definition")
        if definition is None:
            raise RunFolderError(f"{folder.path} was stopped before its first request", hint="judge run it again")
        plan = stored_plan(definition, folder)
        parser = load_parser("ours")
        identity = identity_of(definition, parser, journal.created())
        with closing(_opened(file, identity)) as db:
            numbers = _numbers(db, journal, definition)
            if journal.compares:
                read = _verdicts(journal, definition, numbers)
            else:
                read = _ratings(StoredAnswers.of_run(parser, plan.criteria, definition, journal.text_of), numbers)
            return _follow(db, journal, read)


def identity_of(definition: Mapping[str, Any], parser: Parser, created: float | None) -> str:
    """Fingerprint of all on which parsed judgments depend; with another one the index must be rebuilt. It covers all
    criteria, since an added one changes how answers about others are parsed. `created` is the start of the first
    session."""
    kept: tuple[str, ...] = (
        "name",
        "dataset_hash",
        "criteria_records",
        "structured",
        "scoring",
        "judge_key",
        "rating_patterns",
        "ties",
    )
    kept += ("joint",) if "joint" in definition else ()
    return fingerprint([FORMAT, parser.version, VERSION, created, [definition.get(key) for key in kept]])


def _opened(file: Path, identity: str) -> sqlite3.Connection:
    # A broken file, or one of another identity, is replaced by an empty index.
    file.parent.mkdir(parents=True, exist_ok=True)
    db = _connected(file)
    try:
        identity_row = db.execute("SELECT value FROM meta WHERE key = 'identity'").fetchone()
    except sqlite3.DatabaseError:
        identity_row = None
    if identity_row is not None and identity_row[0] == identity:
        return db
    db.close()
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    with closed_on_error(_connected(file)) as db:
        db.executescript("BEGIN IMMEDIATE;" + TABLES)
        db.execute("INSERT INTO meta VALUES ('identity', ?), ('attempt', '0'), ('replaced', '0')", (identity,))
        db.execute("COMMIT")
        return db


def _connected(file: Path) -> sqlite3.Connection:
    db = connect(file, autocommit=True, wait=30)
    with suppress(sqlite3.DatabaseError):  # not a database: the caller finds no identity in it
        use_wal(db, "NORMAL")
    return db


class _Row(NamedTuple):
    """`other` numbers the second story's system; `agrees` with people, None = unknown or a tie."""

    place: int
    system: int
    criterion: int
    eval_prompt: int
    repeat: int
    status: int
    rating: float | None
    flags: list[str]
    other: int | None = None
    agrees: bool | None = None


# An answer's rows: one, or one for each criterion that it was asked about.
_Read = Callable[[Answer], list[_Row]]


class _Numbers:
    def __init__(
        self, stories: dict[str, tuple[int, int]], definition: Mapping[str, Any], statuses: Iterable[str]
    ) -> None:
        self.stories = stories
        self.criteria = {record["name"]: number for number, record in enumerate(definition["criteria_records"])}
        self.prompts = {name: number for number, name in enumerate(definition["eval_prompts"])}
        self.statuses = {name: number for number, name in enumerate(statuses)}


def _numbers(db: sqlite3.Connection, journal: JournalReader, definition: Mapping[str, Any]) -> _Numbers:
    systems: dict[str, int] = {}
    stories: dict[str, tuple[int, int]] = {}
    for position, story in enumerate(journal.stories(ratings=False)):
        stories[story.id] = (position, systems.setdefault(story.system, len(systems)))
    numbers = _Numbers(stories, definition, VERDICT_STATUSES if journal.compares else STATUSES)
    rows = [("system", number, name) for name, number in systems.items()]
    rows += [("criterion", number, name) for name, number in numbers.criteria.items()]
    rows += [("eval_prompt", number, name) for name, number in numbers.prompts.items()]
    rows += [("status", number, name) for name, number in numbers.statuses.items()]
    db.executemany("INSERT OR IGNORE INTO names VALUES (?, ?, ?)", rows)
    return numbers


def _ratings(reading: StoredAnswers, numbers: _Numbers) -> _Read:
    """Rows of an answer in a run that rates stories, one for each criterion."""

    def row(answer: Answer, name: str, judgment: Judgment) -> _Row:
        position, system = numbers.stories[answer.story]
        criterion, prompt = numbers.criteria[name], numbers.prompts[answer.eval_prompt]
        key = place_of(position, criterion, prompt, answer.repeat)
        status = numbers.statuses[judgment.status]
        return _Row(key, system, criterion, prompt, answer.repeat, status, judgment.rating, _named(judgment.flags))

    return lambda answer: [row(answer, *judged) for judged in reading.judgments(answer)]


def _verdicts(journal: JournalReader, definition: Mapping[str, Any], numbers: _Numbers) -> _Read:
    """The row of an answer in a run that compares stories."""
    compared = journal.comparisons()
    reading = StoredVerdicts.of_run(definition, compared, journal.text_of)
    people = Preferred.of(journal)
    orders: dict[tuple[str, str], tuple[int, int]] = {}
    for number, _, first, second in journal.planned_pairs():
        orders[first, second] = (number, int((second, first) in orders))

    def row(answer: Answer) -> _Row:
        verdict = reading.verdict(answer)
        second = compared[answer.query_key][1]
        number, swapped = orders[answer.story, second]
        criterion, prompt = numbers.criteria[answer.criterion], numbers.prompts[answer.eval_prompt]
        key = place_of(number, criterion, prompt, swapped << _SWAPPED | answer.repeat)
        lead = LEAD[verdict.preference]
        theirs = people.lead(answer.criterion, answer.story, second)
        return _Row(
            key,
            numbers.stories[answer.story][1],
            criterion,
            prompt,
            answer.repeat,
            numbers.statuses[verdict.status],
            lead,
            _named(verdict.flags),
            numbers.stories[second][1],
            lead * theirs > 0 if lead and theirs else None,
        )

    return lambda answer: [row(answer)]


def _named(flags: Iterable[str]) -> list[str]:
    return [flag.partition("=")[0] for flag in flags]


def _follow(db: sqlite3.Connection, journal: JournalReader, read: _Read) -> int:
    done = 0
    last = journal.last_attempt()
    meta = dict(db.execute("SELECT key, value FROM meta"))
    after = int(meta["attempt"])
    if after > last:
        raise RunFolderError(f"{journal.path} was exchanged while it was read", hint="load the page again")
    while after < last:
        upto = min(after + BATCH, last)
        answers = journal.answers_tried(after, upto)
        # The row of meta goes with the rows that it speaks of: a killed process leaves both or neither.
        db.execute("BEGIN IMMEDIATE")
        _insert(db, answers, read)
        db.execute("UPDATE meta SET value = ? WHERE key = 'attempt'", (str(upto),))
        if upto == last:
            _sum(db, journal)
        db.execute("COMMIT")
        done += len(answers)
        after = upto
    return done


def _insert(db: sqlite3.Connection, answers: Iterable[Answer], read: _Read) -> None:
    rows, texts, flags = [], [], set()
    for answer, row in [(source, row) for source in answers for row in read(source)]:
        flags.update(row.flags)
        rows.append((*row[:7], f";{';'.join(row.flags)};" if row.flags else "", row.other, row.agrees))
        text = answer.response.text if answer.response is not None else answer.error or ""
        texts.append((row.place, answer.query_key, text.casefold()))
    db.executemany("INSERT OR REPLACE INTO judgments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    db.executemany("INSERT OR REPLACE INTO texts VALUES (?, ?, ?)", texts)
    flag_names = {name for (name,) in db.execute("SELECT name FROM names WHERE kind = 'flag'")}
    new = sorted(flags - flag_names)
    db.executemany(
        "INSERT INTO names VALUES ('flag', ?, ?)", [(len(flag_names) + k, name) for k, name in enumerate(new)]
    )


def _sum(db: sqlite3.Connection, journal: JournalReader) -> None:
    # Pages then need not count.
    db.execute("DELETE FROM cells")
    db.execute(
        "INSERT INTO cells SELECT criterion, eval_prompt, system, status, round(rating, 6), other, agrees, count(*)"
        " FROM judgments GROUP BY 1, 2, 3, 4, 5, 6, 7"
    )
    if not db.execute("SELECT EXISTS (SELECT 1 FROM people)").fetchone()[0]:
        db.executemany("INSERT INTO people VALUES (?, ?, ?)", journal.rating_counts())
