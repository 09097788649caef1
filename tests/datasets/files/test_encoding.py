"""Tables in UTF-16 and Windows-1252 are read as what they are; other encodings are refused with the byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.base.errors import DataError
from judge.exchange.quick_rows import LEAST_BYTES
from judge.exchange.ratings_file import read_ratings
from judge.inputs.datasets.files.column_guess import guess
from judge.inputs.datasets.files.encoding import encoding_of
from judge.inputs.datasets.files.table_file import table_rows

ROWS = "id,system,text,rater,plot\n1,Über,“Déjà vu” – so it was.,Zoë,4\n2,señor,ça va: Ærø 5 €.,Zoë,3\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".json"])
def test_a_table_is_read_in_its_own_encoding(encoding: str, suffix: str, tmp_path: Path) -> None:
    if encoding == "cp1252" and suffix.startswith(".json"):
        pytest.skip("JSON is UTF-8 by its standard")
    path = tmp_path / f"t{suffix}"
    rows = [line.split(",") for line in ROWS.splitlines()]
    objects = [
        "{" + ", ".join(f'"{key}": "{value}"' for key, value in zip(rows[0], row, strict=True)) + "}"
        for row in rows[1:]
    ]
    written = {".csv": ROWS, ".tsv": ROWS.replace(",", "\t"), ".jsonl": "\n".join(objects)}
    path.write_bytes(written.get(suffix, f"[{','.join(objects)}]").encode(encoding))
    cells = [cells for _, cells in table_rows(path)]
    assert [(row["system"], row["text"], row["rater"]) for row in cells] == [
        ("Über", "“Déjà vu” – so it was.", "Zoë"),
        ("señor", "ça va: Ærø 5 €.", "Zoë"),
    ]


def test_an_encoding_that_is_not_utf_8_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for encoding, line in (("utf-8", []), ("cp1252", ["written in Windows-1252 (Latin-1), and read so"])):
        path.write_bytes(ROWS.encode(encoding))
        assert [told for told in guess(path).lines if told.startswith("written")] == line


@pytest.mark.parametrize(
    ("encoding", "word"),
    [
        ("cp1251", "Модель"),
        ("cp1251", "кафе"),
        ("gbk", "模型"),
        ("shift_jis", "モデル"),
        ("mac_roman", "Zoé–ü"),
        ("cp1250", "Łódź"),
    ],
)
def test_other_encodings_are_refused(encoding: str, word: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(f"id,system,plot\n1,{word},4\n".encode(encoding))
    with pytest.raises(DataError, match=r"row 2, column 'system': is not valid UTF-8") as error:
        list(table_rows(path))
    assert "iconv -f ENCODING -t UTF-8" in str(error.value.hint)


def test_utf_8_with_an_odd_byte_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("id,system,plot\n1,Zoë “a”,4\n".encode() + b"2,\xe9,3\n")
    with pytest.raises(DataError, match="row 3, column 'system': is not valid UTF-8"):
        list(table_rows(path))


def test_half_a_character_of_utf_16_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(ROWS.encode("utf-16")[:-1])
    with pytest.raises(DataError, match="is not valid UTF-8"):
        list(table_rows(path))


def test_a_large_file_is_read_by_columns_in_its_encoding(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    lines = ["story,criterion,judge,rating,system", *(f"{n},Plot,m,{n % 5},Zoë" for n in range(60_000))]
    path.write_bytes("\n".join(lines).encode("cp1252"))
    assert path.stat().st_size > LEAST_BYTES
    assert encoding_of(path) == "cp1252"
    assert {*read_ratings(path).frame["system"]} == {"Zoë"}
