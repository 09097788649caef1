"""What servers refuse, over sockets: every mix of refusals ends in a whole run or a sentence, and nothing is lost."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.answers.journal import JournalReader
from judge.asking.execution.session import Result, Sitting, sit
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder
from judge.base.errors import BackendError, RunFolderError
from judge.cli.main import main
from judge.ratings.ratings_table import read
from tests.server.loopback import LoopbackServer
from tests.server.settings import REFUSAL_FORMS

Start = Callable[..., LoopbackServer]

REFUSABLE = ("max_tokens", "n", "seed", "temperature", "logprobs", "stop")
KEYS = {
    "seed": "generation.seed",
    "temperature": "generation.temperature",
    "logprobs": "scoring: text",
    "stop": "generation.stop",
}
"""Settings of the judge's definition -> what the sentence must name."""

PAIRS = zip(REFUSABLE, (*REFUSABLE[1:], REFUSABLE[0]), strict=True)
MIXES = [(), *((one,) for one in REFUSABLE), *PAIRS, REFUSABLE]
"""None, each, each with the next, and all of what a server may refuse."""


@pytest.fixture
def stories(tmp_path: Path) -> Path:
    """Twenty stories, which with three repeats are sixty."""
    lines = [
        {
            "id": f"s{i}",
            "story_prompt": f"Prompt {i // 4}",
            "system": f"x{i % 2}",
            "text": f"Story {i}: a lamp.",
            "ratings": [],
        }
        for i in range(20)
    ]
    path = tmp_path / "stories.jsonl"
    path.write_text("\n".join(json.dumps(line | {"reference": None}) for line in lines) + "\n", encoding="utf-8")
    return path


def sitting(server: LoopbackServer, stories: Path, folder: str = "results", **changes: Any) -> Sitting:
    again = changes.pop("again", None)
    data: dict[str, Any] = {
        "name": "t",
        "dataset": str(stories),
        "judge": "openai/mock",
        "criteria": "overall",
        "eval_prompts": ["ep1"],
        "repeats": 3,
        "generation": {"max_tokens": 256},
        "base_url": server.url,
        "concurrency": 32,
        "attempt_timeout": 5.0,
    }
    spec = parse_run_spec(data | changes, "test")
    return Sitting(spec, stories.parent, ResultFolder(stories.parent / folder), again=again, quiet=True)


def whole(ended: Result) -> bool:
    """Whether all sixty are answered and nothing was given up."""
    return (ended.totals.answered, ended.missing, ended.totals.failed, ended.outcomes.stopped) == (60, 0, {}, None)


def test_mixes_of_refusals_converge(loopback: Start, stories: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # On a busy machine a refusal takes longer than the list of models promised, and others would have followed.
    monkeypatch.setattr("judge.backends.openai.backend._SHORTEST", 2.0)
    server = loopback(expected_repeats=3)
    forms = itertools.cycle(REFUSAL_FORMS)
    for number, mix in enumerate(MIXES):
        form = next(forms)
        server.configure(refuses=list(mix), refusal_form=form)
        generation = {"max_tokens": 256, "temperature": 0.0, "stop": ["###"]}
        if "seed" in mix or ("n" not in mix and number % 2):
            generation["seed"] = 7
        asked = {"generation": generation, "scoring": "logprobs"}
        refused = [name for name in mix if name in KEYS]
        if refused:
            with pytest.raises(BackendError) as caught:
                sit(sitting(server, stories, f"m{number}", **asked))
            assert caught.value.kind == "capability", (mix, form)
            told = str(caught.value.hint)
            assert all(KEYS[name] in told for name in refused), (mix, form, told)
            assert not any(KEYS[name] in told for name in KEYS if name not in refused), (mix, form, told)
            assert not (stories.parent / f"m{number}" / "journal.sqlite").exists()
            # The user does what the sentence says.
            generation = {key: value for key, value in generation.items() if key not in refused}
            asked = {"generation": generation, "scoring": "text" if "logprobs" in refused else "logprobs"}
        ended = sit(sitting(server, stories, f"m{number}", **asked))
        assert whole(ended), (mix, form, ended)
        assert ended.outcomes.retries == 0, (mix, form)


def test_what_was_learnt_stays_in_the_folder(loopback: Start, stories: Path) -> None:
    server = loopback(refuses=["max_tokens", "n"], expected_repeats=5)
    asked = sitting(server, stories)
    assert whole(sit(asked))
    kept = json.loads((asked.result.derived / "server_terms.json").read_text())
    assert kept == [{"base_url": server.url, "model": "mock", "max_tokens": "max_completion_tokens", "n": 1}]
    manifest = json.loads(asked.result.manifest.read_text())
    assert manifest["in_force"]["server"]["max_tokens_parameter"] == "max_completion_tokens"
    assert manifest["in_force"]["server"]["servers"][0]["answers_per_call"] == 1
    notices = manifest["sittings"][-1]["notices"]
    assert any("refuses max_tokens" in note for note in notices)
    assert any("refuses n" in note for note in notices)
    refused = server.stats()["refused"]
    more = sit(sitting(server, stories, repeats=5))
    assert (more.totals.answered, more.missing) == (100, 0)
    assert server.stats()["refused"] == refused  # known: not one request is refused again
    # A server that has changed its mind teaches again, from what the file says.
    server.configure(refuses=["max_completion_tokens"])
    assert sit(sitting(server, stories, repeats=6)).missing == 0
    assert json.loads((asked.result.derived / "server_terms.json").read_text())[0]["max_tokens"] == "max_tokens"


def test_only_the_setting_that_is_named_changes(loopback: Start, stories: Path) -> None:
    server = loopback(refuses=["max_tokens"], expected_repeats=3, record=400)
    assert whole(sit(sitting(server, stories)))
    answered = [body for body in server.requests() if "max_completion_tokens" in body]
    assert len(answered) == 20
    assert all(body["n"] == 3 for body in answered)


@pytest.mark.parametrize(
    ("mix", "form"),
    [(("n",), "words"), (("max_tokens",), "google"), *((("max_tokens", "n"), form) for form in REFUSAL_FORMS)],
)
def test_requests_in_flight_that_are_refused_are_made_again(
    loopback: Start, stories: Path, mix: tuple[str, ...], form: str
) -> None:
    # A refusal that comes late finds the plan's first requests in flight.
    server = loopback(refuses=list(mix), refusal_form=form, refusal_ms=400, expected_repeats=3)
    ended = sit(sitting(server, stories))
    assert whole(ended)
    # How many were in flight depends on how busy the machine is.
    assert server.stats()["refused"] >= 2
    with JournalReader(stories.parent / "results" / "journal.sqlite") as journal:
        assert journal.totals().attempts == 60


@pytest.mark.parametrize("form", ["openai", "mute"])
def test_a_late_refusal_of_the_definition_stops_the_run_and_gives_nothing_up(
    loopback: Start, stories: Path, form: str
) -> None:
    server = loopback(refuses=["max_tokens", "temperature", "n"], refusal_form=form, refusal_ms=400)
    generation = {"max_tokens": 256, "temperature": 0.0}
    ended = sit(sitting(server, stories, generation=generation))
    assert ended.outcomes.cause is not None
    assert "generation.temperature" in str(ended.outcomes.cause.hint)
    assert (ended.totals.answered, ended.totals.failed) == (0, {})
    # Nothing was answered, so that the folder takes the definition that was mended.
    server.configure(refusal_ms=0)
    assert whole(sit(sitting(server, stories, generation={"max_tokens": 256})))
    with pytest.raises(RunFolderError, match="generation changed"):
        sit(sitting(server, stories, generation={"max_tokens": 255}))


def test_a_larger_n_than_allowed_is_cut_to_what_is_allowed(loopback: Start, stories: Path) -> None:
    body = {"error": {"message": "Range of n should be [1, 2]", "code": "InvalidParameter"}}
    server = loopback(special=[{"contains": '"n":3', "status": 400, "body": body}], expected_repeats=3)
    assert whole(sit(sitting(server, stories)))
    assert server.stats()["answered"] == 40


def test_the_probe_sends_the_runs_own_query_and_its_answer_is_kept(loopback: Start, stories: Path) -> None:
    server = loopback(record=100, expected_repeats=3, models=None)
    assert whole(
        sit(sitting(server, stories, judge="openai/an-alias", generation={"max_tokens": 64, "temperature": 0.5}))
    )
    bodies = server.requests()
    assert len(bodies) == 20  # not one request more than the plan has
    assert bodies[0]["max_tokens"] == 64
    assert bodies[0]["temperature"] == 0.5
    assert bodies[0]["n"] == 3
    assert bodies[0]["messages"][-1]["content"].endswith("Rating:")
    assert server.stats()["repeats_after_answer"] == 0


def test_a_refused_setting_is_found_before_the_plan_is_asked(loopback: Start, stories: Path) -> None:
    server = loopback(refuses=["temperature"])
    with pytest.raises(BackendError, match="mock does not take `temperature`"):
        sit(sitting(server, stories, generation={"temperature": 0.0}))
    assert server.stats()["requests"] <= 2
    assert not (stories.parent / "results" / "journal.sqlite").exists()


def test_a_moderated_story_is_given_up_alone(loopback: Start, stories: Path) -> None:
    body = {"error": {"code": 403, "message": "m requires moderation. Your input was flagged for violence"}}
    server = loopback(special=[{"contains": "Story 7:", "status": 403, "body": body}], expected_repeats=3)
    ended = sit(sitting(server, stories))
    assert (ended.totals.answered, ended.totals.failed, ended.outcomes.stopped) == (57, {"filtered": 3}, None)
    # Also as the first of a sitting: nothing but that story is left.
    again = sit(sitting(server, stories, again="failed"))
    assert (again.totals.answered, again.outcomes.stopped) == (57, None)
    frame = read([stories.parent / "results"]).frame.query("source == 'judge'")
    assert frame.query("story == 's7'")["status"].tolist() == ["filtered"] * 3


def test_a_403_without_a_word_is_the_storys_where_a_plain_question_is_answered(loopback: Start, stories: Path) -> None:
    server = loopback(special=[{"contains": "Story 7:", "status": 403, "body": "Forbidden"}], expected_repeats=3)
    ended = sit(sitting(server, stories))
    assert (ended.totals.answered, ended.totals.failed, ended.outcomes.stopped) == (57, {"filtered": 3}, None)
    assert sit(sitting(server, stories, again="failed")).outcomes.stopped is None
    server.configure(special=[{"status": 403, "body": "Forbidden"}])
    with pytest.raises(BackendError, match="HTTP 403") as caught:
        sit(sitting(server, stories, "none"))
    assert caught.value.kind == "auth"


def test_errors_inside_answers_are_no_answers(loopback: Start, stories: Path) -> None:
    choice = {"index": 0, "error": {"code": 502, "message": "Provider disconnected"}, "finish_reason": "error"}
    inside = {"choices": [choice | {"message": {"role": "assistant", "content": ""}}], "usage": {}}
    beside = {"error": {"code": 502, "message": "Provider returned error"}}
    special = [{"every": 5, "status": 200, "body": inside}, {"every": 7, "status": 200, "body": beside}]
    server = loopback(special=special, expected_repeats=3)
    ended = sit(sitting(server, stories))
    assert whole(ended)
    assert ended.outcomes.retries > 0
    with JournalReader(stories.parent / "results" / "journal.sqlite") as journal:
        assert all(answer.response and answer.response.text for answer in journal.answers())


def test_of_several_choices_those_that_failed_are_asked_again(loopback: Start, stories: Path) -> None:
    good = {"index": 0, "message": {"content": "Rating: 4"}, "finish_reason": "stop"}
    failed = {
        "index": 1,
        "message": {"content": ""},
        "error": {"code": 502, "message": "gone"},
        "finish_reason": "error",
    }
    body = {"choices": [good, failed, good | {"index": 2}], "usage": {}}
    server = loopback(special=[{"contains": "Story 3:", "every": 1, "status": 200, "body": body}], expected_repeats=3)
    server.configure(special=[{"contains": '"n":3', "status": 200, "body": body}])
    assert whole(sit(sitting(server, stories)))
    assert server.stats()["answered"] == 20  # one of three failed in each call, and was asked alone


def test_an_account_without_credit_stops_the_run_and_nothing_is_given_up(loopback: Start, stories: Path) -> None:
    body = {"error": {"code": 402, "message": "Insufficient credits"}}
    server = loopback(special=[{"after": 5, "status": 402, "body": body}], expected_repeats=3)
    ended = sit(sitting(server, stories))
    assert ended.outcomes.cause is not None
    assert ended.outcomes.cause.kind == "quota"
    assert ended.totals.failed == {}
    server.configure(special=[])
    assert whole(sit(sitting(server, stories)))
    server.configure(special=[{"status": 402, "body": body}])
    with pytest.raises(BackendError, match="Insufficient credits"):
        sit(sitting(server, stories, "none"))


def test_a_limit_of_a_minute_is_waited_for_as_the_body_says(loopback: Start, stories: Path) -> None:
    message = "You exceeded your current quota, please check your plan and billing details. Please retry in 0.2s."
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.2s"}]
    error = {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": details}
    server = loopback(special=[{"every": 4, "status": 429, "body": [{"error": error}]}], expected_repeats=3)
    ended = sit(sitting(server, stories))
    assert whole(ended)
    assert ended.seconds < 8
    with JournalReader(stories.parent / "results" / "journal.sqlite") as journal:
        assert journal.totals().attempts > 60


LIMIT = "Could not finish the message because max_tokens or model output limit was reached. Please try again."


def test_a_limit_reached_in_the_thinking_is_an_answer_that_is_truncated(loopback: Start, stories: Path) -> None:
    body = {"error": {"message": LIMIT, "type": "invalid_request_error"}}
    server = loopback(special=[{"contains": "Story 1", "status": 400, "body": body}], expected_repeats=3)
    assert whole(sit(sitting(server, stories)))
    frame = read([stories.parent / "results"]).frame.query("source == 'judge'")
    assert frame["status"].value_counts().to_dict() == {"ok": 27, "truncated": 33}  # s1 and s10 to s19


def test_hidden_thinking_that_uses_up_the_limit_is_truncated_and_not_empty(loopback: Start, stories: Path) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": ""}, "finish_reason": "length"}
    server = loopback(special=[{"status": 200, "body": {"choices": [choice], "usage": {"completion_tokens": 256}}}])
    assert whole(sit(sitting(server, stories)))
    frame = read([stories.parent / "results"]).frame.query("source == 'judge'")
    assert set(frame["status"]) == {"truncated"}


def test_a_model_that_is_not_to_be_had_by_this_route_is_said_so(loopback: Start, stories: Path) -> None:
    body = {"error": {"message": "This model is only supported in v1/responses and not in v1/chat/completions."}}
    server = loopback(special=[{"status": 404, "body": body}])
    with pytest.raises(BackendError) as caught:
        sit(sitting(server, stories))
    assert caught.value.kind == "api"
    assert "/chat/completions" in str(caught.value.hint)


def test_a_server_that_refuses_everything_stops_with_nothing_given_up(loopback: Start, stories: Path) -> None:
    server = loopback(special=[{"status": 400, "body": {"error": {"message": "Bad request."}}}])
    with pytest.raises(BackendError, match="a plain question without any setting is refused too"):
        sit(sitting(server, stories))
    assert not (stories.parent / "results" / "journal.sqlite").exists()


def test_a_story_that_is_refused_without_a_word_is_given_up_alone(loopback: Start, stories: Path) -> None:
    body = {"error": {"message": "Bad request."}}
    server = loopback(special=[{"contains": "Story 0:", "status": 400, "body": body}], expected_repeats=3)
    ended = sit(sitting(server, stories))
    assert (ended.totals.answered, ended.totals.failed) == (57, {"request": 3})


def test_a_setting_that_was_taken_before_is_not_blamed_for_one_refusal(loopback: Start, stories: Path) -> None:
    body = {"error": {"message": "Unsupported parameter: 'temperature'", "param": "temperature"}}
    server = loopback(special=[{"every": 6, "status": 400, "body": body}], expected_repeats=3)
    ended = sit(sitting(server, stories, generation={"temperature": 0.5}))
    assert whole(ended)
    assert ended.outcomes.retries > 0


def test_a_list_of_models_that_wants_another_key_stops_nothing(loopback: Start, stories: Path) -> None:
    server = loopback(models_status=401, expected_repeats=3)
    assert whole(sit(sitting(server, stories)))
    server.configure(require_key="right")
    with pytest.raises(BackendError, match="HTTP 401") as caught:
        sit(sitting(server, stories, "wrong"))
    assert caught.value.kind == "auth"


def test_a_query_in_the_base_url_goes_with_every_request(loopback: Start, stories: Path) -> None:
    server = loopback(wants_query="api-version=2024-10-21", models_route=False, expected_repeats=3)
    azure = f"{server.root}/openai/deployments/mine?api-version=2024-10-21"
    assert whole(sit(sitting(server, stories, base_url=azure)))
    with pytest.raises(BackendError, match="HTTP 404"):
        sit(sitting(server, stories, "without", base_url=f"{server.root}/openai/deployments/mine"))


def test_a_server_that_takes_its_time_is_waited_for_where_the_run_says_so(loopback: Start, stories: Path) -> None:
    late = loopback(models_delay_s=1.0, expected_repeats=3)
    with pytest.raises(BackendError, match=r"no answer within 0\.5 s") as caught:
        sit(sitting(late, stories, probe_timeout=0.5))
    assert "probe_timeout" in str(caught.value.hint)
    assert whole(sit(sitting(late, stories, "late", probe_timeout=5.0)))
    loads = loopback(models_route=False, first_delay_s=1.0, expected_repeats=3)
    with pytest.raises(BackendError, match=r"no answer within 0\.5 s"):
        sit(sitting(loads, stories, "impatient", probe_timeout=0.5))
    loads.reset()
    assert whole(sit(sitting(loads, stories, "patient", probe_timeout=5.0)))


def test_a_slow_first_answer_of_a_listed_model_holds_nobody_up(loopback: Start, stories: Path) -> None:
    server = loopback(latency_ms=1500, expected_repeats=3)
    ended = sit(sitting(server, stories))
    assert whole(ended)
    # 20 calls at once: after the first answer there would be 19.
    assert server.stats()["max_in_flight"] == 20
    with JournalReader(stories.parent / "results" / "journal.sqlite") as journal:
        seconds = journal.totals()
    assert seconds.answered == 60


def test_a_system_message_that_a_model_does_not_take_is_named(loopback: Start, stories: Path) -> None:
    body = {"error": {"message": "Unsupported value: 'messages[0].role' does not support 'system' with this model."}}
    server = loopback(special=[{"contains": '"role":"system"', "status": 400, "body": body}], expected_repeats=3)
    with pytest.raises(BackendError, match="does not take `system`") as caught:
        sit(sitting(server, stories, system="You rate stories."))
    assert "remove `system`" in str(caught.value.hint)
    assert whole(sit(sitting(server, stories)))


def test_the_limit_that_is_too_high_for_the_model_names_its_key(loopback: Start, stories: Path) -> None:
    message = "max_tokens is too large: 100000. This model supports at most 16384 completion tokens."
    body = {"error": {"message": message, "param": "max_tokens", "code": "invalid_value"}}
    server = loopback(special=[{"contains": '"max_tokens":100000', "status": 400, "body": body}])
    with pytest.raises(BackendError, match="does not take `max_tokens`") as caught:
        sit(sitting(server, stories, generation={"max_tokens": 100000}))
    assert "change `generation.max_tokens`" in str(caught.value.hint)


def test_both_names_of_the_limit_refused_end_with_the_key(loopback: Start, stories: Path) -> None:
    server = loopback(refuses=["max_tokens", "max_completion_tokens"])
    with pytest.raises(BackendError) as caught:
        sit(sitting(server, stories))
    assert "generation.max_tokens" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("structured", "field", "form"),
    [("choice", "structured_outputs", "google"), *(("json", "response_format", form) for form in REFUSAL_FORMS)],
)
def test_a_form_of_answers_that_is_refused_names_structured(
    loopback: Start, stories: Path, structured: str, field: str, form: str
) -> None:
    server = loopback(refuses=[field, "max_tokens"], refusal_form=form, expected_repeats=3)
    with pytest.raises(BackendError) as caught:
        sit(sitting(server, stories, structured=structured))
    assert "structured: none" in str(caught.value.hint)
    assert "max_tokens" not in str(caught.value.hint)
    assert whole(sit(sitting(server, stories)))


def test_an_answer_without_text_needs_no_log_probabilities(loopback: Start, stories: Path) -> None:
    choice = {"index": 0, "message": {"content": ""}, "finish_reason": "length", "logprobs": None}
    cut = {"contains": "Story 7:", "status": 200, "body": {"choices": [choice], "usage": {}}}
    server = loopback(special=[cut], expected_repeats=3)
    assert whole(sit(sitting(server, stories, scoring="logprobs")))


def judge(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Exit code and what was said on stderr, of a command in this process."""
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    return int(end.value.code or 0), capsys.readouterr().err


def test_the_command_names_the_key_and_the_mended_command_ends_the_run(
    loopback: Start, stories: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    server = loopback(refuses=["max_tokens", "n", "temperature", "stop"], expected_repeats=3)
    definition = {
        "name": "t",
        "dataset": str(stories),
        "judge": "openai/mock",
        "criteria": "overall",
        "eval_prompts": ["ep1"],
        "repeats": 3,
        "base_url": server.url,
        "generation": {"max_tokens": 256, "temperature": 0.0, "stop": ["###"]},
    }
    file = stories.parent / "run.yaml"
    file.write_text(json.dumps(definition), encoding="utf-8")
    command = [sys.executable, "-m", "judge", "run", str(file), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    code, said = done.returncode, done.stderr
    assert code == 1
    assert "mock does not take `temperature` and `stop` as this run sets them" in said
    assert "in run.yaml remove `generation.temperature`, `generation.stop`" in said
    assert "Traceback" not in said
    refused = server.stats()["refused"]
    code, said = judge(capsys, "run", str(file), "--set", "generation={max_tokens: 256}")
    assert code == 0
    assert "60 answered; 60 of 60" in said
    assert server.stats()["refused"] == refused  # what the first call learnt of the shape is kept
    server.configure(refuses=["max_completion_tokens"])
    code, said = judge(capsys, "run", str(file), "--set", "generation={max_tokens: 256}", "--set", "repeats=4")
    assert code == 0
    assert f"{server.url} refuses max_completion_tokens: the longest answer is sent as max_tokens" in said
