"""A run through Anthropic's Message Batches, against an imitation of the documented API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judge.answers.journal import JournalReader
from judge.asking.execution.session import Sitting, sit
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder
from judge.base.errors import BackendError, DataError, SpecError
from judge.exchange.batch.importing import import_results
from judge.exchange.batch.ledger import read_ledger
from judge.exchange.batch.requests import Wanted
from judge.exchange.batch.submission import advice_for, collect, refresh, submit
from tests.conformance.messages_api import BROKE, KEY, OVERLOADED, MessagesServer, invalid
from tests.exchange.conftest import answers, definition


def quietly(_: str) -> None:
    """Say nothing."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The imitation's key, and no waiting between attempts."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    monkeypatch.setattr("judge.exchange.batch.ledger.time.sleep", lambda _: None)


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    """The imitation."""
    with MessagesServer() as listening:
        yield listening


def run(server: MessagesServer, stories: Path, **changes: Any) -> dict[str, Any]:
    generation = {"max_tokens": 200}
    own = {"judge": "anthropic/claude-opus-5", "base_url": server.url, "generation": generation, "repeats": 2}
    return definition(None, stories) | own | changes


def asked(server: MessagesServer, stories: Path, folder: str = "batched", **changes: Any) -> Wanted:
    spec = parse_run_spec(run(server, stories, **changes), "test")
    return Wanted(spec, stories.parent, ResultFolder(stories.parent / folder))


def live(server: MessagesServer, stories: Path, folder: str) -> Sitting:
    spec = parse_run_spec(run(server, stories), "test")
    return Sitting(spec, stories.parent, ResultFolder(stories.parent / folder), quiet=True)


def test_a_run_goes_through_and_equals_a_live_one(server: MessagesServer, stories: Path) -> None:
    wanted = asked(server, stories)
    sent = submit(wanted, quietly, most_lines=100)
    assert [(batch.lines, batch.repeats, batch.state) for batch in sent] == [(100, 100, "created"), (92, 92, "created")]
    assert submit(wanted, quietly) == []  # nothing is sent twice
    assert [batch.status for batch in refresh(wanted.result)] == ["in_progress"] * 2
    assert len(collect(wanted.result, quietly).waiting) == 2
    server.end_batches()
    found = collect(wanted.result, quietly)
    assert found.imported is not None
    assert (found.imported.answered, found.waiting, found.advice) == (192, [], [])
    sit(live(server, stories, "live"))
    assert answers(wanted.result) == answers(ResultFolder(stories.parent / "live"))


def test_requests_are_those_of_a_live_run_with_their_cache_points(server: MessagesServer, stories: Path) -> None:
    wanted = asked(server, stories)
    submit(wanted, quietly)
    sit(live(server, stories, "live"))
    requests = (wanted.result.path / "batches" / "requests-0001.jsonl").read_text(encoding="utf-8").splitlines()
    bodies = sorted(json.dumps(json.loads(line)["params"], sort_keys=True) for line in requests)
    assert bodies == sorted(json.dumps(call.body, sort_keys=True) for call in server.calls)
    assert any("cache_control" in body for body in bodies)


def test_reads_writes_and_half_the_price_are_counted(server: MessagesServer, stories: Path) -> None:
    long = stories.read_text(encoding="utf-8").replace("the lamp on the quay", "the lamp on the quay " * 200)
    stories.write_text(long, encoding="utf-8")
    wanted = asked(server, stories, judge="anthropic/claude-sonnet-4-6")
    submit(wanted, quietly)
    server.end_batches()
    found = collect(wanted.result, quietly)
    assert found.imported is not None
    messages = [row["result"]["message"]["usage"] for row in server.results["msgbatch_0001"]]
    of = {name: sum(usage[name] for usage in messages) for name in messages[0]}
    assert of["cache_read_input_tokens"] > of["cache_creation_input_tokens"] > 0
    charged = of["input_tokens"] * 1.5 + of["cache_creation_input_tokens"] * 1.875
    charged += of["cache_read_input_tokens"] * 0.15 + of["output_tokens"] * 7.5  # half of Sonnet 4.6's prices
    assert found.imported.spent.known_cost == pytest.approx(charged / 1e6, rel=1e-12)


def test_what_expired_failed_or_was_cancelled_is_typed_and_asked_again(server: MessagesServer, stories: Path) -> None:
    wanted = asked(server, stories)
    outcomes = {0: "errored", 1: "expired", 2: "canceled"}
    server.batch_outcome = lambda place: outcomes.get(place, "succeeded")
    submit(wanted, quietly)
    server.end_batches()
    (batch,) = refresh(wanted.result)
    assert (batch.status, batch.done, batch.failed) == ("expired", 189, 3)
    assert "submit" in str(advice_for(batch, wanted.result))
    found = collect(wanted.result, quietly)
    assert found.imported is not None
    assert (found.imported.answered, dict(found.imported.failed)) == (189, {"server": 2, "timeout": 1})
    server.batch_outcome = lambda _place: "succeeded"
    (rest,) = submit(wanted, quietly)
    assert rest.lines == 3
    server.end_batches()
    collect(wanted.result, quietly)
    assert None not in answers(wanted.result).values()


def test_a_request_that_the_model_refuses_names_its_setting(server: MessagesServer, stories: Path) -> None:
    # Parameters are validated as the batch is processed, not as it is created.
    wanted = asked(server, stories, generation={"max_tokens": 200, "temperature": 0.0})
    submit(wanted, quietly)
    server.end_batches()
    found = collect(wanted.result, quietly)
    assert found.imported is not None
    assert dict(found.imported.failed) == {"capability": 192}
    assert "`temperature` is deprecated for this model" in str(found.imported.example)
    with JournalReader(wanted.result.journal) as journal:
        assert journal.totals().failed == {}  # another temperature may be asked for


def test_after_a_lost_reply_nothing_is_paid_for_twice(server: MessagesServer, stories: Path) -> None:
    server.lost_replies = 1
    wanted = asked(server, stories)
    (batch,) = submit(wanted, quietly)
    assert (len(server.batches), batch.batch_id) == (1, "msgbatch_0001")


def test_after_a_kill_the_batch_is_found_among_others_of_the_account(server: MessagesServer, stories: Path) -> None:
    other = asked(server, stories, "other", judge="anthropic/claude-sonnet-5")
    wanted = asked(server, stories)
    submit(wanted, quietly, most_lines=96)
    submit(other, quietly, most_lines=96)
    ledger = read_ledger(wanted.result)
    ledger.batches[1].state, ledger.batches[1].batch_id = "creating", None  # killed before the reply was kept
    ledger.save()
    with pytest.raises(BackendError, match="it is not known which of them is this run's"):
        submit(wanted, quietly)
    assert len(server.batches) == 4
    server.end_batches()
    (found,) = submit(wanted, quietly)
    assert (found.batch_id, len(server.batches)) == ("msgbatch_0002", 4)


def test_overload_is_waited_for_and_a_used_up_account_is_told(server: MessagesServer, stories: Path) -> None:
    wanted = asked(server, stories)
    server.faults = lambda number, _body: OVERLOADED if number == 1 else BROKE
    with pytest.raises(BackendError, match="credit balance is too low") as caught:
        submit(wanted, quietly)
    assert (caught.value.kind, server.batches) == ("quota", {})
    server.faults = lambda _number, _body: None
    assert len(submit(wanted, quietly)) == 1


def test_a_refused_batch_is_told_with_the_servers_words(server: MessagesServer, stories: Path) -> None:
    server.faults = lambda _number, _body: invalid("requests: too many")
    with pytest.raises(BackendError, match="too many"):
        submit(asked(server, stories), quietly)


def test_no_file_of_the_folder_holds_the_key(server: MessagesServer, stories: Path) -> None:
    wanted = asked(server, stories)
    submit(wanted, quietly)
    server.results["msgbatch_0001"][0]["result"]["message"]["content"][0]["text"] = f"Rating: 4, says {KEY}"
    server.end_batches()
    collect(wanted.result, quietly)
    files = [file for file in wanted.result.path.rglob("*") if file.is_file()]
    assert len(files) >= 4
    assert not [file for file in files if KEY.encode() in file.read_bytes()]


def test_max_cost_is_kept_with_the_prices_of_batches(server: MessagesServer, stories: Path) -> None:
    with pytest.raises(SpecError, match="more than max_cost"):
        submit(asked(server, stories, max_cost=0.01), quietly)
    assert server.batches == {}


def test_the_request_file_is_not_taken_for_results(server: MessagesServer, stories: Path) -> None:
    wanted = asked(server, stories)
    submit(wanted, quietly)
    with pytest.raises(DataError, match="this is the file that was sent"):
        import_results(wanted.result, (wanted.result.path / "batches" / "requests-0001.jsonl",))
