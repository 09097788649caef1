"""A temporary file that sorts the judgments of more answers than memory holds into ranges of stories."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import orjson

from judge.base.files import writing
from judge.ratings.ratings_table.judgments import UnusualError
from judge.ratings.ratings_table.parsed_file import COLUMNS, Block, Blocks

# Rows of a part: about 25 MB as text and in Arrow, and more where explanations are long.
PART_ROWS = 8_192


class Spill(Blocks):
    """Blocks of judgments by ranges of stories, each of about `PART_ROWS` attempts, in a nameless file beside `path`.
    `numbers` gives a story's place. Raises SpecError where the file cannot be written."""

    def __init__(self, path: Path, numbers: Mapping[str, int], attempts: int) -> None:
        self._path = path
        with writing(path):
            self._file = tempfile.TemporaryFile(dir=path.absolute().parent)  # noqa: SIM115  closed by the next line
        weakref.finalize(self, self._file.close)
        self._numbers = numbers
        self._stories = max(1, PART_ROWS * len(numbers) // max(1, attempts))
        self._places: dict[int, list[tuple[int, int, int]]] = {}

    def clear(self) -> None:
        self._file.truncate(self._file.seek(0))
        self._places.clear()

    def put(self, block: Block) -> None:
        ranges = np.array([self._numbers[story] // self._stories for story in block.names["story"]], dtype=np.int64)
        part = ranges[block.rows["story"]]
        for number in np.unique(part).tolist():
            self._write(number, block.taken(np.flatnonzero(part == number)))

    def _write(self, part: int, block: Block) -> None:
        try:
            texts = orjson.dumps([block.names, block.explanations])
        except TypeError as error:  # text that is no Unicode, from another's parser
            raise UnusualError from error
        self._places.setdefault(part, []).append((self._file.tell(), block.rows.nbytes, len(texts)))
        with writing(self._path):
            self._file.write(block.rows.tobytes() + texts)

    def parts(self) -> Iterator[list[Block]]:
        """The blocks of each range of stories, in the order of stories."""
        for part in sorted(self._places):
            yield [self._read(*place) for place in self._places[part]]

    def _read(self, place: int, rows: int, texts: int) -> Block:
        self._file.seek(place)
        columns = np.frombuffer(self._file.read(rows), dtype=COLUMNS)
        return Block(columns, *orjson.loads(self._file.read(texts)))
