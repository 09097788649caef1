"""One run definition through a vLLM server, vLLM in process and transformers: one plan, one kind of journal."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judge.answers.journal import JournalReader
from judge.ratings.ratings_table import read
from tests.vllm.conftest import CONTEXT, Define, Judge

JUDGES = {"server": "openai/smollm2", "process": "vllm/smollm2", "transformers": "hf/smollm2"}
QUERIES = 4 * 3
"""Four stories, one criterion, three Eval-Prompts."""
TOLERANCE = 0.01
"""Points of the scale by which expected ratings may differ between engines on the same float32 weights."""


def rows(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / "journal.sqlite")) as database:
        return database.execute(sql).fetchall()


def ask_all(definition: Path, judge: Judge) -> dict[str, Path]:
    """The definition asked by every executor, each into a folder of its own."""
    folders = {}
    for name, how in JUDGES.items():
        folders[name] = definition.parent / name
        judge("run", definition, "--judge", how, "--output", folders[name], "--quiet")
    return folders


def test_one_definition_by_three_executors(definition: Define, judge: Judge) -> None:
    run = definition(
        structured="choice", scoring="logprobs", generation={"temperature": 1.0, "max_tokens": 4, "seed": 11}
    )
    folders = ask_all(run, judge)

    keys = {name: {key for (key,) in rows(folder, "SELECT key FROM queries")} for name, folder in folders.items()}
    assert keys["server"] == keys["process"] == keys["transformers"]
    assert len(keys["server"]) == QUERIES
    for name, folder in folders.items():
        with JournalReader(folder / "journal.sqlite") as journal:
            definitions = journal.meta()["definition"]
            assert journal.totals().answered == QUERIES * 2
        assert definitions["judge_key"].startswith("b2:")
        used = rows(folder, "SELECT DISTINCT s.executor FROM attempts a JOIN sessions s ON s.id = a.session")
        assert used == [(JUDGES[name].split("/")[0],)]

    expected = {}
    for name, folder in folders.items():
        frame = read([folder]).frame
        frame = frame[frame["source"] == "judge"].set_index(["story", "criterion", "eval_prompt", "repeat"])
        # A constrained answer always holds a rating.
        assert (frame["status"] == "ok").all()
        assert len(frame) == QUERIES * 2
        expected[name] = frame["rating"]
    # The distribution over the scale, and so its mean, does not depend on which point was drawn.
    assert expected["server"].nunique() > QUERIES / 2
    for name in ("process", "transformers"):
        assert (expected[name] - expected["server"]).abs().max() < TOLERANCE

    check_facts(folders)
    check_merging(run, folders, judge)


def check_facts(folders: dict[str, Path]) -> None:
    """What the manifest says of each executor."""
    facts = {
        name: json.loads((folder / "manifest.json").read_text())["in_force"]["server"]
        for name, folder in folders.items()
    }
    (server,) = facts["server"]["servers"]
    hashes = {server["chat_template_hash"], *(facts[n]["chat_template_hash"] for n in ("process", "transformers"))}
    assert len(hashes) == 1
    assert server["version"]
    assert server["max_model_len"] == CONTEXT
    assert facts["process"]["version"].startswith("vllm")
    assert facts["process"]["dtype"] == facts["transformers"]["dtype"] == "float32"
    # This vLLM keeps to a seed, so nothing is noted.
    assert "notes" not in facts["server"]
    for name in ("server", "process"):
        totals = json.loads((folders[name] / "manifest.json").read_text())["totals"]
        assert 0 < totals["cached_tokens"] < totals["prompt_tokens"]


def check_merging(run: Path, folders: dict[str, Path], judge: Judge) -> None:
    """A journal begun by one executor is ended by another, or with another's answers."""
    both = run.parent / "both"
    judge("run", run, "--judge", JUDGES["server"], "--output", both, "--limit", "1", "--quiet")
    judge("run", run, "--judge", JUDGES["transformers"], "--output", both, "--quiet")
    counts = rows(both, "SELECT s.executor, count(*) FROM attempts a JOIN sessions s ON s.id = a.session GROUP BY 1")
    assert dict(counts) == {"openai": QUERIES * 2 // 4, "hf": QUERIES * 2 * 3 // 4}
    reused = run.parent / "reused"
    judge("run", run, "--output", reused, "--reuse", folders["process"], "--quiet")
    assert rows(reused, "SELECT count(*) FROM responses") == [(QUERIES * 2,)]
    theirs = rows(folders["process"], "SELECT query_key, repeat, text FROM responses ORDER BY 1, 2")
    assert rows(reused, "SELECT query_key, repeat, text FROM responses ORDER BY 1, 2") == theirs
    stranger = run.parent / "stranger"
    ended = judge("run", run, "--set", "identity=another", "--output", stranger, "--reuse", folders["process"], code=1)
    assert "another judge" in ended.stderr


@pytest.mark.parametrize("structured", ["none", "json"])
def test_repeats_of_one_request_on_the_server(definition: Define, judge: Judge, structured: str) -> None:
    run = definition(repeats=3, structured=structured, generation={"temperature": 1.0, "max_tokens": 40})
    judge("run", run, "--quiet")
    folder = run.parent / "openai-smollm2"
    texts = rows(folder, "SELECT query_key, repeat, text FROM responses")
    assert len(texts) == QUERIES * 3
    calls = rows(folder, "SELECT count(*) FROM responses WHERE prompt_tokens IS NOT NULL")
    assert calls == [(QUERIES,)]
    parsed = read([folder]).frame.query("source == 'judge'")
    if structured == "json":
        # ep1 and ep4 ask for a rating alone, which fits into the limit whatever the model is.
        assert (parsed[parsed["eval_prompt"] == "ep1"]["status"] == "ok").all()
    else:
        assert len({text for _, _, text in texts}) > QUERIES * 2


def test_seeds_repeat_answers_on_the_server_and_in_transformers(definition: Define, judge: Judge) -> None:
    run = definition(generation={"temperature": 1.0, "max_tokens": 12, "seed": 5})
    for how in (JUDGES["server"], JUDGES["transformers"]):
        said = []
        for number in (1, 2):
            folder = run.parent / f"{how.split('/')[0]}-{number}"
            judge("run", run, "--judge", how, "--output", folder, "--limit", "2", "--quiet")
            said.append(rows(folder, "SELECT query_key, repeat, text FROM responses ORDER BY 1, 2"))
        equal = sum(first == second for first, second in zip(*said, strict=True))
        # Batches differ from run to run, and the last bit of a sum with them: a rare draw may fall otherwise.
        assert equal >= 0.9 * len(said[0])
        assert len({text for _, _, text in said[0]}) > len(said[0]) / 2
