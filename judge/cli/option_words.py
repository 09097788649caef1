"""Options and messages as the command line writes them: flags such as ``--level system`` in place of Python
arguments.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from judge.base.errors import JudgeError
from judge.base.wording import written
from judge.cli.declared import RARE, flag

if TYPE_CHECKING:
    from pathlib import Path

    from judge.base.printing.tables import Table


SETTINGS = {("map", "none"): "--no-map"}
"""(Field, value) -> flag, where a value has a flag of its own."""


class Flags:
    """Writes names of options as command-line flags, such as ``--level system``."""

    def option(self, field: str) -> str:
        """Command-line flag of the option `field`."""
        return flag(field)

    def setting(self, field: str, value: object, *, exact: bool) -> str:
        """Command-line flag with its value; if `value` is True, the flag alone. With `exact` a string is written as a
        Python literal, else it is quoted for the shell.
        """
        own = self.option(field)
        if field in RARE:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            return f"{own}={text if exact else shlex.quote(text)}"
        if isinstance(value, str) and (field, value) in SETTINGS:
            return SETTINGS[field, value]
        if value is True:
            return own
        if isinstance(value, Mapping):
            pairs = [f"{key}={word}" for key, word in value.items()]
            return " ".join(f"{own} {repr(pair) if exact else shlex.quote(pair)}" for pair in pairs)
        if isinstance(value, float):
            return f"{own} {value:g}"
        return f"{own} {repr(value) if exact and isinstance(value, str) else shlex.quote(str(value))}"


FLAGS = Flags()


def with_flags(words: str) -> str:
    """`words` with the names of options written as command-line flags."""
    return written(words, FLAGS)


def complaint(error: JudgeError) -> str:
    """An error's message as the command line prints it."""
    return with_flags(error.sentence)


def mend(error: JudgeError) -> str | None:
    """An error's hint as the command line prints it; None if the error has no hint."""
    return None if error.hint is None else with_flags(error.hint)


def emit(
    tables: Table | Sequence[Table], form: str = "table", output: Path | None = None, *, full: bool = True
) -> None:
    """Print tables or write them to a file, with options in their notes written as flags. Unless `full`, plain text is
    the first screen alone.
    """
    from judge.base.printing import output as printing
    from judge.base.printing.tables import Table, worded

    group = [tables] if isinstance(tables, Table) else tables
    printing.emit([worded(table, FLAGS) for table in group], form, output, rest=None if full else FLAGS)
