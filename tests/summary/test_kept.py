"""A kept summary is the computed one; a changed input misses, and damage is computed again."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judge.analysis.options.selection import Selection
from judge.base.errors import JudgeError
from judge.questions.summary import kept, of_runs, screen
from judge.questions.summary.kept import summaries_of
from judge.questions.summary.result import Summary
from tests.benchmarks import many_criteria

FEW = {"resamples": 20}


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return many_criteria.write(tmp_path_factory.mktemp("kept") / "ratings", 3)


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "ratings"))


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one where summaries are computed."""
    calls: list[int] = []
    plain = of_runs.of_ratings

    def compute(*words: Any) -> Summary:
        calls.append(1)
        return plain(*words)

    monkeypatch.setattr(of_runs, "of_ratings", compute)
    return calls


def _all(summaries: list[Summary]) -> list[Any]:
    return [
        (summary.datasets, summary.caveats, summary.notes, summary.signature, screen.text(summary))
        for summary in summaries
    ]


def test_the_second_summary_is_the_first_and_is_not_computed(folder: Path, computed: list[int]) -> None:
    first, second = summaries_of([folder], **FEW), summaries_of([folder], **FEW)
    assert len(computed) == 1
    assert _all(first) == _all(second)
    assert first[0].frame.equals(second[0].frame)


@pytest.mark.parametrize(
    "change", ["ratings", "manifest", "further file", "resamples", "criterion", "name", "program", "package"]
)
def test_whatever_changed_is_computed(
    change: str, folder: Path, computed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = summaries_of([folder], **FEW)
    runs, keep, options = [folder], None, FEW
    if change == "ratings":
        text = (folder / "imported.csv").read_text().splitlines()
        # The size of the file stays, and each judge's rating is another.
        turned = [line.replace(",judge,,0,", ",judge,,0,6-") if ",judge," in line else line for line in text]
        turned = [",".join(str(6 - int(part[2:])) if part.startswith("6-") else part for part in line.split(","))
                  for line in turned]  # fmt: skip
        (folder / "imported.csv").write_text("\n".join(turned) + "\n")
    elif change == "manifest":
        (folder / "manifest.json").write_text(json.dumps({"judge": "openai/m", "notes": ["a note"]}))
    elif change == "further file":
        (folder / "imported_stories.csv").write_text("dataset,story,words\nrandom,s0-0,7\n")
    elif change == "resamples":
        options = {"resamples": 21}
    elif change == "criterion":
        keep = Selection(("criterion 0001",))
    elif change == "name":
        runs = [folder / "." / ".." / folder.name]
    elif change == "program":
        monkeypatch.setattr(kept, "__version__", "0.0.0")
        kept._program.cache_clear()
    else:
        monkeypatch.setattr(kept, "installed", lambda package: "0.0.0")
        kept._program.cache_clear()
    after = summaries_of(runs, keep=keep, **options)
    kept._program.cache_clear()
    assert len(computed) == 2
    if change in ("ratings", "resamples", "criterion", "name"):
        assert _all(before) != _all(after)


def test_scores_of_a_contamination_check_are_looked_at(folder: Path) -> None:
    summaries_of([folder], **FEW)
    (folder / "derived" / "model.seen.jsonl").write_text("no scores\n")
    with pytest.raises(JudgeError, match=r"model\.seen\.jsonl"):
        summaries_of([folder], **FEW)


def test_summaries_with_other_options_are_kept_side_by_side(folder: Path, computed: list[int]) -> None:
    other = FEW | {"seed": 2}
    both = [summaries_of([folder], **options) for options in (FEW, other)]
    again = [summaries_of([folder], **options) for options in (FEW, other)]
    assert len(computed) == 2
    assert [_all(each) for each in both] == [_all(each) for each in again]


def test_at_most_so_many_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (summary,) = summaries_of([folder], **FEW)
    monkeypatch.setattr(kept, "_MOST", 3)
    path = folder / "derived" / "summaries.sqlite"
    for number in range(6):
        kept._write(path, f"key {number}", summary)
    with closing(sqlite3.connect(path)) as base:
        keys = [key for (key,) in base.execute("SELECT key FROM summaries ORDER BY rowid")]
    assert keys == ["key 3", "key 4", "key 5"]


@pytest.mark.parametrize("damage", ["cut", "no database", "value", "another key", "columns", "shape", "folder"])
def test_a_damaged_file_is_no_error_and_no_number(damage: str, folder: Path, computed: list[int]) -> None:
    first = summaries_of([folder], **FEW)
    path = folder / "derived" / "summaries.sqlite"
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:2_000])
    elif damage == "no database":
        path.write_text("these are no summaries " * 400)
    elif damage == "folder":
        path.unlink()
        path.mkdir()
    else:
        with closing(sqlite3.connect(path)) as base, base:
            (key, value) = base.execute("SELECT key, value FROM summaries").fetchone()
            if damage == "value":
                base.execute("UPDATE summaries SET value = ?", (value.replace(b"0.", b"1."),))
                base.execute("UPDATE summaries SET value = ?", (value.replace(b"judge", b"fudge"),))
            elif damage == "another key":
                other = kept._checksum("another", value)
                base.execute("UPDATE summaries SET checksum = ?", (other,))
            elif damage == "columns":
                base.execute("ALTER TABLE summaries RENAME COLUMN value TO other")
            else:
                value = b'{"datasets": 5}'
                base.execute("UPDATE summaries SET value = ?, checksum = ?", (value, kept._checksum(key, value)))
    assert _all(summaries_of([folder], **FEW)) == _all(first)
    assert len(computed) == 2


def test_nothing_is_kept_while_a_journal_is_written(demo_run: Path, tmp_path: Path, computed: list[int]) -> None:
    run = Path(shutil.copytree(demo_run, tmp_path / "demo"))
    (journal,) = run.glob("*/journal.sqlite")
    shutil.rmtree(journal.parent / "derived", ignore_errors=True)
    journal.touch()
    summaries_of([run], **FEW)
    assert not (journal.parent / "derived" / "summaries.sqlite").exists()


def test_a_kept_summary_is_printed_without_what_computes_it(folder: Path) -> None:
    command = (
        "import sys; from judge.cli.main import main\n"
        f"try: main(['summary', {str(folder)!r}])\n"
        "except SystemExit: print('pandas' in sys.modules, 'scipy' in sys.modules)"
    )
    printed = [
        subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True).stdout.splitlines()
        for _ in range(2)
    ]
    assert [lines[-1] for lines in printed] == ["True True", "False False"]
    assert printed[0][:-1] == printed[1][:-1]
