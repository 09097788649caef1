"""Queries on the index of judgments: pages of judgments that pass filters, and counts."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judge.answers.journal import JournalReader
from judge.answers.journal.database import sentences
from judge.answers.parsing import parser as load_parser
from judge.answers.parsing.stored_answers import StoredAnswers
from judge.asking.execution.verification import stored_plan
from judge.asking.plan import Plan, WritingPlan
from judge.asking.run_folder import ResultFolder, read_manifest
from judge.base.errors import TELLS_INTACT, JudgeError, RunFolderError
from judge.base.fingerprint import fingerprint
from judge.base.records import Answer, Query, Scale, Story, joint_name
from judge.base.sqlite_file import reading
from judge.show.web.view.index import place_of, story_of

# Access to the journal of a result folder and to the plan that it stores, so that queries can be rendered again and
# answers parsed.

# Plans hold compiled templates: the oldest goes, so that the memory of a server that runs for days stays bounded.
_KEPT = 64


@dataclass(frozen=True, slots=True)
class Asked:
    """Definition of a run in its journal; `reading` is the parser of answers."""

    definition: dict[str, Any]
    manifest: dict[str, Any]
    plan: Plan
    reading: StoredAnswers
    repeats: int
    texts_left_out: bool = False

    @property
    def judge(self) -> str:
        """The judge as in run.yaml."""
        return str(self.manifest.get("judge", "?"))

    @property
    def criteria(self) -> list[str]:
        """Criteria in the definition's order."""
        return [criterion.name for criterion in self.plan.criteria]

    @property
    def scales(self) -> dict[str, Scale]:
        """Rating scales by criterion."""
        return {criterion.name: criterion.scale for criterion in self.plan.criteria}

    @property
    def eval_prompts(self) -> list[str]:
        """Eval-Prompts in the definition's order."""
        return [prompt.name for prompt in self.plan.eval_prompts]

    @property
    def raters(self) -> str:
        """ "people", or "labels" if no person gave the ratings beside the judge's."""
        return "labels" if self.definition.get("labels_note") else "people"

    @property
    def people(self) -> dict[str, str]:
        """Human criterion by judge's criterion, where the definition names one."""
        return dict(self.definition.get("people") or {})

    def query(self, story: Story, criterion: str, eval_prompt: str) -> Query | None:
        """The query as sent, rendered again; None where it was not sent (e.g. the reference story is missing). For an
        Eval-Prompt that rates several criteria in one answer, it is the query that includes this criterion."""
        prompt = next((entry for entry in self.plan.eval_prompts if entry.name == eval_prompt), None)
        if prompt is None:
            return None
        places = ((entry if isinstance(entry, tuple) else (entry,), entry) for entry in self.plan.asked_by(prompt))
        asked = next((entry for criteria, entry in places if criterion in [own.name for own in criteria]), None)
        if asked is None:
            return None
        try:
            return self.plan.query(story, prompt, asked)
        except JudgeError:
            return None


@dataclass(frozen=True, slots=True)
class Stored:
    """An open journal, and the run's definition in it."""

    journal: JournalReader
    asked: Asked

    def answers(self, story: Story, criterion: str, eval_prompt: str) -> list[Answer]:
        """Answers to one query, of all repeats tried; those about several criteria as about this one."""
        together = self.asked.reading.joint.get(eval_prompt)
        if together is not None and criterion not in together:
            return []
        if self.asked.texts_left_out:  # rendered without its text, a query has another key: those of the journal hold
            name = criterion if together is None else joint_name(together)
            key = self.journal.key_of(story.id, name, eval_prompt)
        else:
            query = self.asked.query(story, criterion, eval_prompt)
            key = None if query is None else query.key
        answers = [] if key is None else self.journal.answers_to(key)
        return answers if together is None else [replace(answer, criterion=criterion) for answer in answers]


_plans: dict[Path, tuple[str, Plan, StoredAnswers]] = {}
_lock = threading.Lock()


@contextmanager
def stored(folder: ResultFolder) -> Iterator[Stored]:
    """Context with a result folder's journal, with errors for users of the pages. Raises RunFolderError for a folder
    without a journal, or whose run was stopped before its first request."""
    if not folder.journal.is_file():
        raise RunFolderError(
            f"{folder.path.name} holds imported ratings: there are no answers to show",
            hint="its tables are on the run's page; judge ratings RUN prints the rows",
        )
    with sentences(folder.journal), JournalReader(folder.journal) as journal:
        yield Stored(journal, asked(folder, journal))


def asked(folder: ResultFolder, journal: JournalReader) -> Asked:
    """The run's definition; compiled templates are cached. Raises RunFolderError for a run that was stopped before its
    first request."""
    definition = journal.meta().get("definition")
    if definition is None:
        raise RunFolderError(f"{folder.path} was stopped before its first request", hint="judge run it again")
    manifest = read_manifest(folder.manifest)
    word = fingerprint([definition, manifest.get("asked")])
    with _lock:
        kept = _plans.get(folder.path)
        if kept is None or kept[0] != word:
            if len(_plans) >= _KEPT:
                _plans.pop(next(iter(_plans)))
            try:
                plan = stored_plan(definition, folder)
            except (KeyError, TypeError) as error:
                raise RunFolderError(
                    f"{folder.manifest} does not record what was requested ({error})",
                    hint=TELLS_INTACT,
                ) from error
            if isinstance(plan, WritingPlan):
                raise RunFolderError(
                    f"{folder.path} holds stories that were written, and no judgments",
                    hint="judge data stories GEN reports what became of them",
                )
            reading = StoredAnswers.of_run(load_parser("ours"), plan.criteria, definition)
            kept = _plans[folder.path] = (word, plan, reading)
    repeats = int(manifest.get("in_force", {}).get("repeats") or 1)
    return Asked(
        definition, manifest, kept[1], kept[2].with_texts(journal.text_of), repeats, bool(journal.words_left_out())
    )


PAGE = 40
# Rows whose text is looked through before the clock is looked at.
_SCAN = 4_000

# Seconds that one request looks through texts; then the page offers to go on.
_BUDGET = 0.12

_BEGIN, _END = -1, 1 << 62
AGREES = {"agrees": 1, "differs": 0}


# The filters that are words.
WORDS = ("criterion", "eval_prompt", "system", "status", "flag", "text", "people")


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters of judgments; None and "" do not filter, an unknown name matches nothing. `rating` is a whole point and
    matches ratings that round to it (halves up); for verdicts 1 is the story shown first, -1 the second, 0 a tie.
    `people` is for verdicts: "agrees" or "differs"."""

    criterion: str = ""
    eval_prompt: str = ""
    system: str = ""
    status: str = ""
    flag: str = ""
    text: str = ""
    people: str = ""
    rating: float | None = None

    def words(self) -> dict[str, str]:
        """The set filters as parameters of an address."""
        plain = {key: getattr(self, key) for key in WORDS}
        if self.rating is not None:
            plain["rating"] = f"{self.rating:g}"
        return {key: value for key, value in plain.items() if value}


@dataclass(frozen=True, slots=True)
class Row:
    """One judgment without the answer's text; `place` is its position in reading order. For a verdict, `other` is the
    second story's system, and `agrees` with people (None = unknown or a tie)."""

    place: int
    story: int
    system: str
    criterion: str
    eval_prompt: str
    repeat: int
    status: str
    rating: float | None
    flags: tuple[str, ...]
    query_key: str
    other: str | None = None
    agrees: bool | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """One page in reading order, between the places `before` and `after`, None where there is no such page. `searched`
    is the place where the time limit stopped the search for texts, or None."""

    rows: list[Row]
    before: int | None
    after: int | None
    searched: int | None = None


class Judgments:
    """One index of judgments, opened for reading."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.names: dict[str, dict[int, str]] = defaultdict(dict)
        for kind, number, name in db.execute("SELECT kind, number, name FROM names ORDER BY kind, number"):
            self.names[kind][number] = name
        meta = dict(db.execute("SELECT key, value FROM meta"))
        self.attempt = int(meta["attempt"])
        self.identity = str(meta["identity"])

    def number(self, kind: str, name: str) -> int:
        """Number of a name of this kind (such as "criterion") in the index; -1, which matches nothing, if unknown."""
        return next((number for number, own in self.names[kind].items() if own == name), -1)

    def page(self, filters: Filters, *, after: int = _BEGIN, before: int | None = None, size: int = PAGE) -> Page:
        """The next `size` judgments after `after` or, with `before`, the last ones before it."""
        where, values = self._where(filters)
        if filters.text:
            rows_read, searched = self._scan(where, values, filters.text, after, before, size)
        else:
            rows_read, searched = self._keyset(where, values, after, before, size), None
        more = len(rows_read) > size
        rows_read = rows_read[:size]
        if before is not None:
            rows_read.reverse()
        rows = [self._row(row) for row in rows_read]
        if before is not None:
            back = rows[0].place if rows and more else None
            return Page(rows, back, rows[-1].place if rows else before - 1, searched)
        forth = rows[-1].place if rows and more else None
        return Page(rows, rows[0].place if rows and after != _BEGIN else None, forth, searched)

    def _where(self, filters: Filters) -> tuple[str, list[Any]]:
        parts: list[str] = []
        values: list[Any] = []
        for kind in ("criterion", "eval_prompt", "status"):
            if name := getattr(filters, kind):
                parts.append(f"j.{kind} = ?")
                values.append(self.number(kind, name))
        if filters.system:
            parts.append("? IN (j.system, j.other)")
            values.append(self.number("system", filters.system))
        if filters.people:
            parts.append("j.agrees = ?")
            values.append(AGREES.get(filters.people, -1))
        if filters.flag:
            parts.append("instr(j.flags, ?)")
            values.append(f";{filters.flag};")
        if filters.rating is not None:
            parts.append("j.rating >= ? AND j.rating < ?")
            values += [filters.rating - 0.5, filters.rating + 0.5]
        return "".join(f" AND {part}" for part in parts), values

    def _keyset(self, where: str, values: Sequence[Any], after: int, before: int | None, size: int) -> list[Any]:
        edge, order = ("j.place > ?", "") if before is None else ("j.place < ?", " DESC")
        sql = (
            "SELECT j.*, t.query_key FROM judgments j JOIN texts t ON t.place = j.place"  # noqa: S608  our own words
            f" WHERE {edge}{where} ORDER BY j.place{order} LIMIT ?"
        )
        return self._db.execute(sql, (after if before is None else before, *values, size + 1)).fetchall()

    def _scan(
        self, where: str, values: Sequence[Any], text: str, after: int, before: int | None, size: int
    ) -> tuple[list[Any], int | None]:
        """Rows with `text`, searched in batches up to the time limit, and the place where this stopped it, or None."""
        began, folded = time.monotonic(), text.casefold()
        edge, order = (after, "") if before is None else (before, " DESC")
        step = "t.place > ?" if before is None else "t.place < ?"
        bound = f"SELECT place FROM texts t WHERE {step} ORDER BY place{order} LIMIT 1 OFFSET {_SCAN}"  # noqa: S608
        inside = "t.place > ? AND t.place <= ?" if before is None else "t.place < ? AND t.place >= ?"
        sql = (
            "SELECT j.*, t.query_key FROM texts t JOIN judgments j ON j.place = t.place"  # noqa: S608  our own words
            f" WHERE {inside} AND instr(t.folded, ?){where} ORDER BY t.place{order} LIMIT ?"
        )
        rows_read: list[Any] = []
        while True:
            row = self._db.execute(bound, (edge,)).fetchone()
            end = row[0] if row else (_END if before is None else _BEGIN)
            rows_read += self._db.execute(sql, (edge, end, folded, *values, size + 1 - len(rows_read))).fetchall()
            if len(rows_read) > size or row is None:
                return rows_read, None
            edge = end
            if time.monotonic() - began > _BUDGET:
                return rows_read, edge

    def _row(self, row: Sequence[Any]) -> Row:
        key_number, system, criterion, prompt, repeat, status, rating, flags, other, agrees, key = row
        names = self.names
        return Row(
            key_number,
            story_of(key_number),
            names["system"][system],
            names["criterion"][criterion],
            names["eval_prompt"][prompt],
            repeat,
            names["status"][status],
            rating,
            tuple(flag for flag in flags.split(";") if flag),
            key,
            None if other is None else names["system"][other],
            None if agrees is None else bool(agrees),
        )

    def cells(self) -> list[tuple[str, str, str, float | None, int]]:
        """(criterion, Eval-Prompt, status, rating, count), summed over systems."""
        sql = "SELECT criterion, eval_prompt, status, rating, sum(n) FROM cells GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
        names = self.names
        return [
            (names["criterion"][c], names["eval_prompt"][e], names["status"][s], rating, n)
            for c, e, s, rating, n in self._db.execute(sql)
        ]

    def agreed(self) -> dict[tuple[str, str], tuple[int, int]]:
        """By (criterion, Eval-Prompt), verdicts that agree with people, of those where both prefer a story."""
        sql = "SELECT criterion, eval_prompt, sum(agrees * n), sum(n) FROM cells WHERE agrees IS NOT NULL GROUP BY 1, 2"
        names = self.names
        return {(names["criterion"][c], names["eval_prompt"][e]): (own, n) for c, e, own, n in self._db.execute(sql)}

    def wins(self, criterion: str) -> dict[tuple[str, str], float]:
        """Verdicts for the first of each pair of systems; ties count one half."""
        sql = (
            "SELECT system, other, rating, sum(n) FROM cells WHERE criterion = ? AND rating IS NOT NULL"
            " AND system != other GROUP BY 1, 2, 3"
        )
        names = self.names["system"]
        shares: dict[tuple[str, str], float] = defaultdict(float)
        for first, second, lead, n in self._db.execute(sql, (self.number("criterion", criterion),)):
            shares[names[first], names[second]] += n * (1 + lead) / 2
            shares[names[second], names[first]] += n * (1 - lead) / 2
        return dict(shares)

    def people(self) -> list[tuple[str, float, int]]:
        """People's ratings as (criterion, rating, count)."""
        return self._db.execute("SELECT criterion, value, n FROM people").fetchall()

    def means(self, first: int, last: int) -> Mapping[int, Mapping[str, tuple[float | None, int, int]]]:
        """By position and criterion: mean (None without a rating), repeats with a rating, repeats tried."""
        means_by_story: dict[int, dict[str, tuple[float | None, int, int]]] = defaultdict(dict)
        sql = (
            "SELECT place >> 32, criterion, avg(rating), count(rating), count(*) FROM judgments"
            " WHERE place >= ? AND place < ? GROUP BY 1, 2"
        )
        for story, criterion, mean, rated, tried in self._db.execute(sql, (place_of(first), place_of(last + 1))):
            means_by_story[story][self.names["criterion"][criterion]] = (mean, rated, tried)
        return means_by_story

    def total(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM judgments").fetchone()[0])


def judgments(file: Path) -> AbstractContextManager[Judgments | None]:
    """Context with the index at `file`; None where there is no readable one yet."""
    return reading(file, Judgments)
