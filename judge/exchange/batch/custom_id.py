"""The `custom_id` of a batch line: query, judge and repeats in at most 64 letters, digits, hyphens and underscores.
`<32 hex of the query key>-<8 hex of the judge key>-r0-2_5` identifies repeats 0, 1, 2 and 5. A result can thus be
stored without any other information. The id contains no text of a story."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge.base.fingerprint import TAG

# Characters: Anthropic's limit for a custom_id. One form serves every provider.
LONGEST = 64

_FORM = re.compile(r"([0-9a-f]{32})-([0-9a-f]{8})-r(\d{1,4}(?:-\d{1,4})?(?:_\d{1,4}(?:-\d{1,4})?)*)")


@dataclass(frozen=True, slots=True)
class BatchId:
    """The parts of a `custom_id`; `judge` is the beginning of the hash in the judge key."""

    query_key: str
    judge: str
    repeats: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.query_key.removeprefix(TAG)}-{self.judge}-r{_ranges(self.repeats)}"


def judge_part(judge_key: str) -> str:
    """The characters of a judge key that a `custom_id` contains."""
    return judge_key.removeprefix(TAG)[:8]


def split_ids(query_key: str, judge: str, repeats: Sequence[int]) -> Iterator[BatchId]:
    """Ids of batch lines for these repeats of one query: several where one would be longer than 64 characters."""
    left = tuple(repeats)
    while left:
        size = len(left)
        while len(str(BatchId(query_key, judge, left[:size]))) > LONGEST:
            size -= 1
        yield BatchId(query_key, judge, left[:size])
        left = left[size:]


def parse_id(text: object) -> BatchId | None:
    """The parts of a `custom_id`; None if it does not have this program's form."""
    match = _FORM.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    repeats: list[int] = []
    for part in match[3].split("_"):
        first, _, last = part.partition("-")
        repeats.extend(range(int(first), int(last or first) + 1))
    if not repeats or sorted(set(repeats)) != repeats:
        return None
    return BatchId(TAG + match[1], match[2], tuple(repeats))


def _ranges(repeats: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for repeat in repeats:
        if runs and repeat == runs[-1][1] + 1:
            runs[-1][1] = repeat
        else:
            runs.append([repeat, repeat])
    # `0-2_5` for (0, 1, 2, 5)
    return "_".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
