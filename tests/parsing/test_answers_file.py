"""Answers in JSON Lines: what a line may carry, what passes through, and what is said about a line that is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judge.answers.parsing import parser
from judge.answers.parsing.answers_file import differing, parse_answers, parse_scale, read_answers, summary
from judge.base.errors import DataError, SpecError
from judge.base.records import Scale


def written(folder: Path, *rows: Any) -> Path:
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_line_carries_its_own_criterion_scale_and_finish(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"text": "8", "scale": "1-10"},
        {"text": "8", "scale": [0, 8]},
        {"text": "8"},
        {"text": "The story is", "finish_reason": "length"},
        {"text": "Relevance: 4\nCoherence: 2", "criterion": "Relevance"},
        {"text": "Relevance: 4\nCoherence: 2", "criterion": "Coherence"},
        {"text": None, "reasoning": "Rating: 4"},
    )
    parsed = parse_answers(read_answers(path, None, Scale()), parser("ours"), "none")
    assert [(p.judgment.status, p.judgment.rating) for p in parsed] == [
        ("ok", 8), ("ok", 8), ("out_of_scale", None), ("truncated", None), ("ok", 4), ("ok", 2), ("empty", None)
    ]  # fmt: skip
    assert summary([p.judgment.status for p in parsed]) == "7 answers: 4 ok, 1 out_of_scale, 1 truncated, 1 empty"


def test_without_a_criterion_any_named_rating_counts_and_several_are_ambiguous(tmp_path: Path) -> None:
    path = written(tmp_path, {"text": "Coherence: 4"}, {"text": "Coherence: 4\nEmpathy: 2"})
    parsed = parse_answers(read_answers(path, None, Scale()), parser("ours"), "none")
    assert [p.judgment.status for p in parsed] == ["ok", "ambiguous"]


def test_other_keys_pass_through_and_never_hide_a_result(tmp_path: Path) -> None:
    path = written(tmp_path, {"text": "4", "story": "s1", "rating": 2, "given_rating": 1, "extra": {"a": 1}})
    (one,) = parse_answers(read_answers(path, "Coherence", Scale()), parser("ours"), "none")
    assert one.row() == {
        "line": 1, "criterion": "Coherence", "story": "s1", "given_given_rating": 2, "given_rating": 1,
        "extra": {"a": 1}, "rating": 4, "status": "ok", "flags": "", "explanation": None,
    }  # fmt: skip


def test_lines_keep_their_number_over_blank_lines_and_unicode_line_breaks(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes('\ufeff{"text": "4\u2028Fine."}\r\n\n{"text": "5"}\n'.encode())
    assert [a.line for a in read_answers(path, None, Scale())] == [1, 3]


def test_differing_pairs_name_what_the_published_rule_makes_up(tmp_path: Path) -> None:
    path = written(tmp_path, {"text": "4"}, {"text": "N/A"}, {"text": "In 1984. Rating: 5"})
    answers = read_answers(path, "Coherence", Scale())
    pairs = differing(*(parse_answers(answers, parser(name), "none") for name in ("ours", "as-published")))
    assert [(a.answer.line, a.judgment.rating, b.judgment.rating) for a, b in pairs] == [(2, None, 3), (3, 5, 3)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"text": "4"}\nnope\n', r"row 2: is not JSON; found 'nope'"),
        (b'["4"]\n', r"row 1: is not a JSON object"),
        (b'{"answer": "4"}\n', r"row 1, column 'text': has no text"),
        (b'{"text": 4}\n', r"row 1, column 'text': is not text; found 4; allowed: a string"),
        (b'{"text": "4", "criterion": 7}\n', r"column 'criterion': is not text"),
        (b'{"text": "4", "scale": 5}\n', r"column 'scale': is no scale; found 5"),
        (b'{"text": "\xff"}\n', r"is not UTF-8"),
        (b"\n", r"holds no answers"),
    ],
)  # fmt: skip
def test_a_wrong_line_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_answers(path, None, Scale())


def test_scales_are_read_with_and_without_a_step() -> None:
    assert parse_scale("1-5") == Scale(1, 5, 1)
    assert parse_scale("0-100") == Scale(0, 100, 1)
    assert parse_scale("1-5/0.5") == Scale(1, 5, 0.5)
    assert parse_scale("-2-2") == Scale(-2, 2, 1)
    for wrong in ("5", "5-1", "1-5/0", "a-b", ""):
        with pytest.raises(SpecError, match="is no scale"):
            parse_scale(wrong)
