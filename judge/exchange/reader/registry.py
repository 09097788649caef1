"""The readers of files by name, and the one that a file is for.

Other packages add readers through the entry point `judge.readers`: name = "module:READER".
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType

from judge.base.errors import DataError, SpecError, unknown_value
from judge.base.wording import Advice
from judge.exchange.reader.look import look_at
from judge.exchange.reader.reader import Reader

ENTRY_POINT = "judge.readers"

AS = "as_"
"""Name of the option that says what a file is."""

_MODULES = (
    "judge.exchange.logs.tools",
    "judge.exchange.ratings.reader",
    "judge.exchange.batch.reader",
    "judge.exchange.imports.readers",
)
"""Each has its readers as `READERS`."""


@functools.cache
def readers() -> Mapping[str, Reader]:
    """All readers by name, this program's first."""
    own = [reader for module in _MODULES for reader in importlib.import_module(module).READERS]
    others = [point.load() for point in entry_points(group=ENTRY_POINT)]
    return MappingProxyType({reader.name: reader for reader in (*others, *own)})


def reader_of(files: Sequence[Path], name: str | None = None) -> Reader:
    """The reader of this name, or the only one whose form all the files have.

    Raises OptionError for an unknown name, DataError for a file that cannot be read or has no known form, and SpecError
    where files have several forms.
    """
    known = readers()
    if name is not None:
        if name not in known:
            raise unknown_value(AS, name, known)
        return known[name]
    fitting = {file: _fitting(file) for file in files}
    common = set.intersection(*(set(names) for names in fitting.values()))
    if len(common) == 1:
        return known[common.pop()]
    hint = Advice(f"import each by itself, or say what they are: {{{AS}}}", **{AS: "NAME"})
    if not common:
        told = "; ".join(f"{file}: {', '.join(names)}" for file, names in fitting.items())
        raise SpecError(f"the files have several forms: {told}", hint=hint)
    several = sorted(common)
    say = Advice(" or ".join("{}" for _ in several), *(Advice(f"{{{AS}}}", **{AS: each}) for each in several))
    raise SpecError(f"{files[0]} may be of {len(several)} forms: {', '.join(several)}", hint=say)


def _fitting(file: Path) -> list[str]:
    """Names of the readers whose form a file has: a general one only where no other fits."""
    look = look_at(file)
    fit = [reader for reader in readers().values() if reader.fits(look)]
    special = [reader for reader in fit if not reader.general]
    if not fit:
        raise DataError(
            "is of no form that is recognised",
            file=file,
            allowed=", ".join(readers()),
            hint=Advice(f"say what it is: {{{AS}}}; judge import --help has a line on each", **{AS: "NAME"}),
        )
    return [reader.name for reader in special or fit]
