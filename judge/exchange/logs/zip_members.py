"""Reader for the members of a zip archive, also those compressed with zstandard, with limits on their unpacked size."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO

from judge.base.errors import DataError, MissingExtraError

LARGEST_MEMBER = 256 << 20
"""Bytes of an unpacked member: a log is a stranger's file, and a small archive may unpack to more than memory holds."""

LONG_MEMBER, LARGEST_RATIO = 16 << 20, 500
"""How many times longer than its packed form a long member may be."""

# Compression method 93, and a local header of 30 bytes before the name, as the ZIP specification has them.
_ZSTANDARD = 93
_LOCAL_HEADER = 30
"""Bytes of a member's header without name and extra field, whose lengths stand in its last four (ZIP, APPNOTE 4.3.7).
"""


class Archive:
    """A zip archive that is open for reading."""

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            self._zip = zipfile.ZipFile(file)
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", file=file) from error
        except zipfile.BadZipFile as error:
            raise DataError("is no zip archive, or was cut off before its end", file=file) from error

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    @property
    def names(self) -> list[str]:
        """Names of the files in the archive, in the archive's order."""
        return self._zip.namelist()

    def read(self, name: str) -> bytes:
        """Content of a file in the archive; DataError where it is larger than the limits or cannot be unpacked."""
        member = self._zip.getinfo(name)
        swollen = member.file_size > max(LONG_MEMBER, LARGEST_RATIO * member.compress_size)
        if swollen or member.file_size > LARGEST_MEMBER:
            size = f"{member.file_size:,} bytes out of {member.compress_size:,}"
            raise DataError(f"member {name!r} would be {size}, more than any log needs", file=self.file)
        with _broken(self.file, name):
            if member.compress_type == _ZSTANDARD:
                return self._zstandard(member)
            with self._zip.open(member) as stream:
                return stream.read(member.file_size)

    def _zstandard(self, member: zipfile.ZipInfo) -> bytes:
        """Content of a file in the archive that is compressed with zstandard, which `zipfile` cannot read before Python
        3.14.
        """
        try:
            import pyarrow
        except ImportError as error:
            raise MissingExtraError(f"{self.file} is packed by zstandard, which", "data") from error
        with self.file.open("rb") as stream:
            packed = _packed(stream, member)
        # Frames stand one behind the other in long members; a stream reads them all.
        with pyarrow.CompressedInputStream(pyarrow.BufferReader(packed), "zstd") as unpacked:
            content = bytes(unpacked.read(member.file_size + 1))
        if len(content) != member.file_size:
            raise zipfile.BadZipFile("another length than stated")
        return content


def _packed(stream: IO[bytes], member: zipfile.ZipInfo) -> bytes:
    stream.seek(member.header_offset)
    header = stream.read(_LOCAL_HEADER)
    name, extra = struct.unpack("<HH", header[26:30])
    stream.seek(member.header_offset + _LOCAL_HEADER + name + extra)
    return stream.read(member.compress_size)


@contextmanager
def _broken(file: Path, name: str) -> Iterator[None]:
    """Context manager that turns errors from unpacking a member into a DataError."""
    try:
        yield
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        struct.error,
        EOFError,
        NotImplementedError,  # what zipfile raises for a way of packing that it does not know
        RuntimeError,
    ) as error:
        raise DataError(f"member {name!r} cannot be unpacked: {error}", file=file) from error
