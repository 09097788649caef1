"""Terms over-represented on one side: the formula by hand, planted words, and verdicts kept apart."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from judge.base.records import Criterion, Scale
from judge.cli.main import app
from judge.explanations.corpus.corpus import ExplanationTexts, frame_of, stories_of
from judge.explanations.mapping.explanation_map import ExplanationMap, map_explanations
from judge.explanations.mapping.keywords import JUDGES, PEOPLE, log_odds, side_words
from judge.explanations.options import ExplainOptions

PACE = Criterion("Pace", "PA", "how fast it is", Scale.of_labels(["No", "Yes"]))


def _texts(*, sides: bool = True) -> ExplanationTexts:
    """Sixty texts: people say plums, judges say themes; a No is dull and a Yes bright on both sides."""
    rows = []
    for i in range(60):
        people, yes = i % 2 == 0, i % 4 < 2
        words = f"{'plums plums' if people else 'themes'} {'bright' if yes else 'dull'} page{i % 5}"
        side = ("expert" if people else "m") if sides else ""
        rows.append(
            {"dataset": "d", "story": f"s{i % 6}", "judge": side, "side": side, "criterion": "Pace", "status": "ok"}
            | {"rating": float(yes), "explanation": words}
        )
    return ExplanationTexts(frame_of(rows), stories_of([]), (PACE,), (), ())


def _map(texts: ExplanationTexts, top: int = 3) -> ExplanationMap:
    return map_explanations(texts, ExplainOptions(model="tfidf", map="none", cluster_on="none", by=("side",), top=top))


def test_log_odds_by_hand() -> None:
    # Monroe et al. 2008, equations 15, 16 and 22, term by term.
    first, second, prior = [8.0, 2.0, 0.0, 5.0], [1.0, 9.0, 0.0, 10.0], 20.0
    n1, n2 = sum(first), sum(second)
    expected = []
    for one, two in zip(first, second, strict=True):
        a = prior * (one + two) / (n1 + n2)
        if not a:
            expected.append(0.0)
            continue
        delta = math.log((one + a) / (n1 + prior - one - a)) - math.log((two + a) / (n2 + prior - two - a))
        expected.append(delta / math.sqrt(1 / (one + a) + 1 / (two + a)))
    found = log_odds(np.array(first), np.array(second), prior)
    assert found == pytest.approx(expected)
    assert log_odds(np.array(second), np.array(first), prior) == pytest.approx(-found)


def test_planted_words_lead_their_side_and_words_of_a_verdict_do_not() -> None:
    found = side_words(_map(_texts()))
    assert found is not None
    assert (found.people, found.judges) == (30, 30)
    assert [*dict.fromkeys(row.within for row in found.rows)] == ["", "No", "Yes"]
    for within in ("", "No", "Yes"):
        for said_by, word in ((PEOPLE, "plums"), (JUDGES, "themes")):
            rows = [row for row in found.rows if (row.within, row.said_by) == (within, said_by)]
            assert word in rows[0].term
            assert all(row.z > 0 for row in rows)
            assert all(row.z < rows[0].z / 2 for row in rows if row.term in ("dull", "bright"))
    plums = next(row for row in found.rows if row.term == "plums")
    assert (plums.people, plums.judges, plums.judges_rate) == (30, 0, 0.0)
    assert plums.stories == 3


def test_without_both_sides_there_is_nothing_to_say() -> None:
    assert side_words(_map(_texts(sides=False))) is None


def test_labels_are_the_bands_of_their_scale() -> None:
    assert set(_map(_texts()).rows["band"]) == {"No", "Yes"}


def test_the_command_sets_sides_of_a_file_apart_and_draws_them(tmp_path: Path) -> None:
    frame = _texts().frame
    file, out, figure = tmp_path / "both.jsonl", tmp_path / "out.json", tmp_path / "sides.png"
    columns = ["story", "judge", "side", "criterion", "rating", "text"]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in frame[columns].to_dict("records")), encoding="utf-8")
    few = ["--set", "permutations=19", "--set", "refits=19", "--resamples", "20"]
    asked = [
        "explain",
        str(file),
        *few,
        "--layout",
        "clusters",
        "--model",
        "tfidf",
        "--map",
        "pca",
        "--by",
        "side",
        "--quiet",
        "--format",
        "json",
    ]
    done = CliRunner().invoke(app, [*asked, "-o", str(out), "--set", f"figure={figure}"])
    assert done.exit_code == 0, done.output
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert "60 explanations by side" in done.output
    printed = out.read_text(encoding="utf-8")
    assert "Terms that people use more than judges" in printed
    assert '"plums"' in printed
    assert '"group":"expert"' in printed.replace('": "', '":"')


def test_a_figure_needs_a_map_and_a_known_ending(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"text": "Well told."}\n', encoding="utf-8")
    for arguments, said in (
        (["--set", f"figure={tmp_path / 'a.gif'}"], ".png, .svg"),
        (["--set", f"figure={tmp_path / 'a.png'}", "--map", "none"], "makes none"),
    ):
        failed = CliRunner().invoke(app, ["explain", str(file), *arguments])
        assert failed.exit_code != 0
        assert said in str(failed.exception)
