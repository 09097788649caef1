"""Judgments of every answer of a journal at one moment: kept ones where they are valid, parsed ones elsewhere.

A walk goes through the answers block by block as they lie in the file. A kept judgment holds for the answer whose
content it was made of, wherever a journal came from; so a journal that grew is parsed only where it grew. Where nobody
has written the journal since the last walk, no answer is read at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from judge.fingerprint import canonical, fingerprint, fingerprint_bytes
from judge.journal import JournalReader
from judge.journal.standing import EVAL_PROMPT, ROWS, answer, content
from judge.parsing.sources import code_of
from judge.parsing.stored_answers import StoredAnswers
from judge.ratings_table.block import Block, Judged, judged
from judge.ratings_table.helpers import Helpers
from judge.ratings_table.parsed_file import FORMAT, ParsedFile
from judge.records import Answer

LEAST = 1_000
"""Answers from which on judgments are kept: fewer are parsed while a file would be opened."""

LONG = 20_000
"""Answers to parse from which on it is told how far that is, and other processes help."""

Telling = Callable[[int], AbstractContextManager[Callable[[int], object]]]
"""Given how many answers are to be read: for as long as that takes, what is to be called with how many are."""


class UnusualError(Exception):
    """The journal has rows that this program never writes, so that it must be read repeat by repeat."""


@dataclass(frozen=True, slots=True)
class Known:
    """All judgments at one moment; `settled` counts the repeats that are answered or given up."""

    blocks: list[Block]
    settled: int


def identity_of(
    parser: str, version: str, definition: Mapping[str, Any], texts: Iterable[tuple[str, str]]
) -> str | None:
    """Hash of everything that judgments depend on beside the answers; None where some of it is not known.

    `texts` are the stories' ids and texts.
    """
    code = code_of(parser)
    if code is None:
        return None
    read = [definition.get(key) for key in ("criteria_records", "structured", "scoring", "rating_patterns")]
    # Only where there is one, so that what was kept of other runs stays.
    read += [definition["joint"]] if "joint" in definition else []
    return fingerprint([FORMAT, code, version, read, fingerprint_bytes(canonical(list(text)) for text in texts)])


def silent(_: int) -> AbstractContextManager[Callable[[int], object]]:
    """A progress callback that does nothing."""
    return nullcontext(lambda _: None)


class Walk:
    """One way through a journal; `checksums` are those of the blocks that it met and that are kept.

    `answers` counts those that it met, of which one about several criteria has several judgments, and `without` the
    repeats that have none.
    """

    def __init__(self, journal: JournalReader, reading: StoredAnswers, kept: ParsedFile) -> None:
        self._journal, self._reading, self._kept = journal, reading, kept
        self.checksums: dict[int, bytes] = {}
        self.answers = self.without = 0

    def block(self, number: int) -> Block:
        """The judgments of a block; those not yet stored are parsed and stored."""
        rows = self._journal.block(number)
        self.answers += len(rows)
        if not self._kept.there:
            return Block.of(chain.from_iterable(self._judged(answer(row)) for row in rows))
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
            for checksum, row in zip(_each(before[0]), before[2].judged(), strict=True):
                rows_by_content.setdefault(checksum, []).append(row)
        block = Block.of(
            chain.from_iterable(
                rows_by_content[checksum] if checksum in rows_by_content else self._judged(answer(row))
                for checksum, row in zip(contents, rows, strict=True)
            )
        )
        self._put(number, whole, block, len(rows))
        return block

    def unanswered(self) -> Iterator[Block]:
        """The repeats without an answer, in blocks numbered from -1 downwards. Raises UnusualError."""
        unanswered = self._journal.unanswered()
        number = -1
        while piece := list(islice(unanswered, ROWS)):
            whole = [answer for answer in piece if answer is not None]
            if len(whole) < len(piece):
                raise UnusualError
            block = Block.of(chain.from_iterable(map(self._judged, whole)))
            self._put(number, b"", block, len(whole))
            self.without += len(whole)
            number -= 1
            yield block

    def _put(self, number: int, contents: bytes, block: Block, answers: int) -> None:
        checksum = self._kept.put(number, contents, block, answers)
        if checksum is not None:
            self.checksums[number] = checksum

    def _judged(self, answer: Answer) -> list[Judged]:
        return [judged(*read) for read in self._reading.judgments(answer)]


def judgments(
    journal: JournalReader,
    reading: StoredAnswers,
    kept: ParsedFile,
    state: str | None,
    *,
    explanations: bool,
    helpers: Helpers,
    telling: Telling = silent,
) -> Known:
    """All judgments of an open snapshot. `state` is that of the journal's file, None where nobody can tell.

    Raises UnusualError.
    """
    believed = kept.believed(state, explanations=explanations)
    if believed is not None:
        return Known(*believed)
    tried, answers = journal.tried()
    walk = Walk(journal, reading, kept)
    blocks = _walked(walk, journal.blocks(), answers, kept, helpers, telling, explanations=explanations)
    without = [block if explanations else replace(block, explanations=None) for block in walk.unanswered()]
    # Each answer has a query and an attempt, and each attempt an answer, or is among those without.
    if not walk.answers == answers == tried - walk.without:
        raise UnusualError
    settled = journal.settled_total()
    if state is not None:
        kept.finish(state, settled, walk.checksums)
    return Known([*without, *blocks], settled)


def _walked(
    walk: Walk,
    numbers: list[int],
    answers: int,
    kept: ParsedFile,
    helpers: Helpers,
    telling: Telling,
    *,
    explanations: bool,
) -> list[Block]:
    """The blocks with these numbers; where that is much to parse, others parse their shares meanwhile."""
    if numbers and numbers[0] < 0:
        raise UnusualError
    long = answers - kept.count() >= LONG
    blocks: dict[int, Block] = {}
    with (telling if long else silent)(answers) as tell:

        def take(some: Iterable[int]) -> None:
            for number in some:
                block = walk.block(number)
                blocks[number] = block if explanations else replace(block, explanations=None)
                tell(min(answers, max(walk.answers, kept.count())))

        if long and kept.writable:
            with helpers:
                take(numbers[:: helpers.shares])
                helpers.wait(kept.count, tell)
        take(number for number in numbers if number not in blocks)
    return [blocks[number] for number in numbers]


def _each(contents: bytes) -> list[bytes]:
    return [contents[start : start + 16] for start in range(0, len(contents), 16)]
