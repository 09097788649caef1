"""Logs that the real tools wrote, read and held against what the tools' own programs read of them.

The scripts in `written_by` wrote the logs and the `*.expected.json`, which name the tool, its version and the call that
gave the values.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judge.cli.main import main
from judge.ratings.ratings_table import read

FILES = Path(__file__).parent / "files"
LM_EVAL = FILES / "lm_eval-0.4.13" / "mock-judge"


def _code(call: list[str]) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as ended:
        main(call)
    return int(ended.value.code or 0)


def _expected(name: str) -> dict[str, Any]:
    return dict(json.loads((FILES / f"{name}.expected.json").read_text(encoding="utf-8")))


def _table(tmp_path: Path, *call: str) -> pd.DataFrame:
    assert _code(["import", *call, "-o", str(tmp_path / "out")]) == 0
    return read([tmp_path / "out"]).frame


def _lost(frame: pd.DataFrame) -> dict[str, int]:
    judged = frame[frame["source"] == "judge"]
    return dict(Counter(judged.loc[judged["rating"].isna(), "status"]))


def _log(tmp_path: Path) -> dict[str, Any]:
    return dict(json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))["log"])


@pytest.mark.parametrize("suffix", ["eval", "json"])
def test_inspect(tmp_path: Path, suffix: str) -> None:
    expected = _expected("inspect")
    frame = _table(tmp_path, str(FILES / f"inspect-{expected['version']}.{suffix}"))
    words = {"I": "incorrect", "P": "partial", "C": "correct"}
    for sample in expected["values"]:
        own = frame[frame["story"] == f"mockllm/model/{sample['sample']}/{sample['epoch']}"].set_index("criterion")
        for scorer, score in sample["scores"].items():
            value = score["value"]
            for key, one in value.items() if isinstance(value, dict) else [(None, value)]:
                row = own.loc[scorer if key is None else f"{scorer}.{key}"]
                if isinstance(one, str):
                    assert row["label"] == words[one]
                else:
                    assert row["rating"] == one or (math.isnan(one) and math.isnan(row["rating"]))
        if sample["error"]:
            assert set(own["flags"]) == {"log_error"}
            assert own["rating"].isna().all()
    assert dict(frame.groupby("criterion")["judge"].unique().map(list)) == {
        "model_graded_qa": ["mockllm/grader"],
        "rubric.Coherence": ["code/rubric"],
        "rubric.Surprise": ["code/rubric"],
        "includes": ["code/includes"],
    }
    # The grader's blocked answer stands in the events, which the JSON was written without.
    blocked = {"filtered": 1, "no_rating": 1} if suffix == "eval" else {"no_rating": 2}
    assert _lost(frame) == {"not_answered": 12, **blocked}
    assert "Read and thought about." in frame.loc[frame["criterion"] == "model_graded_qa", "explanation"].iloc[0]
    assert _log(tmp_path)["version"] == expected["version"]


def test_inspect_of_inputs_has_epochs_as_repeats_and_targets_as_people(tmp_path: Path) -> None:
    call = ["--set", "judged=inputs", "--column", "people=sample.target", "--set", "leave_out=includes,model_graded_qa"]
    frame = _table(tmp_path, str(FILES / "inspect-0.3.285.eval"), *call)
    judged = frame[frame["source"] == "judge"]
    assert set(judged["judge"]) == {"mockllm/model"}
    assert set(judged["repeat"]) == {0, 1}
    people = frame[(frame["source"] == "rater") & (frame["criterion"] == "rubric.Coherence")]
    assert dict(zip(people["story"], people["rating"], strict=True)) == {"s0": 1, "s1": 2, "s2": 3, "s3": 4}


def test_lm_eval_answers(tmp_path: Path) -> None:
    file = next(LM_EVAL.glob("samples_rate_coherence_*"))
    frame = _table(tmp_path, str(file), "--column", "story=doc.id", "--column", "people=target")
    expected = _expected("lm_eval")
    filtered = {one["id"]: one["filtered"][0] for one in expected["values"]["rate_coherence"]}
    judged = frame[frame["source"] == "judge"].set_index("story")
    read_back = {story: "[invalid]" if math.isnan(r) else f"{r:g}" for story, r in judged["rating"].items()}
    assert read_back == filtered
    assert _lost(frame) == {"no_rating": 1, "empty": 1}
    people = frame[frame["source"] == "rater"].set_index("story")["rating"]
    exact = (judged["rating"] == people).mean()
    assert exact == expected["results"]["rate_coherence"]["exact_match,rating"]
    assert judged.loc["s1", "explanation"] == "I give it 2"


def test_lm_eval_choices_and_metrics(tmp_path: Path) -> None:
    file = next(LM_EVAL.glob("samples_coherent_*"))
    frame = _table(tmp_path, str(file), "--column", "story=doc.id", "--labels", "no,yes")
    expected = _expected("lm_eval")
    likelier = {
        one["id"]: "yes" if float(one["filtered"][1][0]) > float(one["filtered"][0][0]) else "no"
        for one in expected["values"]["coherent"]
    }
    assert dict(zip(frame["story"], frame["label"], strict=True)) == likelier
    frame = _table(tmp_path / "more", str(file), "--set", "judged=outputs")
    assert frame["rating"].mean() == expected["results"]["coherent"]["acc,none"]
    assert set(frame["judge"]) == {"code/acc"}


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_promptfoo(tmp_path: Path, suffix: str) -> None:
    whole = json.loads((FILES / "promptfoo-0.123.1.json").read_text(encoding="utf-8"))["results"]
    sums = whole["prompts"][0]["metrics"]["namedScores"]
    frame = _table(tmp_path, str(FILES / f"promptfoo-0.123.1.{suffix}"))
    totals = frame.groupby("criterion")["rating"].sum()
    assert totals["Coherence"] == sums["Coherence"]
    assert totals["Named"] == sums["Named"]
    # Its zeros for graders that failed are in promptfoo's sums; here they are no scores.
    coherence = frame[frame["criterion"] == "Coherence"]
    assert _lost(coherence) == {"filtered": 2, "no_rating": 2, "not_answered": 4}
    assert coherence["rating"].dropna().tolist() == [0.75, 0.75]
    assert len(frame[frame["criterion"] == "Coherence"]) == whole["stats"]["successes"] + 8
    assert set(frame["judge"]) == {"file://grader.js", "code/icontains"}


def test_promptfoo_by_a_variable_is_repeated(tmp_path: Path) -> None:
    frame = _table(tmp_path, str(FILES / "promptfoo-0.123.1.json"), "--column", "story=vars.id")
    assert set(frame["story"]) == {"s0", "s1", "s2", "s3", "s4"}
    assert sorted(frame.loc[frame["criterion"] == "Named", "repeat"].unique()) == [0, 1]


def test_deepeval(tmp_path: Path) -> None:
    frame = _table(tmp_path, str(FILES / "deepeval-4.3.1.json")).set_index(["story", "criterion"])
    for one in _expected("deepeval")["values"]:
        row = frame.loc[(one["name"], one["metric"])]
        assert (None if math.isnan(row["rating"]) else row["rating"]) == one["score"]
        assert (row["explanation"] if isinstance(row["explanation"], str) else None) == one["reason"]
        assert (row["status"] == "imported") == (one["error"] is None)
    assert _lost(frame.reset_index()) == {"filtered": 2, "no_rating": 2, "not_answered": 2}
    assert set(frame["judge"]) == {"mock-grader"}


def test_a_zero_beside_an_error_is_no_score(tmp_path: Path) -> None:
    run = json.loads((FILES / "deepeval-4.3.1.json").read_text(encoding="utf-8"))
    for case in run["testCases"]:
        for metric in case["metricsData"]:
            metric.setdefault("score", 0)
    (tmp_path / "run.json").write_text(json.dumps(run), encoding="utf-8")
    assert _lost(_table(tmp_path, str(tmp_path / "run.json"))) == {
        "filtered": 2,
        "no_rating": 2,
        "not_answered": 2,
    }


def test_mlflow(tmp_path: Path) -> None:
    frame = _table(tmp_path, str(FILES / "mlflow-3.17.2.jsonl"))
    expected = [one for one in _expected("mlflow")["values"] if one["valid"]]
    assert len(frame) == len(expected)
    for one in expected:
        people = one["kind"] == "HUMAN"
        own = frame[(frame["story"] == one["trace"]) & (frame["criterion"] == one["name"])]
        who = "code/words.py" if one["kind"] == "CODE" else one["who"]
        row = own[own["rater" if people else "judge"] == who].iloc[0]
        assert row["source"] == ("rater" if people else "judge")
        if one["error"]:
            assert math.isnan(row["rating"])
        else:
            assert row["rating"] == float(one["value"])
    assert _lost(frame) == {"not_answered": 1, "filtered": 1}
    assert set(frame.loc[frame["criterion"] == "funny", "label"]) == {"Yes", "No"}
    assert any("overridden" in words for words in _log(tmp_path)["not told"])
    stories = read([tmp_path / "out"]).stories
    assert "Lamp 0 was old." in set(stories["text"])


@pytest.mark.parametrize("file", ["phoenix-20.26.1.json", "phoenix-20.26.1-dataframe.csv"])
def test_phoenix(tmp_path: Path, file: str) -> None:
    frame = _table(tmp_path, str(FILES / file), "--labels", "funny=no,yes")
    for span, name, kind, score, label in _expected("phoenix")["values"]:
        own = frame[(frame["story"] == span) & (frame["criterion"] == name)]
        row = own[own["source"] == ("rater" if kind == "HUMAN" else "judge")].iloc[0]
        if score is not None:
            assert row["rating"] == score
        elif label is not None:
            assert row["label"] == label
        else:
            assert row["status"] == "filtered"
    assert set(frame.loc[frame["source"] == "rater", "rater"]) == {"ann"}
    assert set(frame["judge"].dropna()) == {"unnamed/coherence", "gpt-4o", "code/words"}


def test_langfuse(tmp_path: Path) -> None:
    frame = _table(tmp_path, str(FILES / "langfuse-5.0.4.json"), "--labels", "genre=essay,tale")
    values = [one for one in _expected("langfuse")["values"] if one[1] != "note"]
    assert len(frame) == len(values)
    for trace, name, source, value, word in values:
        own = frame[(frame["story"] == trace) & (frame["criterion"] == name)]
        row = own[own["source"] == ("rater" if source == "ANNOTATION" else "judge")].iloc[0]
        if name == "genre":
            assert row["label"] == word
        elif name == "funny":
            assert row["label"] == {"True": "Yes", "False": "No"}[word]
        else:
            assert row["rating"] == value
    assert set(frame.loc[frame["source"] == "rater", "rater"]) == {"ann"}
