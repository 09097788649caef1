"""judge contamination check: recitals, how blunt the look is, dates, and what cannot be measured."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judge.base.errors import OptionError, SpecError
from judge.base.estimate import Estimate
from judge.base.wording import PYTHON
from judge.contamination import check as compute
from judge.contamination.check import Checked, Recital, dated, passages, tells
from judge.contamination.options import CheckOptions
from judge.contamination.scores import recital
from judge.contamination.texts import Text
from judge.demo import run_demo

Run = Callable[..., int]


def test_a_recital_is_the_likeliest_stretch_without_what_the_text_repeats() -> None:
    logprobs = np.array([np.nan, *[-1.0] * 60, *[-0.01] * 60])
    assert recital(logprobs, list(range(121))).value == pytest.approx(-0.5)
    # The second half says the first half again: a model copies it, and has learned nothing by heart.
    tokens = [*range(61), *range(1, 61)]
    assert recital(logprobs, tokens).value == pytest.approx(-43 - 7 * 0.01)
    assert recital(logprobs[:30], tokens[:30]).value is None


def row(stories: Recital | None, known: Recital | None, corrected: Estimate | None = None) -> Checked:
    about = dated("m", "nothing")
    return Checked("d", "m", about, stories, known, corrected or Estimate.undefined("no labelled set"), why="closed")


def test_each_verdict_has_its_rule() -> None:
    none, some, known = Recital((-90.0, -120.0)), Recital((-90.0, -3.0)), Recital((-2.0, -100.0, -100.0))
    close, far = Recital((-40.0, -60.0, -95.0)), Recital((-100.0, -110.0))
    assert row(None, None).verdict == "not measured"
    assert row(some, known).verdict == "recites stories"
    assert row(none, known).verdict == "recites none"
    assert row(none, close).verdict == "recites none"
    assert row(none, far).verdict == "cannot be told"
    assert row(none, known, Estimate(0.3, 20, 0.1, 0.5)).verdict == "some seen"
    assert row(none, known, Estimate(0.1, 20, -0.1, 0.3)).verdict == "not shown"
    assert (some.recited, close.above(none), tells(none, None)) == (1, 2, False)
    assert math.exp(-3) > 1e-3


def test_dates_say_who_was_first_and_never_guess() -> None:
    assert dated("openai/gpt-3.5-turbo", "hanna").order == "model first"
    assert dated("Mistral-7B", "hanna").order == "stories first"
    assert dated("openai/unheard-of", "hanna").order == "not known"
    assert dated("openai/unheard-of", "hanna", ["unheard-of=2020-01"]).order == "model first"
    assert dated("Mistral-7B", "mine").order == "not known"
    # Names that only begin like one that is known are other models.
    for other in ("gpt-4.1-mini", "gpt-4-turbo", "Mistral-7B-Instruct-v0.3", "Llama-13B"):
        assert dated(f"any/{other}", "hanna_llm").order == "not known"
    for known in ("openai/gpt-4", "local/smollm2", "Beluga-13B", "hf/stabilityai/StableBeluga-13B", "OrcaPlatypus"):
        assert dated(known, "hanna").order == "stories first", known
    with pytest.raises(OptionError, match="YYYY-MM"):
        CheckOptions(released=("x=2020",))


def test_passages_are_long_enough_to_be_recited() -> None:
    found = passages()
    assert len(found) == 8
    assert min(len(one.text.split()) for one in found) > 70


def test_weights_that_are_named_are_scored_and_the_rest_say_why(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demo_run = tmp_path / "demo"
    run_demo(demo_run, quiet=True)
    capsys.readouterr()
    assert run("check", demo_run, "--model", "bigrams/large", "--quiet", "--format", "json") == 0
    (table,) = [json.loads(capsys.readouterr().out)]
    (found,) = table["rows"]
    assert (found["model"], found["recited"], found["stories"]) == ("bigrams/large", 0, 48)
    assert found["verdict"] in ("recites none", "cannot be told")
    (path,) = demo_run.glob("*/derived/*.seen.jsonl")
    assert "passage:" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("named", ["http://127.0.0.1:9/v1", ["http://127.0.0.1:9/v1", "http://127.0.0.1:8/v1"]])
def test_a_judge_is_scored_where_its_run_asked_it(
    named: str | list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an address on the command line; what is given there goes first, and providers' own hosts are closed."""

    def manifest(base_url: Any) -> Path:
        (tmp_path / "manifest.json").write_text(json.dumps({"asked": {"base_url": base_url}}), encoding="utf-8")
        return tmp_path

    seen: list[str | None] = []

    def scored(_texts: object, _model: str, options: Any, *_: object, **__: object) -> None:
        seen.append(options.base_url)
        raise SpecError("no server there")

    monkeypatch.setattr(compute, "scored", scored)
    monkeypatch.setattr(compute, "_stories", lambda *_: [Text("s", "text", "hash", "A")])

    def check_of(options: CheckOptions) -> str:
        found = compute._checked(None, "d", "openai/mine", manifest(named), options, None)  # type: ignore[arg-type]
        return str(found.why)

    assert check_of(CheckOptions()) == "no server there"
    assert check_of(CheckOptions(base_url="http://127.0.0.1:7/v1")) == "no server there"
    assert seen == ["http://127.0.0.1:9/v1", "http://127.0.0.1:7/v1"]
    for other in ("https://api.openai.com/v1", "https://openrouter.ai/api/v1", None, []):
        assert compute.at_its_server("openai/mine", manifest(other), CheckOptions()).base_url is None
    assert compute.at_its_server("gemini/mine", manifest(named), CheckOptions()).base_url is None


def checked(run: Run, folder: Path, capsys: pytest.CaptureFixture[str], *more: object) -> dict[str, Any]:
    """The one row of a check."""
    assert run("check", folder, "--model", "bigrams/large", "--judge", "bigrams/large", *more, "--format", "json") == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["rows"]
    return rows[-1]


def test_a_labelled_set_gives_the_share_that_was_seen(
    run: Run, folder: Path, labelled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The bigrams' threshold, of a set of books: half of the stories are in the words of what they were counted in.
    found = checked(run, folder, capsys, "--labelled", labelled, "--quiet")
    assert found["verdict"] == "some seen"
    assert found["corrected_low"] > 0
    assert "By the labelled set" in found["measured"]


def test_a_control_has_seen_nothing_and_a_sentence_says_so(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_demo(tmp_path / "demo", quiet=True)
    capsys.readouterr()
    assert run("check", tmp_path / "demo", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] == []
    assert found["notes"] == [
        "no language model rated these stories: a control, or answers from a file, has seen nothing"
    ]


def test_the_screen_of_a_check_fits_80_columns_and_progress_in_a_file_is_one_line(
    run: Run, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("check", folder, "--model", "bigrams/large", "--judge", "bigrams/large") == 0
    printed = capsys.readouterr()
    assert max(map(len, printed.out.splitlines())) <= 80
    assert re.search(r"^bigrams/large on the stories of \S+: [A-Z ]+$", printed.out, flags=re.MULTILINE)
    assert "--labelled FILE" in " ".join(printed.out.split())
    lines = [line for line in printed.err.splitlines() if "texts" in line]
    assert lines
    assert all(re.fullmatch(r"log-probabilities: (\d+)/\1 texts", line) for line in lines)
    assert len(lines) == len(set(lines))


def test_models_of_which_the_same_is_said_share_it_and_keep_their_dates() -> None:
    names = ("gpt-4-0613", "unheard-of")
    rows = tuple(Checked("hanna", name, dated(name, "hanna"), why="nobody scored it") for name in names)
    printed = compute.text(compute.Check(rows, signature_parts=("v",), notes=()), PYTHON)
    assert printed.count("nobody scored it") == 1
    assert "gpt-4-0613 and unheard-of on the stories of hanna: NOT MEASURED" in printed
    words = " ".join(printed.split())
    for row in rows:
        assert f"{row.model}: {row.dated.brief}" in words
