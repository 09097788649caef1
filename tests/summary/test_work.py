"""A summary computes what it prints: its work grows with criteria, and not with what only other tables show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judge.analysis.agreement import alternative_annotator
from judge.questions.summary.evidence import Evidence
from judge.questions.summary.result import EvidenceOptions
from judge.questions.summary.summarize import summarize
from judge.ratings.ratings_table import read
from judge.stats.resampling import true_means
from tests.benchmarks import many_criteria
from tests.growth import linear

CRITERIA = 7


def _run(folder: Path) -> Path:
    from judge.cli.main import main

    rng = np.random.default_rng(0)
    lines = ["story,story_prompt,system,criterion,judge,rater,rating"]
    for i in range(36):
        for k in range(CRITERIA):
            for judge, rater in (("gpt", ""), ("", "h1"), ("", "h2"), ("", "h3")):
                lines.append(f"s{i},p{i // 6},sys{i % 6},C{k},{judge},{rater},{rng.integers(1, 6)}")
    (folder / "ratings.csv").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["import", str(folder / "ratings.csv"), "-o", str(folder / "run")])
    assert not ended.value.code
    return folder / "run"


def _counted(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[str]:
    calls: list[str] = []
    original: Callable[..., Any] = getattr(module, name)

    def counting(*args: Any, **words: Any) -> Any:
        calls.append(name)
        return original(*args, **words)

    monkeypatch.setattr(module, name, counting)
    return calls


def test_a_summary_tests_and_resamples_each_criterion_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    table = read([str(_run(tmp_path))])
    tests = _counted(monkeypatch, alternative_annotator, "alt_test")
    rows: list[int] = []
    correlations = true_means.correlations
    monkeypatch.setattr(
        true_means, "correlations", lambda *words: (rows.append(len(words[1])), correlations(*words))[1]
    )
    (screen,) = summarize(Evidence(table, EvidenceOptions(resamples=20)), ["run"]).datasets
    assert {answer.label for answer in screen.answers} >= {"replace", "systems"}
    # No uninformed judge is tested, and no person's correlation over systems resampled: neither is printed.
    assert len(tests) == CRITERIA
    assert sum(rows) == CRITERIA


def test_time_grows_no_faster_than_the_number_of_criteria(tmp_path: Path) -> None:
    tables = {
        criteria: read([many_criteria.write(tmp_path / str(criteria), criteria)], explanations=False)
        for criteria in (8, 64)
    }

    def work(criteria: int) -> object:
        # A copy, since a table keeps what was built of it.
        return summarize(Evidence(replace(tables[criteria]), EvidenceOptions(resamples=50)), ["x"])

    assert linear(work, 64)
