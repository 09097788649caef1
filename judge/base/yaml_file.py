"""Safe reader for YAML from untrusted sources, which limits nesting and repetition and accepts only plain values."""

from __future__ import annotations

from typing import Any

import yaml

from judge.base.late_pattern import late

# Collections within collections: PyYAML builds them by recursion, and deeper ones would exhaust Python's stack.
MOST_NESTED = 50

# Values, those behind an alias counted each time it is used.
MOST_VALUES = 100_000

# Whole numbers that may need more than 64 bits: no file of the program can hold them.
_LONG = late(r"[-+]?(?:[0-9_]{19,}|0x[0-9a-fA-F_]{16,}|0b[01_]{63,})")

_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load(text: str) -> Any:
    """Plain data. Raises yaml.MarkedYAMLError, with its line where known, for invalid text, too deep nesting or too
    many values."""
    check(text)
    try:
        return yaml.safe_load(text)
    except ValueError as error:  # a date or a number that is none
        raise yaml.MarkedYAMLError(problem=str(error).splitlines()[0]) from error


def check(text: str) -> None:
    """Raise yaml.MarkedYAMLError for too deep nesting or too many values, where those behind an alias count at each
    use."""
    sizes: dict[str, int] = {}
    open_: list[tuple[str | None, int]] = []
    total = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            if len(open_) >= MOST_NESTED:
                raise _refused(f"nested more than {MOST_NESTED} deep", event)
            open_.append((event.anchor, total))
            sizes.pop(str(event.anchor), None)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_.pop()
            if anchor is not None:
                sizes[anchor] = total - before + 1
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                raise _refused("an alias without an anchor before it", event)
            total += sizes[event.anchor]
        elif isinstance(event, yaml.ScalarEvent):
            if event.implicit[0] and _LONG.fullmatch(event.value):
                raise _refused("a whole number of 19 digits or more (a name of digits needs quotes)", event)
            if event.anchor is not None:
                sizes[event.anchor] = 1
        total += 1
        if total > MOST_VALUES:
            raise _refused(f"more than {MOST_VALUES:,} values, aliases counted each time", event)


def _refused(problem: str, event: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
