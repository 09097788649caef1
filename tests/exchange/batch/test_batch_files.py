"""Batch files: what is exported is what would be asked live, and results merge once, whatever happens on the way."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.answers.journal import JournalReader
from judge.asking.execution.session import sit
from judge.asking.execution.verification import verify_journal
from judge.backends import Settings
from judge.base.errors import BackendError, DataError, RunFolderError, SpecError
from judge.exchange.batch.importing import import_results
from judge.exchange.batch.openai_batches import BatchServer
from judge.exchange.batch.requests import Wanted, export, numbered
from judge.exchange.batch.results import LONGEST, BatchId, parse_id, split_ids
from tests.exchange.conftest import Start, answers, asked, definition, live
from tests.server.loopback import LoopbackServer

KEY = "b2:" + "0123456789abcdef" * 2


def exported(wanted: Wanted, **options: Any) -> list[Path]:
    """Export beside the result folder; the files' paths."""
    output = wanted.result.path.parent / f"{wanted.result.path.name}.jsonl"
    return [part.path for part in export(wanted, numbered(output), **options).parts]


def answered(server: LoopbackServer, requests: Path) -> list[Path]:
    """Have the server's batch API answer a file; its output and error files."""
    found = []
    with BatchServer(Settings((server.url,))) as provider:
        file_id = provider.upload(requests.name, requests)
        lines = [orjson.loads(line) for line in requests.read_bytes().splitlines()]
        made = provider.create(file_id, lines[0]["url"], {"test": requests.name})
        remote = provider.retrieve(made.id)
        for kind, key in (("output", remote.output_file_id), ("errors", remote.error_file_id)):
            if key is not None:
                found.append(requests.with_name(f"{requests.stem}-{kind}.jsonl"))
                provider.download(key, found[-1])
    return found


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def put(file: Path, lines: list[dict[str, Any]], tail: str = "") -> Path:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines) + tail, encoding="utf-8")
    return file


def digests(folder: Path) -> dict[str, str]:
    """Hash of every file of a result folder but the lock."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path): hashlib.blake2b(path.read_bytes()).hexdigest() for path in files}


@given(st.sets(st.integers(0, 999), min_size=1, max_size=60))
def test_ids_say_which_repeats_and_stay_short(repeats: set[int]) -> None:
    wanted = tuple(sorted(repeats))
    found = list(split_ids(KEY, "89abcdef", wanted))
    assert sum((each.repeats for each in found), ()) == wanted
    assert all(len(str(each)) <= LONGEST and parse_id(str(each)) == each for each in found)


def test_ids_are_read_strictly() -> None:
    assert str(BatchId(KEY, "89abcdef", (0, 1, 2, 5))) == f"{KEY[3:]}-89abcdef-r0-2_5"
    for other in ("request-1", f"{KEY[3:]}-89abcdef-r", f"{KEY[3:]}-89abcdef-r2-0", f"{KEY[3:]}-r0", None, 7):
        assert parse_id(other) is None


@pytest.mark.parametrize(
    ("generation", "api"),
    [({"temperature": 0.7}, "chat"), ({"temperature": 1.0, "seed": 40, "max_tokens": 9}, "chat"), ({}, "completions")],
)
def test_a_run_half_live_and_half_by_batch_equals_a_live_one(
    loopback: Start, stories: Path, generation: dict[str, Any], api: str
) -> None:
    server = loopback(record=1000, expected_repeats=3)
    whole = live(server, stories, "whole", generation=generation, api=api)
    sit(whole)
    sent = {orjson.dumps(body) for body in server.requests()}
    half = live(server, stories, "half", limit=3, generation=generation, api=api)
    sit(half)
    before = answers(half.result)
    (file,) = exported(asked(server, stories, "half", generation=generation, api=api))
    bodies = [orjson.dumps(line["body"]) for line in map(orjson.loads, file.read_bytes().splitlines())]
    assert set(bodies) < sent
    assert all(b'"body":' + body + b"}" in file.read_bytes() for body in bodies[:3])
    seeded = "seed" in generation
    assert len(bodies) == len(set(bodies)) == 5 * 12 * (3 if seeded else 1)

    (results,) = answered(server, file)
    found = import_results(half.result, (results,))
    assert (found.answered, found.there_already, dict(found.failed)) == (5 * 12 * 3, 0, {})
    assert answers(half.result) == answers(whole.result)
    assert before.items() < answers(half.result).items()
    assert verify_journal(half.result) == (96, [])
    with JournalReader(half.result.journal) as journal, JournalReader(whole.result.journal) as other:
        assert journal.totals().prompt_tokens == other.totals().prompt_tokens
    manifest = json.loads(half.result.manifest.read_text(encoding="utf-8"))
    assert [each["executor"] for each in manifest["sittings"]] == ["openai", "batch export", "batch"]
    assert manifest["totals"]["answered"] == 288
    assert sit(half).outcomes.answered == 0


def test_one_by_one_has_no_n_and_limits_split_the_file(loopback: Start, stories: Path) -> None:
    server = loopback(ignore_n=True, expected_repeats=3)
    files = exported(asked(server, stories, "a", limit=2, one_by_one=True), most_lines=30)
    assert [file.name for file in files] == ["a-0001.jsonl", "a-0002.jsonl", "a-0003.jsonl"]
    assert [len(lines_of(file)) for file in files] == [30, 30, 12]
    assert all("n" not in line["body"] for file in files for line in lines_of(file))
    wanted = asked(server, stories, "a")
    results = [result for file in files for result in answered(server, file)]
    assert import_results(wanted.result, tuple(results)).answered == 72
    assert len(lines_of(*exported(wanted))) == 6 * 12


def test_a_server_that_ignores_n_leaves_repeats_open(loopback: Start, stories: Path) -> None:
    server = loopback(ignore_n=True)
    wanted = asked(server, stories, "a", limit=1)
    (file,) = exported(wanted)
    found = import_results(wanted.result, tuple(answered(server, file)))
    assert (found.answered, found.not_given) == (12, 24)
    file.unlink()
    (again,) = exported(wanted)
    assert {parse_id(line["custom_id"]).repeats for line in lines_of(again)} == {(1, 2)}  # type: ignore[union-attr]


def test_importing_again_changes_not_a_byte(loopback: Start, stories: Path) -> None:
    server = loopback(batch_fail_after=50)
    wanted = asked(server, stories, "a")
    (file,) = exported(wanted)
    files = tuple(answered(server, file))
    assert import_results(wanted.result, files).changed
    before = digests(wanted.result.path)
    again = import_results(wanted.result, files)
    assert (again.changed, again.there_already, again.errors_known) == (False, 150, 138)
    assert digests(wanted.result.path) == before


def test_errors_are_attempts_with_their_kind(loopback: Start, stories: Path) -> None:
    server = loopback()
    wanted = asked(server, stories, "a", limit=1, repeats=1)
    (file,) = exported(wanted)
    (results,) = answered(server, file)
    lines = sorted(lines_of(results), key=lambda line: str(line["custom_id"]))

    def failing(line: dict[str, Any], status: int, code: str, message: str = "no") -> None:
        line["response"] = {"status_code": status, "body": {"error": {"message": message, "code": code}}}

    failing(lines[0], 500, "server_error")
    failing(lines[1], 429, "rate_limit_exceeded")
    failing(lines[2], 400, "content_filter")
    failing(lines[3], 400, "context_length_exceeded", "maximum context length is 10 tokens")
    lines[4] |= {"response": None, "error": {"code": "batch_expired", "message": "not executed in time"}}
    # As `vllm run-batch` writes an error: status without body, and its error object beside.
    lines[5] |= {
        "response": {"status_code": 404, "request_id": "vllm-1", "body": None},
        "error": {"error": {"message": "The model `x` does not exist.", "code": 404}},
    }
    lines[6]["response"]["body"] = {"choices": "none"}
    lines[9]["response"]["body"] = None
    lines[7]["response"]["body"]["choices"][0]["finish_reason"] = "content_filter"
    found = import_results(wanted.result, (put(results, lines),))
    assert found.failed == {
        "server": 1, "rate": 1, "filtered": 1, "context": 1, "timeout": 1, "model": 1, "garbage": 2,
    }  # fmt: skip
    assert found.answered == 4
    with JournalReader(wanted.result.journal) as journal:
        tried = {a.query_key[3:]: a for a in journal.answers()}
        given_up = journal.totals().failed
    kinds = [tried[line["custom_id"][:32]].error_kind for line in lines[:8]]
    assert kinds == ["server", "rate", "filtered", "context", "timeout", "model", "garbage", None]
    assert tried[lines[4]["custom_id"][:32]].outcome == "timeout"
    assert given_up == {"filtered": 1, "context": 1}
    file.unlink()
    (again,) = exported(wanted)
    assert {line["custom_id"] for line in lines_of(again)} == {lines[i]["custom_id"] for i in (0, 1, 4, 5, 6, 9)}
    again.unlink()
    (failed,) = exported(asked(server, stories, "a", limit=1, repeats=1, failed=True))
    assert {line["custom_id"] for line in lines_of(failed)} == {lines[i]["custom_id"] for i in (2, 3)}
    # The same errors with answers in a second file: the answers come in, the errors are not counted again.
    later = put(results.with_name("later.jsonl"), [dict(lines[8], custom_id=lines[0]["custom_id"])])
    more = import_results(wanted.result, (results, later))
    assert (more.answered, more.errors_known, more.duplicates) == (1, 8, [])


def test_results_without_log_probabilities_stop_a_run_that_needs_them(loopback: Start, stories: Path) -> None:
    server = loopback(ignore_logprobs=True)
    wanted = asked(server, stories, "a", scoring="logprobs", limit=1)
    (file,) = exported(wanted)
    with pytest.raises(BackendError, match="gave no log-probabilities"):
        import_results(wanted.result, tuple(answered(server, file)))
    assert answers(wanted.result) == {}


def test_bad_files_get_a_sentence_and_change_nothing(loopback: Start, stories: Path, tmp_path: Path) -> None:
    server = loopback()
    wanted = asked(server, stories, "a", limit=1)
    other = asked(server, stories, "b", limit=1, judge="openai/mock")
    different = asked(server, stories, "c", limit=1, generation={"temperature": 0.1})
    (file,), (foreign,), (changed,) = exported(wanted), exported(other), exported(different)
    (results,), (others,), (changes,) = answered(server, file), answered(server, foreign), answered(server, changed)
    before = digests(wanted.result.path)
    cases: list[tuple[Path, str]] = [
        (file, "row 1: is a request: this is the file that was sent"),
        (others, "all 12 results are of another judge"),
        (changes, "holds no result of this run"),
        (put(tmp_path / "x.jsonl", [], tail="rating,4\n"), "row 1: is not JSON"),
        (put(tmp_path / "y.jsonl", [{"id": 1}]), "is not a batch result"),
        (put(tmp_path / "z.jsonl", [{"custom_id": "x", "response": 4}]), "is not a batch result"),
        (tmp_path / "none.jsonl", "cannot be read"),
    ]
    for bad, words in cases:
        with pytest.raises(DataError, match=words):
            import_results(wanted.result, (bad,))
    with pytest.raises(RunFolderError, match="has no journal"):
        import_results(asked(server, stories, "new").result, (results,))
    assert digests(wanted.result.path) == before


def test_unknown_twice_and_half_written_lines_are_counted_and_the_rest_comes_in(loopback: Start, stories: Path) -> None:
    server = loopback()
    wanted = asked(server, stories, "a", limit=1)
    (file,) = exported(wanted)
    (results,) = answered(server, file)
    lines = lines_of(results)
    other = json.loads(json.dumps(lines[1]).replace('"Rating: ', '"Rating: 9'))
    strangers = [dict(lines[2], custom_id="request-1"), dict(lines[2], custom_id="0" * 32 + lines[2]["custom_id"][32:])]
    other_judge = dict(lines[3], custom_id=lines[3]["custom_id"][:33] + "00000000-r0")
    half = json.dumps(lines[-1])[:70]
    put(results, [*lines[:-1], other, *strangers, other_judge], tail=half)
    found = import_results(wanted.result, (results,))
    assert found.answered == 33
    assert found.duplicates == [lines[1]["custom_id"]]
    assert sorted(found.unknown) == sorted(each["custom_id"] for each in strangers)
    assert found.other_judge == [other_judge["custom_id"]]
    assert len(found.cut) == 1
    assert not any(text and "Rating: 9" in text for text in answers(wanted.result).values())


def test_kill_9_half_way_and_the_same_import_again(loopback: Start, stories: Path) -> None:
    server = loopback(expected_repeats=60)
    wanted = asked(server, stories, "a", repeats=60, eval_prompts=["ep1", "ep2", "ep3", "ep4"])
    (file,) = exported(wanted)
    (results,) = answered(server, file)
    command = [sys.executable, "-m", "judge", "import", str(results), "-o", str(wanted.result.path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    with JournalReader(wanted.result.journal) as journal:
        while journal.totals().answered == 0 and time.monotonic() < end:
            time.sleep(0.001)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kept = journal.totals().answered
    total = 8 * 24 * 60
    assert process.returncode == -signal.SIGKILL
    assert 0 < kept < total
    found = import_results(wanted.result, (results,))
    assert (found.answered, found.there_already) == (total - kept, kept)
    assert len(answers(wanted.result)) == total
    # Tokens stand on one repeat of each call, also where the call's line was cut by the kill.
    with JournalReader(wanted.result.journal) as journal:
        counted = sum(a.response is not None and a.response.prompt_tokens is not None for a in journal.answers())
    assert counted == 8 * 24


def test_judges_without_a_server_and_other_settings_are_refused(stories: Path) -> None:
    with pytest.raises(SpecError, match="surface has no batch form"):
        exported(asked(None, stories, "s", judge="surface"))
    (file,) = exported(asked(None, stories, "a", limit=1, max_completion_tokens=True))
    assert lines_of(file)[0]["body"]["max_completion_tokens"] == 200
    # What starts an engine is no part of a request; the rest of `engine` is, in process or not.
    (other,) = exported(asked(None, stories, "v", limit=1, judge="vllm/m", engine={"dtype": "half", "top_k": 5}))
    body = lines_of(other)[0]["body"]
    assert (body["model"], body["top_k"], "dtype" in body) == ("m", 5, False)
    with pytest.raises(RunFolderError, match="generation changed"):
        exported(asked(None, stories, "a", generation={}))


def test_the_commands(
    loopback: Start,
    stories: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from judge.cli.main import app

    server = loopback()
    monkeypatch.chdir(stories.parent)
    data = definition(server, stories, criteria="overall", eval_prompts=["ep1"], repeats=2)
    Path("run.yaml").write_text(json.dumps(data), encoding="utf-8")

    def judge(*words: str) -> str:
        with pytest.raises(SystemExit) as ended:
            app(args=list(words), prog_name="judge")
        assert ended.value.code == 0
        return capsys.readouterr().out

    assert "b.jsonl: 8 lines, 16 repeats" in judge("export", ".", "--as", "batch", "-o", "b.jsonl")
    with pytest.raises(RunFolderError, match=r"b\.jsonl exists already"):
        app(args=["export", ".", "--as", "batch", "-o", "b.jsonl"])
    (results,) = answered(server, Path("b.jsonl"))
    assert "16 answers from b-output.jsonl" in judge("import", results.name, "-o", ".")
    assert "nothing new in b-output.jsonl" in judge("import", results.name, "-o", ".")
    assert "nothing to export" in judge("export", ".", "--as", "batch", "-o", "c.jsonl")
