"""Models of strangers: `trained/FOLDER` with its model.json, reward models, embedding models. Data, and never code."""

from __future__ import annotations

import asyncio
import json
import math
import os
import pickle
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from judge.backends import Settings, open_backend
from judge.backends.trained.backend import RewardScorer, ScoringBackend
from judge.backends.trained.model import LARGEST, Head, TrainedModel, read_model
from judge.base.errors import BackendError, DataError, JudgeError, SpecError
from judge.base.records import Criterion, Generation, Message, Query, Scale, Story
from judge.inputs import embedding as vectors
from tests.hardening.conftest import Call, Make, held

TERM = {"feature": ["length"], "low": [0.0], "high": [9.0], "mean": [3.0], "scale": [1.0], "weight": [0.5]}
NONE = {name: [] for name in TERM}
HEAD = {"criterion": "Overall", "kind": "rating", "low": 1.0, "high": 5.0, "intercept": 3.0, "slope": 1.0, "band": 0.1}
HEAD |= {"line": [1.0, 0.0], "quantiles": [0.0, 1.0], "surface": TERM, "embedding": NONE}
MODEL = {
    "format": 1,
    "name": "theirs",
    "embedding": None,
    "data": [{"dataset": "x"}],
    "trained_on": "",
    "heads": [HEAD],
}


def term(**changes: Any) -> dict[str, Any]:
    return {"heads": [HEAD | {"surface": TERM | changes}]}


def head(**changes: Any) -> dict[str, Any]:
    return {"heads": [HEAD | changes]}


WRONG: dict[str, Any] = {
    "no heads": {"heads": []},
    "heads that are words": {"heads": "abc"},
    "heads that are numbers": {"heads": [1, 2]},
    "heads that are a mapping": {"heads": {"a": 1}},
    "a head without a kind": {"heads": [{"criterion": "x"}]},
    "another kind": head(kind="__import__('os').system('touch ran')"),
    "a kind that is a list": head(kind=[]),
    "no scale": head(low=5.0, high=5.0),
    "a scale upside down": head(low=5.0, high=1.0),
    "an endless scale": head(low=-1e308, high=1e308),
    "a slope of words": head(slope="1"),
    "a slope of truth": head(slope=True),
    "a huge slope": head(slope=1e308),
    "a line of three": head(line=[1, 2, 3]),
    "a line of none": head(line=None),
    "no quantiles": head(kind="preference", quantiles=[]),
    "too many quantiles": head(quantiles=[0.0] * 200_000),
    "quantiles that are a mapping": head(quantiles={"a": 1}),
    "no spread": term(scale=[0.0]),
    "a spread below none": term(scale=[-1.0]),
    "a huge weight": term(weight=[1e300]),
    "a weight of none": term(weight=[None]),
    "a range upside down": term(low=[9.0], high=[0.0]),
    "columns of other lengths": term(weight=[1.0, 2.0]),
    "a feature that nothing has": term(feature=["__class__"]),
    "a feature that is a path": term(feature=["../../etc/passwd"]),
    "terms that are a list": head(surface=[1]),
    "terms that are none": head(surface=None),
    "an embedding of weights without a model": head(embedding=TERM),
    "an embedding that is a word": {"embedding": "all-mpnet-base-v2"},
    "an embedding without a key": {"embedding": {"model": "x"}},
    "an embedding that is a list": {"embedding": ["model", "key"]},
    "an embedding of numbers": {"embedding": {"model": 1, "key": 2}},
    "data that is words": {"data": "abc"},
    "data that is none": {"data": None},
    "data without end": {"data": [{}] * 200_000},
    "marks that are a text": {"trained_on": "MY SECRET DIARY"},
    "marks that are a list": {"trained_on": ["p000000000000"]},
    "marks that are none": {"trained_on": None},
    "another format": {"format": 99},
    "a format that is true": {"format": [1]},
}
RAW = {
    "nothing": b"",
    "a list": b"[]",
    "no JSON": b"{",
    "not UTF-8": b"\xff\xfe",
    "NaN": json.dumps(MODEL | head(intercept=math.nan)).encode(),
    "infinity": json.dumps(MODEL | head(intercept=math.inf)).encode(),
    "1e999": json.dumps(MODEL).replace('"intercept": 3.0', '"intercept": 1e999').encode(),
    "a number of 5,000 digits": json.dumps(MODEL).replace('"intercept": 3.0', f'"intercept": {"9" * 5000}').encode(),
    "a number of 300 digits": json.dumps(MODEL).replace('"intercept": 3.0', f'"intercept": {"9" * 300}').encode(),
    "deep": b'{"format": 1, "heads": ' + b"[" * 100_000,
    "a pickle": pickle.dumps(MODEL),
}


def folder(parent: Path, content: bytes) -> Path:
    place = parent / "model"
    place.mkdir()
    (place / "model.json").write_bytes(content)
    return place


def test_what_is_whole_is_read(tmp_path: Path) -> None:
    place = folder(tmp_path, json.dumps(MODEL).encode())
    assert read_model(place).heads[0].criterion == "Overall"
    open_backend(f"trained/{place}", Settings())


@pytest.mark.parametrize("what", WRONG)
def test_a_strange_model_is_a_sentence(what: str, tmp_path: Path) -> None:
    place = folder(tmp_path, json.dumps(MODEL | WRONG[what]).encode())
    with pytest.raises(DataError):
        open_backend(f"trained/{place}", Settings())


@pytest.mark.parametrize("what", RAW)
def test_a_file_that_is_no_model_is_a_sentence(what: str, tmp_path: Path) -> None:
    with pytest.raises(DataError):
        read_model(folder(tmp_path, RAW[what]))


def test_a_model_of_more_than_so_many_bytes_is_not_read(tmp_path: Path) -> None:
    place = folder(tmp_path, b"")
    with (place / "model.json").open("wb") as stream:
        stream.truncate(LARGEST + 1)
    with pytest.raises(DataError, match="too large"):
        read_model(place)


@pytest.mark.parametrize("what", ["a pipe", "a folder", "a device", "a private file"])
def test_what_is_no_file_is_not_waited_for(what: str, tmp_path: Path) -> None:
    place = tmp_path / "model"
    place.mkdir()
    file = place / "model.json"
    (tmp_path / "private").write_text("MY SECRET DIARY")
    if what == "a pipe":
        os.mkfifo(file)
    elif what == "a folder":
        file.mkdir()
    else:
        file.symlink_to("/dev/zero" if what == "a device" else tmp_path / "private")
    with pytest.raises(DataError) as told:
        read_model(place)
    assert "SECRET" not in str(told.value)


@pytest.mark.parametrize("name", ["", "..", "/etc", "/etc/passwd", "../../../../etc", "none\0", "~", "."])
def test_a_folder_that_holds_no_model_is_a_sentence(make: Make, call: Call, name: str) -> None:
    place = make(judge=f"trained/{name}")
    error = held(call("run", place, "--quiet"))
    assert "root:" not in error
    assert not list(place.rglob("journal.sqlite"))


def test_only_the_plain_file_of_a_folder_is_read(make: Make, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else lies there is neither imported nor unpickled."""
    place = make(judge="trained/model")
    monkeypatch.chdir(place)
    lying = folder(place, json.dumps(MODEL).encode())
    for name in ("__init__.py", "modeling_x.py", "conftest.py", "sitecustomize.py"):
        (lying / name).write_text("open('ran', 'w')")
    for name in ("model.pkl", "pytorch_model.bin", "model.joblib"):
        (lying / name).write_bytes(b"cos\nsystem\n(S'touch ran'\ntR.")
    assert call("run", ".", "--quiet")[0] == 0
    assert not list(place.rglob("ran"))


@pytest.mark.parametrize("command", ["status", "coverage", "status --verify", "ratings"])
def test_a_models_name_moves_no_terminal(make: Make, call: Call, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    place = make(judge="trained/model")
    monkeypatch.chdir(place)
    evil = "theirs\x1b]0;taken\x07\x1b[2J\u202e"
    folder(place, json.dumps(MODEL | {"name": evil, "data": [{"dataset": evil}]} | head(criterion=evil)).encode())
    ran = call("run", ".", "--quiet")
    assert ran[0] == 0, ran
    _, shown, error = call(*command.split(), ".")
    assert "\x1b]0" not in shown + error
    assert "\u202e" not in shown + error


class Scores:
    """A scorer whose weights are broken."""

    def __init__(self, *values: float) -> None:
        self._values = list(values)

    async def probe(self) -> Mapping[str, Any]:
        return {}

    async def score(self, story: Story, head: Head) -> float:  # noqa: ARG002
        return self._values.pop(0)

    def explain(self, story: Story, head: Head, other: Story | None) -> str:  # noqa: ARG002
        return ""

    async def close(self) -> None:
        pass


def asked(structured: Any = "none", labels: tuple[str, ...] = (), other: Story | None = None) -> Query:
    scale = Scale.of_labels(labels) if labels else Scale(1, 5, 1)
    criterion = Criterion("Overall", "OV", "d", scale=scale)
    story = Story("s", "p", "m", "The lamp went out.")
    choices = ("A", "B", "tie") if other else ()
    return Query("k", story, criterion, "ep1", (Message("user", "x"),), Generation(), other=other, choices=choices,
                 structured=structured)  # fmt: skip


KNOWN = TrainedModel(
    "theirs",
    (Head("Overall", "rating", 1, 5, 0, (), (), 1.0, 0.1, (1.0, 0.0), (0.0,)),
     Head("Overall", "preference", 0, 1, 0, (), (), 1.0, 0.1, (1.0, 0.0), (0.0,))),
    None, (), frozenset(), "b2:0",
)  # fmt: skip


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("how", ["none", "choice", "json", "labels", "pair"])
def test_weights_that_are_no_numbers_rate_nothing(value: float, how: str) -> None:
    if how == "pair":
        query = asked(other=Story("t", "p", "m", "Nobody lit it."))
    else:
        query = asked("none", ("poor", "fair", "good")) if how == "labels" else asked(how)
    backend = ScoringBackend(KNOWN, Scores(value, 0.0))
    with pytest.raises(BackendError, match="rates nothing") as told:
        asyncio.run(backend.complete(query, [0]))
    assert not told.value.retryable


def test_sums_that_overflow_rate_nothing() -> None:
    for first, second in ((1e308, -1e308), (-1e308, 1e308)):
        with pytest.raises(BackendError, match="rates nothing"):
            asyncio.run(ScoringBackend(KNOWN, Scores(first, second)).complete(asked(other=asked().story), [0]))


def test_a_reward_model_is_loaded_from_plain_weights_and_brings_no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    told: list[dict[str, Any]] = []

    class Auto:
        @staticmethod
        def from_pretrained(name: str, **options: Any) -> Any:
            told.append({"name": name, **options})
            if len(told) == 1:
                return SimpleNamespace()
            raise OSError("theirs has no model.safetensors")

    fake = SimpleNamespace(AutoTokenizer=Auto, AutoModelForSequenceClassification=Auto)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "transformers", fake)
    with pytest.raises(BackendError, match=r"cannot be loaded: theirs has no model\.safetensors"):
        asyncio.run(RewardScorer("theirs", Settings()).probe())
    assert [one["trust_remote_code"] for one in told] == [False, False]
    assert told[1]["use_safetensors"] is True


@pytest.mark.parametrize("engine", [{"trust_remote_code": True}, {"use_safetensors": False}, {"code_revision": "x"}])
def test_no_engine_key_lets_a_model_bring_code(engine: dict[str, Any]) -> None:
    for judge in ("reward/x", "trained/."):
        with pytest.raises(JudgeError):
            open_backend(judge, Settings(engine=engine))


@pytest.mark.parametrize(
    "modules",
    [
        '[{"idx": 0, "name": "0", "path": "", "type": "modeling_theirs.Theirs"}]',
        '[{"type": "sentence_transformers.models.Transformer"}, {"type": "joblib.numpy_pickle"}]',
        '[{"type": "sentence_transformersx.Evil"}]',
        '[{"type": null}]',
        '{"a": 1}',
        "[1]",
        "{",
        "[" * 100_000,
        "[{}]",
    ],
)
def test_an_embedding_model_brings_no_code(modules: str, tmp_path: Path) -> None:
    (tmp_path / "modules.json").write_text(modules)
    (tmp_path / "modeling_theirs.py").write_text("open('ran', 'w')")
    with pytest.raises(SpecError):
        vectors._refuse_code(tmp_path)


def test_modules_of_the_library_itself_are_taken(tmp_path: Path) -> None:
    modules = tmp_path / "modules.json"
    modules.write_text('[{"type": "sentence_transformers.models.Transformer"}]')
    assert vectors._refuse_code(tmp_path) is None
    modules.write_text(modules.read_text().replace("sentence_transformers.models", "theirs"))
    with pytest.raises(SpecError, match="theirs"):
        vectors._refuse_code(tmp_path)
