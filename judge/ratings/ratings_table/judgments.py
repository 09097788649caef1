"""Judgments of a journal's answers, block by block: from the cache or parsed. A cached one is valid for exactly the
same content, in whatever copy, so that a journal is parsed only where it grew; one not written since the last pass is
not read at all."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from judge.answers.journal import JournalReader
from judge.answers.journal.standing import EVAL_PROMPT, ROWS, answer, content
from judge.answers.parsing import PARSERS, Parser
from judge.answers.parsing import parser as load_parser
from judge.answers.parsing.stored_answers import StoredAnswers, code_of
from judge.asking.run_folder import ResultFolder
from judge.base.fingerprint import canonical, fingerprint, fingerprint_bytes
from judge.base.records import Criterion
from judge.ratings.ratings_table.columns import Explanations, RunFacts
from judge.ratings.ratings_table.parsed_file import FORMAT, Block, Blocks, Judged, ParsedFile, judged

# Helper processes that parse shares of a long journal in parallel.

# Seconds without a block after which nobody waits for others any more.
_STALLED = 60.0

_PAUSE = 0.05

# With our own path of imports: the folder that we work in is not to be searched for modules.
_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from judge.ratings.ratings_table.judgments import main; main()"
)


class Helpers:
    """Context manager with one helper process fewer than processor cores, which parse shares of a folder's blocks."""

    def __init__(self, folder: Path, parser: str, identity: str) -> None:
        self._words = [str(folder), parser, identity]
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def shares(self) -> int:
        """Number of shares of the blocks, one for each process; the calling process takes the first."""
        return 1 + len(self._processes)

    def __enter__(self) -> Helpers:
        others = _cores() - 1 if sys.executable and not getattr(sys, "frozen", False) else 0
        path = orjson.dumps(sys.path).decode()
        nobody = subprocess.DEVNULL
        for share in range(1, others + 1):
            words = [
                sys.executable,
                "-P",
                "-c",
                _CODE,
                path,
                *self._words,
                str(share),
                str(others + 1),
                str(os.getpid()),
            ]
            try:
                self._processes.append(subprocess.Popen(words, stdin=nobody, stdout=nobody, stderr=nobody))
            except OSError:
                break
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
        self._processes = []

    def wait(self, count: Callable[[], int], tell: Callable[[int], object]) -> None:
        """Wait until all processes have ended, or `count` (answers stored) has not changed for 60 seconds; `tell` gets
        each new number."""
        before, since = -1, time.monotonic()
        while any(process.poll() is None for process in self._processes):
            now = count()
            if now != before:
                before, since = now, time.monotonic()
                tell(now)
            if time.monotonic() - since > _STALLED:
                return
            time.sleep(_PAUSE)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# Answers from which on judgments are kept: fewer are parsed while a file would be opened.
LEAST = 1_000

# Answers to parse from which on it is told how far that is, and other processes help.
LONG = 20_000

# Given how many answers are to be read: for as long as that takes, what is to be called with how many are.
Telling = Callable[[int], AbstractContextManager[Callable[[int], object]]]


# Told of each journal while what is read of it is of one moment.
Beside = Callable[[JournalReader, RunFacts], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """Options for reading a journal, as those of `ratings_table.read`; `name` is the parser's. With `spill`, rows come
    part by part, sorted through a temporary file beside this path."""

    name: str
    parser: Parser
    explanations: Explanations
    keep: bool
    telling: Telling
    beside: Beside | None = None
    stated: bool = False
    spill: Path | None = None


class UnusualError(Exception):
    """Raised for rows that this version never writes; the journal is then read one repeat at a time, not in blocks."""


def identity_of(
    parser: str, version: str, definition: Mapping[str, Any], texts: Iterable[tuple[str, str]]
) -> str | None:
    """Hash of what determines judgments besides answers: parser code, definition, stories (ids and texts). None if the
    code cannot be hashed."""
    code = code_of(parser)
    if code is None:
        return None
    read = [definition.get(key) for key in ("criteria_records", "structured", "scoring", "rating_patterns")]
    # Only where there is one, so that what was kept of other runs stays.
    read += [definition["joint"]] if "joint" in definition else []
    return fingerprint([FORMAT, code, version, read, fingerprint_bytes(canonical(list(text)) for text in texts)])


def texts_in(journal: JournalReader) -> Iterator[tuple[str, str]]:
    """Ids and texts of a journal's stories, as `identity_of` takes them."""
    return ((story.id, story.text) for story in journal.stories(ratings=False))


def text_in(journal: JournalReader) -> Callable[[str], str]:
    """A story's text by its id; answers about one story mostly follow each other, so that few are held."""
    return lru_cache(maxsize=1024)(journal.text_of)


def silent(_: int) -> AbstractContextManager[Callable[[int], object]]:
    """Context manager that shows no progress: its callback does nothing."""
    return nullcontext(lambda _: None)


class Walk:
    """One pass over a journal's answers, block by block. `checksums` are of cached blocks reached, by number. `answers`
    were read; one about several criteria counts once. `without` repeats were tried and have no answer."""

    def __init__(self, journal: JournalReader, reading: StoredAnswers, kept: ParsedFile) -> None:
        self._journal, self._reading, self._kept = journal, reading, kept
        self.checksums: dict[int, bytes] = {}
        self.answers = self.without = 0

    def block(self, number: int) -> Block:
        """Judgments of one block. Those not in the cache are parsed and added to it."""
        rows = self._journal.block(number)
        self.answers += len(rows)
        if not self._kept.there:
            return Block.of(one for row in rows for one in judged(answer(row), self._reading))
        contents = [content(row) for row in rows]
        each = [self._reading.criteria_of(row[EVAL_PROMPT]) for row in rows]
        # Each judgment has its answer's content, so that a kept block tells what it was made of.
        whole = b"".join(checksum * count for checksum, count in zip(contents, each, strict=True))
        before = self._kept.block(number)
        if before is not None and before[0] == whole:
            self.checksums[number] = before[1]
            return before[2]
        rows_by_content: dict[bytes, list[Judged]] = {}
        if before is not None:
            for place, row in enumerate(before[2].judged()):
                rows_by_content.setdefault(before[0][16 * place : 16 * place + 16], []).append(row)
        block = Block.of(
            one
            for checksum, row in zip(contents, rows, strict=True)
            for one in rows_by_content.get(checksum) or judged(answer(row), self._reading)
        )
        self._put(number, whole, block, len(rows))
        return block

    def unanswered(self) -> Iterator[Block]:
        """The repeats without an answer, as blocks -1, -2, ... Raises UnusualError where the query is not in the
        journal."""
        unanswered = self._journal.unanswered()
        number = -1
        while piece := list(islice(unanswered, ROWS)):
            whole = [answer for answer in piece if answer is not None]
            if len(whole) < len(piece):
                raise UnusualError
            block = Block.of(one for answer in whole for one in judged(answer, self._reading))
            self._put(number, b"", block, len(whole))
            self.without += len(whole)
            number -= 1
            yield block

    def _put(self, number: int, contents: bytes, block: Block, answers: int) -> None:
        checksum = self._kept.put(number, contents, block, answers)
        if checksum is not None:
            self.checksums[number] = checksum


def judgments(
    folder: ResultFolder,
    journal: JournalReader,
    reading: StoredAnswers,
    asked: Asked,
    definition: Mapping[str, Any],
    state: str | None,
    into: Blocks,
) -> int:
    """Put the judgments of all answers in an open snapshot of the folder's journal into `into`, from the cache where
    still valid; the number of repeats answered or given up. `state` is the journal file's; None if it changed
    meanwhile. Raises UnusualError for rows that this version never writes."""
    # Not cached if a change of the parser's code could not be noticed, or it may use parts of an answer that the cache
    # does not compare: what a third party's parser looks at is not known; blocks of answers hold all but what servers
    # said of calls.
    whole = asked.name in PARSERS or not journal.tells_usage()
    identity = None
    if asked.keep and whole and journal.last_attempt() >= LEAST:
        identity = identity_of(asked.name, asked.parser.version, definition, texts_in(journal))

    def put(block: Block) -> None:
        into.put(replace(block, explanations=_kept(block, asked.explanations)))

    with ParsedFile(None if identity is None else folder.parsed(asked.name), identity or "") as kept:
        state = state if kept.there else None
        settled = kept.believed(state, put, explanations=bool(asked.explanations))
        if settled is not None:
            return settled
        into.clear()
        tried, answers = journal.tried()
        walk, numbers = Walk(journal, reading, kept), journal.blocks()
        if numbers and numbers[0] < 0:
            raise UnusualError
        long = answers - kept.count() >= LONG
        done: set[int] = set()

        with (asked.telling if long else silent)(answers) as tell:

            def take(some: Iterable[int]) -> None:
                for number in some:
                    put(walk.block(number))
                    done.add(number)
                    tell(min(answers, max(walk.answers, kept.count())))

            if long and kept.writable:
                with Helpers(folder.path, asked.name, kept.identity) as helpers:
                    take(numbers[:: helpers.shares])
                    helpers.wait(kept.count, tell)
            take(number for number in numbers if number not in done)
        for block in walk.unanswered():
            put(block)
        # Each answer has a query and an attempt, and each attempt an answer, or is among those without.
        if not walk.answers == answers == tried - walk.without:
            raise UnusualError
        settled = journal.settled_total()
        if state is not None:
            kept.finish(state, settled, walk.checksums)
        return settled


def _kept(block: Block, explanations: Explanations) -> list[str | None] | None:
    if explanations is True or block.explanations is None:
        return block.explanations
    return [None if text is None else "" for text in block.explanations] if explanations else None


# Program of a helper process that parses its share of a journal's blocks into `derived/`; started by `helpers`.


def main() -> None:
    """Parse the share of a journal's answers that the arguments name, into the cache, until the parent process ends."""
    folder, parser, identity, share, shares, parent = sys.argv[2:]
    result = ResultFolder(Path(folder))
    loaded = load_parser(parser)
    with JournalReader(result.journal) as journal, journal.snapshot():
        definition = journal.meta()["definition"]
        if identity_of(parser, loaded.version, definition, texts_in(journal)) != identity:
            return
        criteria = map(Criterion.of, definition["criteria_records"])
        reading = StoredAnswers.of_run(loaded, criteria, definition, text_in(journal))
        with ParsedFile(result.parsed(parser), identity) as kept:
            walk = Walk(journal, reading, kept)
            for number in journal.blocks()[int(share) :: int(shares)]:
                if not kept.writable or (os.name != "nt" and os.getppid() != int(parent)):
                    return
                walk.block(number)
