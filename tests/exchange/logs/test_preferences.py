"""Logs of preferences that the real tools wrote, held against what the tools themselves read of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judge.analysis.preference.ranked import ranked
from judge.asking.run_folder import ResultFolder
from judge.asking.run_folder.layout import compares
from judge.base.errors import DataError, RunFolderError
from judge.cli.main import main
from judge.exchange.logs.tools import PREFERENCE_TOOLS, read_preferences, write_preferences
from judge.ratings.preferences_table import PreferencesTable, read
from judge.ratings.ratings_table import read as read_ratings

FILES = Path(__file__).parent / "files"
ALPACA = FILES / "alpaca_eval-0.6.6.json"
MT_BENCH = [FILES / "mt_bench-0.2.36.jsonl", FILES / "mt_bench-human.jsonl"]


def _expected(name: str) -> Any:
    return json.loads((FILES / f"{name}.expected.json").read_text(encoding="utf-8"))["values"]


def _read(tmp_path: Path, name: str, files: list[Path]) -> PreferencesTable:
    found = read_preferences(PREFERENCE_TOOLS[name], files, "lamps", "Overall")
    return read([write_preferences(tmp_path / "out", found).path])


def test_alpaca_eval(tmp_path: Path) -> None:
    frame = _read(tmp_path, "alpaca-eval", [ALPACA]).frame
    expected = _expected("alpaca_eval")
    said = Counter(frame["preference"])
    assert said["second"] == expected["n_wins"]
    assert said["first"] == expected["n_wins_base"]
    assert dict(Counter(frame["flags"])) == {
        "order_unknown": 6,
        "log_missing;order_unknown": 1,
        "log_defaulted;order_unknown": 1,
    }
    # AlpacaEval's own rate counts the tie that it wrote for two texts that are the same.
    wins, ties = said["second"], expected["n_draws"]
    assert 100 * (wins + ties / 2) / expected["n_total"] == expected["win_rate"]
    assert set(frame["judge"]) == {"alpaca_eval_gpt4"}


def test_where_the_order_is_not_told_nothing_is_said_of_the_place(tmp_path: Path) -> None:
    result = ranked(_read(tmp_path, "alpaca-eval", [ALPACA]))
    assert not result.order.rows
    assert result.systems.standings
    both = ranked(_read(tmp_path, "mt-bench", MT_BENCH))
    assert both.order.rows[0].comparisons == 7


def test_mt_bench(tmp_path: Path) -> None:
    frame = _read(tmp_path, "mt-bench", MT_BENCH).frame
    judged = frame[frame["source"] == "judge"]
    for question, one, other, winner in _expected("mt_bench"):
        own = judged[judged["story_prompt"] == f"question {question}"]
        assert set(own["first_system"]) == {one, other}
        won = [
            "error"
            if row.preference is None
            else "tie"
            if row.preference == "tie"
            else {one: "model_1", other: "model_2"}[getattr(row, f"{row.preference}_system")]
            for row in own.itertuples()
        ]
        assert (won[0] if won[0] == won[1] else "inconsistent") == winner
    assert dict(Counter(judged["status"])) == {"imported": 7, "no_preference": 1, "not_answered": 2}
    people = frame[frame["source"] == "rater"]
    assert people["preference"].tolist() == ["first", "second", "tie", "first", "tie"]
    assert set(people["rater"]) == {"expert_0", "expert_1"}
    stories = read([tmp_path / "out"]).stories
    assert stories.loc[("lamps", "ours/81/1"), "text"] == "Ours 0."


def test_a_folder_of_preferences_holds_no_ratings(tmp_path: Path) -> None:
    _read(tmp_path, "mt-bench", MT_BENCH)
    assert compares(ResultFolder(tmp_path / "out"))
    with pytest.raises(RunFolderError, match="holds comparisons of two stories"):
        read_ratings([tmp_path / "out"])


def test_people_and_judges_may_lie_in_two_folders_of_one_name(tmp_path: Path) -> None:
    tool = PREFERENCE_TOOLS["mt-bench"]
    for number, file in enumerate(MT_BENCH):
        write_preferences(tmp_path / str(number), read_preferences(tool, [file], "lamps", "Overall"))
    apart = read([tmp_path / "0", tmp_path / "1"])
    together = _read(tmp_path, "mt-bench", MT_BENCH)
    assert len(apart.frame) == len(together.frame)
    one, other = (ranked(table).agreement.frame["accuracy"] for table in (apart, together))
    pd.testing.assert_series_equal(one, other)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("alpaca-eval", '[{"instruction": 1}]', "is no annotation of AlpacaEval"),
        ("alpaca-eval", '{"a": 1}', "has no list of annotations"),
        (
            "alpaca-eval",
            '[{"instruction": "a", "output_1": "b", "output_2": "c", "preference": 3}]',
            "is no preference; found 3",
        ),
        ("mt-bench", '{"question_id": 1}', "is no judgment of MT-Bench"),
        ("mt-bench", '{"question_id": 1, "winner": "A", "judge": "x"}', "is no winner; found 'A'"),
        ("mt-bench", "", "holds no preferences"),
        ("mt-bench", '{"question_id"', "is not JSON"),
    ],
)
def test_a_broken_file_gives_a_sentence(name: str, content: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "log.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=words):
        read_preferences(PREFERENCE_TOOLS[name], [file], "x", "Overall")


def test_the_command_says_what_the_log_could_not_tell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["import", str(ALPACA), "-o", str(tmp_path / "out")])
    assert not ended.value.code
    said = capsys.readouterr().out
    assert "8 preferences by alpaca_eval_gpt4, 0 by people" in said
    assert "the tool wrote a tie without asking" in said
    log = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))["log"]
    assert log["lost"] == {"missing": 1, "defaulted": 1}
