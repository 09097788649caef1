"""A run in parts: real processes that are killed, and a merge that takes every answer once or says why not."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from judge.answers.journal import JournalReader, parts
from judge.asking.execution.plan_part import PlanPart
from judge.asking.run_folder import lock, read_manifest
from judge.base.errors import SpecError
from judge.cli.main import main
from judge.inputs.datasets import open_dataset
from tests.server.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]
SLURM = Path(__file__).resolve().parents[2] / "docs" / "slurm.md"
STORIES, REPEATS = 40, 2
PLANNED = STORIES * 2 * REPEATS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Forty stories for ten story-prompts, which do not stand together in the file."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path / "home"))
    lines = [
        {
            "id": f"s{i}",
            "story_prompt": f"Story-prompt {i % 10}",
            "system": f"system{i % 3}",
            "text": f"Story {i}: the lamp on the quay went out, and nobody lit it again for {i} years.",
            "ratings": [{"rater": "r1", "criterion": "Overall", "value": 1 + i % 5}],
        }
        for i in range(STORIES)
    ]
    (tmp_path / "stories.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return tmp_path


def write(folder: Path, server: LoopbackServer, **more: Any) -> Path:
    """A run of its own in a folder of its own; returns its result folder."""
    name = more.pop("name", "cut")
    place = folder / name
    place.mkdir(exist_ok=True)
    run = {
        "name": "cut",
        "dataset": str(folder / "stories.jsonl"),
        "judge": "openai/mock",
        "criteria": "overall",
        "eval_prompts": ["ep1", "ep2"],
        "repeats": REPEATS,
        "generation": {"temperature": 1.0},
        "base_url": server.url,
        "concurrency": 4,
        "attempt_timeout": 5.0,
    }
    (place / "run.yaml").write_text(yaml.safe_dump(run | more), encoding="utf-8")
    return place / "openai-mock"


def judge(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command."""
    code = 0
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as end:
        code = int(end.code or 0)
    said = capsys.readouterr()
    return code, said.out, said.err


def started(*arguments: object) -> subprocess.Popen[str]:
    """A command in a process of its own."""
    command = [sys.executable, "-m", "judge", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def tables(capsys: pytest.CaptureFixture[str], run: Path) -> Iterator[str]:
    """What a run's tables print, for people and for machines."""
    for command in (["ratings"], ["coverage"], ["consistency"], ["correlate", "--resamples", "100"]):
        for form in ("json", "csv"):
            code, out, said = judge(capsys, *command, run, "--format", form)
            assert code == 0, said
            yield out


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.integers(1, 12), st.none() | st.integers(1, 50))
def test_parts_hold_every_story_once_and_are_of_equal_length(prompts: list[int], of: int, limit: int | None) -> None:
    class Stories:
        def stories(self) -> Iterator[Any]:
            for place, prompt in enumerate(prompts):
                yield type("S", (), {"id": place, "story_prompt": str(prompt)})

    asked = min(len(prompts), limit or len(prompts))
    if of > asked:
        with pytest.raises(SpecError, match="too few"):
            PlanPart(1, of, limit).stories(Stories())  # type: ignore[arg-type]
        return
    found = [
        [story.id for story in PlanPart(number, of, limit).stories(Stories())]  # type: ignore[arg-type,attr-defined]
        for number in range(1, of + 1)
    ]
    first = sorted(range(len(prompts)), key=lambda place: (str(prompts[place]), place))[:asked]
    assert sorted(id_ for part in found for id_ in part) == sorted(first)
    assert max(map(len, found)) - min(map(len, found)) <= 1
    # A story-prompt is cut at most where one part ends and the next begins.
    owners = Counter((prompt, number) for number, part in enumerate(found) for prompt in {prompts[id_] for id_ in part})
    assert len(owners) <= len({prompts[place] for place in first}) + of - 1


@pytest.mark.parametrize("words", ["0/4", "5/4", "1", "1/0", "a/b", "1/4/2", "-1/4", ""])
def test_what_is_no_shard_is_a_sentence(words: str) -> None:
    with pytest.raises(SpecError, match="is none of 1/N to N/N"):
        PlanPart.parse(words)


def test_shards_that_are_killed_and_started_again_give_the_tables_of_an_uncut_run(
    loopback: Start, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = loopback(latency_ms=250, expected_repeats=REPEATS)
    result = write(folder, server)
    run = folder / "cut"
    killed = [started("run", run, "--shard", f"{number}/3", "--quiet") for number in (1, 2, 3)]
    while server.stats()["answered"] < 25:
        time.sleep(0.02)
    for process in killed:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    kept = [_answers(result / "shards" / f"{number}-of-3") for number in (1, 2, 3)]
    assert 0 < sum(kept) < PLANNED
    before = server.stats()
    code, _, said = judge(capsys, "run", run, "--merge")
    assert code == 1
    assert re.search(r"shard 1/3 lacks [0-9]+ of 52 repeats; shard 2/3 lacks [0-9]+ of 52", said), said
    assert not (result / "journal.sqlite").exists()
    again = [started("run", run, "--shard", f"{number}/3", "--quiet") for number in (1, 2, 3)]
    for process in again:
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0, said
    # Every request that was not durable at the kill is made again, and no other. That is what was in flight, and what
    # was answered while the disk took the answers before it: one round of requests, or two on a busy machine.
    asked = (server.stats()["answered"] - before["answered"]) * REPEATS
    assert asked == PLANNED - sum(kept)
    assert before["answered"] * REPEATS - sum(kept) <= 2 * 3 * 4 * REPEATS
    code, out, said = judge(capsys, "run", run, "--merge")
    assert code == 0, said
    assert f"3 shards merged, {PLANNED} answers new; {PLANNED} of {PLANNED}" in out
    assert judge(capsys, "status", run, "--verify")[0] == 0
    server.configure(latency_ms=0)
    write(folder, server, name="uncut")
    assert judge(capsys, "run", folder / "uncut", "--quiet")[0] == 0
    for cut, uncut in zip(tables(capsys, run), tables(capsys, folder / "uncut"), strict=True):
        assert cut == uncut
    assert _answered_rows(result) == _answered_rows(folder / "uncut" / "openai-mock")


def _answers(part: Path) -> int:
    with JournalReader(part / "journal.sqlite") as journal:
        return journal.totals().answered


def _answered_rows(folder: Path) -> list[tuple[Any, ...]]:
    with JournalReader(folder / "journal.sqlite") as journal:
        return sorted((a.query_key, a.repeat, a.response.text) for a in journal.answers() if a.response is not None)


def shards(capsys: pytest.CaptureFixture[str], run: Path, numbers: list[int], of: int, *more: str) -> None:
    for number in numbers:
        code, _, said = judge(capsys, "run", run, "--shard", f"{number}/{of}", "--quiet", *more)
        assert code == 0, said


def test_merging_what_is_there_and_then_the_rest_takes_everything_once(
    loopback: Start, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result, run = write(folder, loopback()), folder / "cut"
    shards(capsys, run, [1, 3], 4)
    code, _, said = judge(capsys, "run", run, "--merge")
    assert (code, "shard 2/4 was never begun; shard 4/4 was never begun" in said) == (1, True)
    code, out, said = judge(capsys, "run", run, "--merge", "--partial")
    assert (code, f"{PLANNED // 2} answers new; {PLANNED // 2} of {PLANNED}" in out) == (3, True)
    assert judge(capsys, "run", run, "--merge", "--partial")[1].count(" 0 answers new") == 1
    assert "shards are not merged" not in judge(capsys, "status", run)[1]
    shards(capsys, run, [2, 4], 4)
    _, out, _ = judge(capsys, "status", run)
    assert f"2 of 4 shards are not merged, 2 of them at their end, with {PLANNED // 2} answers" in " ".join(out.split())
    shutil.rmtree(result / "shards" / "1-of-4")  # merged shards may be deleted
    code, out, said = judge(capsys, "run", result, "--merge")
    assert (code, f"{PLANNED // 2} answers new; {PLANNED} of {PLANNED}" in out) == (0, True), said
    with JournalReader(result / "journal.sqlite") as journal:
        assert journal.check_integrity() == []
        assert journal.totals().attempts == PLANNED
    sittings = read_manifest(result / "manifest.json")["sittings"]
    assert sorted(one["shard"] for one in sittings if "shard" in one) == ["1/4", "2/4", "3/4", "4/4"]
    assert read_manifest(result / "manifest.json")["totals"]["answered"] == PLANNED


def test_a_merge_that_is_killed_leaves_nothing_half_taken(
    loopback: Start, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    result, run = write(folder, loopback()), folder / "cut"
    shards(capsys, run, [1, 2], 2)
    whole = parts._rows

    def killed(db: sqlite3.Connection) -> None:
        whole(db)
        if db.execute("SELECT count(*) FROM main.shards").fetchone()[0]:
            raise KeyboardInterrupt  # in the second part, with all its rows inserted

    monkeypatch.setattr(parts, "_rows", killed)
    assert judge(capsys, "run", run, "--merge")[0] == 130
    assert _answers(result) == PLANNED // 2
    monkeypatch.setattr(parts, "_rows", whole)
    code, out, _ = judge(capsys, "run", run, "--merge")
    assert (code, f"{PLANNED // 2} answers new; {PLANNED} of {PLANNED}" in out) == (0, True)


def test_shards_of_another_plan_are_refused_and_nothing_is_taken(
    loopback: Start, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = loopback()
    result, run = write(folder, server), folder / "cut"
    shards(capsys, run, [1], 2)
    shards(capsys, run, [2], 2, "--set", "generation.temperature=0.5")
    for more in ([], ["--partial"]):
        code, _, said = judge(capsys, "run", run, "--merge", *more)
        assert code == 1
        assert "2-of-2 holds a run with other settings: generation changed" in said
    shutil.rmtree(result / "shards" / "2-of-2")
    shards(capsys, run, [2], 2, "--set", "repeats=3")
    code, _, said = judge(capsys, "run", run, "--merge")
    assert (code, "shard 2/2 was asked for 3 repeats, and the run has 2" in said) == (1, True)
    shutil.rmtree(result / "shards" / "2-of-2")
    # Another dataset, and a whole that holds another run.
    (folder / "other.jsonl").write_text((folder / "stories.jsonl").read_text().replace("quay", "pier"))
    shards(capsys, run, [2], 2, "--set", f"dataset={folder / 'other.jsonl'}")
    code, _, said = judge(capsys, "run", run, "--merge")
    assert (code, "the dataset's content changed" in said) == (1, True)
    assert not (result / "journal.sqlite").exists()
    code, _, said = judge(capsys, "run", run, "--shard", "1/2", "--limit", "10")
    assert (code, "the part of the plan (--shard, --limit) changed" in said) == (1, True)


def test_several_splits_and_shards_at_work_are_refused(
    loopback: Start, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result, run = write(folder, loopback()), folder / "cut"
    shards(capsys, run, [1, 2], 2)
    shards(capsys, run, [1], 3)
    code, _, said = judge(capsys, "run", run, "--merge")
    assert (code, "shards of several splits (i/2, i/3)" in said) == (1, True)
    shutil.rmtree(result / "shards" / "1-of-3")
    with lock(result / "shards" / "2-of-2"):
        code, _, said = judge(capsys, "run", run, "--merge")
        assert (code, "shard 2/2 cannot be taken yet" in said) == (1, True)
        code, out, said = judge(capsys, "run", run, "--merge", "--partial")
        assert (code, f"1 shard merged, {PLANNED // 2} answers new" in out) == (3, True)
    assert judge(capsys, "run", run, "--merge")[0] == 0


def test_what_the_whole_has_is_not_asked_again(
    loopback: Start, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = loopback()
    run = folder / "cut"
    result = write(folder, server)
    judge(capsys, "run", run, "--limit", "12", "--quiet")
    before = server.stats()["answered"]
    code, _, said = judge(capsys, "run", run, "--shard", "1/4")
    assert code == 0, said
    assert "0 answered; 40 of 40 in" in said  # all of it was in the pilot
    shards(capsys, run, [2, 3, 4], 4)
    assert (server.stats()["answered"] - before) * REPEATS == PLANNED - 12 * 2 * REPEATS
    assert judge(capsys, "run", run, "--merge")[0] == 0
    assert _answers(result) == PLANNED
    _, _, said = judge(capsys, "run", run)
    assert "not merged" not in said


def test_an_uncut_run_says_what_is_not_merged(
    loopback: Start, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, loopback())
    shards(capsys, folder / "cut", [1], 4)
    _, _, said = judge(capsys, "run", folder / "cut")
    assert "1 shard of this run are not merged; what they answered is asked again here" in said


def test_what_shards_gave_up_is_merged_too_and_retried_in_the_whole(
    loopback: Start, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = loopback(p500=0.3, fault_mode="sticky", seed=4)
    result, run = write(folder, server, max_attempts=1), folder / "cut"
    codes = [judge(capsys, "run", run, "--shard", f"{number}/2", "--quiet")[0] for number in (1, 2)]
    assert codes == [3, 3]
    code, out, said = judge(capsys, "run", run, "--merge")
    lost = PLANNED - _answers(result)
    assert (code, f"{lost} given up" in out, lost > 0) == (3, True, True)
    assert f"judge run {result} --retry" in said
    server.configure(p500=0.0)
    assert judge(capsys, "run", run, "--retry")[0] == 0
    assert _answers(result) == PLANNED
    # A shard that is mended itself brings what the whole has by now, and nothing is taken twice.
    assert judge(capsys, "run", result / "shards" / "1-of-2", "--retry")[0] == 0
    assert " 0 answers new" in judge(capsys, "run", run, "--merge")[1]
    with JournalReader(result / "journal.sqlite") as journal:
        assert journal.check_integrity() == []


def test_limits_and_budgets_are_divided_among_shards(
    loopback: Start, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "home").mkdir()
    (folder / "home" / "prices.yaml").write_text("openai/mock: {input: 10000, output: 0}\n", encoding="utf-8")
    result = write(folder, loopback(), max_cost=8.0)
    code, _, said = judge(capsys, "run", folder / "cut", "--shard", "1/4")
    assert code == 3
    assert "max_cost $2.0000 for shard 1/4, its share of $8.0000, is reached" in said
    with JournalReader(result / "shards" / "1-of-4" / "journal.sqlite") as journal:
        spent = (journal.spending().live.prompt or 0) * 0.01
    assert 1.0 < spent <= 2.0
    write(folder, loopback(), name="slow", requests_per_minute=1200)
    began = time.monotonic()
    assert judge(capsys, "run", folder / "slow", "--shard", "1/4", "--limit", "20", "--quiet")[0] == 0
    # Ten requests at 300 a minute, two and a half of them at once.
    assert time.monotonic() - began >= (10 - 2.5) / 5


def test_each_judge_of_a_list_has_shards_of_its_own(
    loopback: Start, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = loopback(), loopback()
    write(folder, one)
    run = yaml.safe_load((folder / "cut" / "run.yaml").read_text(encoding="utf-8"))
    del run["judge"], run["base_url"]
    run["judges"] = [
        {"judge": "openai/mock", "base_url": one.url},
        {"judge": "openai/mock-judge", "base_url": other.url},
    ]
    (folder / "cut" / "run.yaml").write_text(yaml.safe_dump(run), encoding="utf-8")
    shards(capsys, folder / "cut", [1, 2], 2)
    code, out, said = judge(capsys, "run", folder / "cut", "--merge")
    assert code == 0, said
    assert out.count(f"2 shards merged, {PLANNED} answers new; {PLANNED} of {PLANNED}") == 2
    assert [server.stats()["answered"] * REPEATS for server in (one, other)] == [PLANNED, PLANNED]


def test_costs_that_a_server_names_are_merged_with_their_answers(folder: Path) -> None:
    """The journal of an earlier version with such costs, taken as a part into an empty one of the same stories."""
    stored = Path(__file__).resolve().parents[1] / "journals" / "format-1-usage.sqlite"
    part, whole = folder / "part.sqlite", folder / "whole.sqlite"
    for copy in (part, whole):
        shutil.copy(stored, copy)
    with sqlite3.connect(whole) as db:
        for table in ("attempts", "responses", "queries", "sessions", "usage"):
            db.execute(f"DELETE FROM {table}")
    db.close()
    assert parts.take(whole, part, "1-of-1").answered == 24
    assert parts.take(whole, part, "1-of-1").answered == 0
    with JournalReader(part) as before, JournalReader(whole) as after:
        assert after.spending() == before.spending()
        assert after.totals() == before.totals()
        assert after.spending().reported == pytest.approx((548 + 4 * 360) / 1e7)  # as tests/journal says


def test_the_scripts_of_the_documentation_run(loopback: Start, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of docs/slurm.md as they stand, with a stand-in for sbatch that runs them in order."""
    result = write(folder, loopback())
    array, _, merge, submit = re.findall(r"```bash\n(.*?)```", SLURM.read_text(encoding="utf-8"), re.DOTALL)[:4]
    place = folder / "slurm"
    place.mkdir()
    (place / "judge-array.sh").write_text(array.replace("--array=1-16", "--array=1-2"), encoding="utf-8")
    (place / "judge-merge.sh").write_text(merge, encoding="utf-8")
    (place / "sbatch").write_text(
        """#!/bin/bash
for script in "$@"; do :; done
tasks=$(sed -n 's/^#SBATCH --array=1-//p' "$script")
for task in $(seq ${tasks:-1}); do
  SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_COUNT=${tasks:-} SLURM_JOB_ID=77 bash "$script" >> log 2>&1 || exit 1
done
echo 4711
""",
        encoding="utf-8",
    )
    (place / "judge").write_text(f'#!/bin/bash\nexec {sys.executable} -m judge "$@"\n', encoding="utf-8")
    for tool in ("sbatch", "judge"):
        (place / tool).chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(SLURM.parents[1]))
    script = submit.replace("runs/my-run", str(folder / "cut"))
    ended = subprocess.run(["bash", "-e", "-c", script], cwd=place, capture_output=True, text=True, check=False)
    log = (place / "log").read_text(encoding="utf-8")
    assert ended.returncode == 0, log + ended.stderr
    assert f"2 shards merged, {PLANNED} answers new" in log
    assert "Coverage by judge" in log
    assert _answers(result) == PLANNED


def test_the_dataset_of_a_study_is_cut_without_losing_a_story(studies: Path) -> None:
    dataset = open_dataset("mans_roc")
    ids = [story.id for number in range(1, 8) for story in PlanPart(number, 7).stories(dataset)]
    assert sorted(ids) == sorted(story.id for story in dataset.stories())
    assert len(set(ids)) == len(ids) == 1000


@pytest.mark.parametrize("blank", ["no byte", "no table"])
def test_a_merge_that_is_killed_before_its_first_commit_can_be_given_again(
    loopback: Start, folder: Path, capsys: pytest.CaptureFixture[str], blank: str
) -> None:
    """What SQLite leaves then is a file of no bytes, or one page without tables."""
    result, run = write(folder, loopback()), folder / "cut"
    shards(capsys, run, [1, 2], 2)
    journal = result / "journal.sqlite"
    journal.write_bytes(b"")
    if blank == "no table":
        with sqlite3.connect(journal) as db:
            db.execute("PRAGMA user_version = 1")
        db.close()
    code, _, said = judge(capsys, "ratings", result)
    assert (code, "stopped before its first commit" in said, "judge run --merge" in said) == (1, True, True), said
    assert "judge run --merge" in judge(capsys, "status", run)[2]
    code, out, said = judge(capsys, "run", run, "--merge")
    assert (code, f"{PLANNED} answers new; {PLANNED} of {PLANNED}" in out) == (0, True), said
    assert _answers(result) == PLANNED
