"""Archives and tables of strangers: bombs, names that lead elsewhere, files that are not what their names say."""

from __future__ import annotations

import io
import json
import random
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from judge.base.errors import DataError
from judge.exchange.bundle.verification import check
from judge.inputs.datasets.files.table_file import table_columns, table_rows
from tests.hardening.forks import forked, memory_ends_at

ROOT = "demo-bundle"
NAMES = (
    f"{ROOT}/../evil",
    f"{ROOT}/a/../../evil",
    "../evil",
    "/etc/evil",
    "//host/evil",
    f"{ROOT}\\..\\evil",
    "C:/evil",
    f"{ROOT}/a\0b",
    f"{ROOT}/C:evil",
    "evil",
    f"other/{ROOT}",
)


def bundle(path: Path, *more: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    """What has the two files that a bundle needs, and more."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        contents = {"format": 1, "program": "0", "texts": True, "tables": {}, "runs": []}
        archive.writestr(f"{ROOT}/bundle.json", json.dumps(contents))
        archive.writestr(f"{ROOT}/SHA256SUMS", "")
        for name, content in more:
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_leads_elsewhere_writes_nothing(name: str, tmp_path: Path) -> None:
    made = bundle(tmp_path / "a.zip", (name.replace("\0", "?"), b"x"))
    if "\0" in name:
        made.write_bytes(made.read_bytes().replace(b"a?b", b"a\0b"))
    with pytest.raises(DataError):
        check(made)
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


@pytest.mark.parametrize("mode", [0o120777, 0o020666, 0o060666, 0o010666, 0o140777])
def test_links_and_devices_are_refused(mode: int, tmp_path: Path) -> None:
    link = zipfile.ZipInfo(f"{ROOT}/link")
    link.external_attr = mode << 16
    with pytest.raises(DataError, match="a link"):
        check(bundle(tmp_path / "a.zip", (link, b"/etc/passwd")))


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("names", [("x", "x"), ("d", "d/x"), ("SHA256SUMS",), ("d/x", "d")])
def test_two_files_of_one_name_are_a_sentence(names: tuple[str, ...], tmp_path: Path) -> None:
    made = bundle(tmp_path / "a.zip", *((f"{ROOT}/{name}", b"x") for name in names))
    with pytest.raises(DataError):
        check(made)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_refused(method: int, tmp_path: Path) -> None:
    made = bundle(tmp_path / "a.zip")
    with zipfile.ZipFile(made, "a", method) as archive:
        archive.writestr(f"{ROOT}/x", b"x" * 1000)
    with pytest.raises(DataError, match="compressed"):
        check(made)


@pytest.mark.parametrize("path", ["..", "../..", "/etc", "runs/../..", "runs", "", 3, None, ["runs"], {"a": 1}])
def test_a_run_that_is_listed_elsewhere_is_not_read(path: object, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        contents = {"format": 1, "program": "0", "texts": True, "tables": {}, "runs": [{"path": path}, path]}
        archive.writestr(f"{ROOT}/bundle.json", json.dumps(contents))
        archive.writestr(f"{ROOT}/SHA256SUMS", "")
    assert any("holds no results" in problem for problem in check(tmp_path / "a.zip").problems)


@pytest.mark.parametrize(
    "contents",
    [b"", b"[]", b"null", b"{", b'{"format": 1}', b'{"format": 1, "runs": 3, "tables": {}}', b"[" * 100_000, b"\xff"]
    + [json.dumps({"format": 1, "runs": [], "tables": value}).encode() for value in (3, [1], {"no": 1})],
)
def test_a_strange_list_of_contents_is_a_sentence(contents: bytes, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(f"{ROOT}/bundle.json", contents)
        archive.writestr(f"{ROOT}/SHA256SUMS", "")
    with pytest.raises(DataError, match=r"bundle\.json cannot be read"):
        check(tmp_path / "a.zip")


SHEET = (
    '<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>%s'
    "</sheetData></worksheet>"
)
ROW = '<row><c t="inlineStr"><is><t>id</t></is></c></row>'


def workbook(path: Path, sheet: bytes) -> Path:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["id", "story"])
    stream = io.BytesIO()
    book.save(stream)
    with zipfile.ZipFile(stream) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            content = sheet if info.filename == "xl/worksheets/sheet1.xml" else old.read(info)
            new.writestr(info.filename, content)
    return path


ENTITIES = "".join(f'<!ENTITY {chr(98 + k)} "{f"&{chr(97 + k)};" * 10}">' for k in range(9))
LAUGHS = f'<!DOCTYPE x [<!ENTITY a "ha">{ENTITIES}]>'
HOSTILE_SHEETS = {
    "entities": (LAUGHS + SHEET % '<row><c t="inlineStr"><is><t>&j;</t></is></c></row>').encode(),
    "outside": b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    + (SHEET % '<row><c t="inlineStr"><is><t>&a;</t></is></c></row>').encode(),
    "one cell": (SHEET % f'<row><c t="inlineStr"><is><t>{"x" * 280_000_000}</t></is></c></row>').encode(),
    "far row": (SHEET % (ROW + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')).encode(),
    "wide rows": (SHEET % (ROW + '<row><c r="XFD1"><v>1</v></c></row>' * 3000)).encode(),
    "no xml": b"\x00\x01\x02",
    "deep": (SHEET % ("<row>" * 50_000)).encode(),
}


@pytest.mark.parametrize("name", HOSTILE_SHEETS)
def test_a_hostile_workbook_fills_no_memory(name: str, tmp_path: Path) -> None:
    workbook(tmp_path / "a.xlsx", HOSTILE_SHEETS[name])
    found = forked(tmp_path, "data", "check", "a.xlsx", before=memory_ends_at(1000))
    assert "Traceback" not in found.text, found.text[-800:]
    assert "root:" not in found.text
    assert found.code == 1, found


CONTENT = {
    "zip": b"PK\x03\x04" + b"\0" * 60,
    "text": b"id,story\n1,a\n",
    "sqlite": b"SQLite format 3\0" + b"\0" * 100,
    "gzip": b"\x1f\x8b\x08\0\0\0\0\0",
    "binary": bytes(range(256)),
    "empty": b"",
    "utf-16": "id,story\n1,a\n".encode("utf-16"),
    "pickle": b"\x80\x04cos\nsystem\n(S'touch taken'\ntR.",
    "parquet": b"PAR1" + b"\xff" * 40 + b"PAR1",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("suffix", [".parquet", ".xlsx", ".json", ".jsonl", ".csv", ".tsv"])
@pytest.mark.parametrize("content", CONTENT)
def test_a_file_that_is_not_what_its_name_says(suffix: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(CONTENT[content])
    # Any text, and what looks like one, is a table of separated cells: junk, and no harm.
    with suppress(DataError) if suffix in (".csv", ".tsv") else pytest.raises(DataError, match="a" + suffix):
        table_columns(path)
        list(table_rows(path))
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_parquet_bomb_is_read_in_pieces(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"id": ["x"] * 1_000, "story": ["a" * 200_000] * 1_000})  # 200 MB of text in a few kilobytes
    pq.write_table(table, tmp_path / "a.parquet", compression="zstd", row_group_size=2_000)
    assert (tmp_path / "a.parquet").stat().st_size < 2_000_000
    found = forked(tmp_path, "data", "check", "a.parquet", before=memory_ends_at(1500))
    assert "Traceback" not in found.text, found.text[-500:]


def test_a_damaged_parquet_file_is_a_sentence_or_rows(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    draw = random.Random(2)
    cells = {"id": [f"s{i}" for i in range(50)], "story": ["It rained. " * (i % 7) for i in range(50)]}
    pq.write_table(pa.table(cells | {"rating": [i % 5 + 0.5 for i in range(50)]}), tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    refused = []
    for _ in range(300):
        content = bytearray(whole)
        for _ in range(draw.choice((1, 3))):
            content[draw.randrange(len(whole) // 2)] = draw.randrange(256)
        (tmp_path / "a.parquet").write_bytes(content)
        try:
            list(table_rows(tmp_path / "a.parquet"))
        except DataError as error:
            refused.append(str(error))
    assert 0 < len(refused) < 300
    assert all("a.parquet" in sentence for sentence in refused)


@pytest.mark.parametrize("size", [65])
def test_lists_that_unpack_to_more_than_a_list_are_refused(size: int, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{ROOT}/bundle.json", b" " * (size << 20))
        archive.writestr(f"{ROOT}/SHA256SUMS", "")
    with pytest.raises(DataError, match=r"bundle\.json cannot be read"):
        check(tmp_path / "a.zip")
