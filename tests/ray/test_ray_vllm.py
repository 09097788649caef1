"""What Ray's vLLM stage is told: its configuration, its rows, what becomes of its answers. No engine runs here."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import pytest

from judge.answers.journal import JournalReader
from judge.asking.execution.ray import blocks as vllm_stage
from judge.asking.execution.ray import engine
from judge.asking.execution.ray.blocks import encode
from judge.asking.execution.session import Sitting
from judge.asking.run_definition.spec import RunSpec, parse_run_spec
from judge.asking.run_folder import ResultFolder
from judge.base.errors import MissingExtraError, SpecError
from judge.base.records import Criterion, Generation, Message, Query, Story

pytestmark = pytest.mark.filterwarnings("default")


def spec(**changes: Any) -> RunSpec:
    data: dict[str, Any] = {
        "name": "t",
        "dataset": "x.jsonl",
        "judge": "vllm/org/model",
        "criteria": "overall",
        "eval_prompts": ["ep1"],
        "generation": {"temperature": 0.5, "max_tokens": 64},
        "concurrency": 256,
        "revision": "abc",
        "engine": {"tensor_parallel_size": 2, "max_model_len": 4096},
    }
    return parse_run_spec(data | changes, "test")


def query(**generation: Any) -> Query:
    told: dict[str, Any] = {"temperature": 0.5, "max_tokens": 64} | generation
    messages = (Message("system", "S"), Message("user", "U"))
    return Query(
        "b2:1", Story("s1", "p", "A", "t"), Criterion("Overall", "OV", "d"), "ep1", messages, Generation(**told)
    )


def test_rays_own_configuration_takes_our_arguments(ray_installed: None) -> None:
    import ray.data.llm

    config = ray.data.llm.vLLMEngineProcessorConfig(**vllm_stage.config_arguments(spec(), 3))
    assert (config.model_source, config.concurrency, config.max_pending_requests) == ("org/model", 3, 256)
    kwargs = {key: config.engine_kwargs[key] for key in ("enable_prefix_caching", "revision", "tensor_parallel_size")}
    assert kwargs == {"enable_prefix_caching": True, "revision": "abc", "tensor_parallel_size": 2}
    assert config.should_continue_on_error
    assert config.chat_template_stage
    plain = ray.data.llm.vLLMEngineProcessorConfig(**vllm_stage.config_arguments(spec(api="completions"), 1))
    assert not plain.chat_template_stage
    assert vllm_stage.gpus_for_engine(spec()) == 2
    assert vllm_stage.builder(ray.data.llm) is ray.data.llm.build_processor


def test_the_builder_is_found_by_its_new_and_its_old_name() -> None:
    old, new = (lambda: "old"), (lambda: "new")
    assert vllm_stage.builder(types.SimpleNamespace(build_llm_processor=old)) is old  # type: ignore[arg-type]
    both = types.SimpleNamespace(build_llm_processor=old, build_processor=new)
    assert vllm_stage.builder(both) is new  # type: ignore[arg-type]
    with pytest.raises(MissingExtraError, match="no builder"):
        vllm_stage.builder(types.SimpleNamespace())  # type: ignore[arg-type]


def test_a_row_is_one_repeat_with_its_own_seed() -> None:
    block = encode([[(query(seed=40, stop=("END",)), (0,)), (query(seed=40, stop=("END",)), (2,))]])
    first, second = vllm_stage.rows_of(5, block)
    assert first["messages"] == [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]
    assert first["sampling_params"] == {"temperature": 0.5, "max_tokens": 64, "seed": 40, "stop": ["END"]}
    assert second["sampling_params"]["seed"] == 42
    assert (first["ticket"], first["of"], second["of"]) == (5, 2, 2)
    assert vllm_stage.rows_of(6, b"") == []


class Standing:
    """In the place of ray.data.llm: a processor of three real Ray Data stages, whose middle one is no model."""

    def __init__(self) -> None:
        self.config: dict[str, Any] = {}

    def vLLMEngineProcessorConfig(self, **arguments: Any) -> dict[str, Any]:  # noqa: N802  Ray's name
        self.config = arguments
        return arguments

    def build_processor(self, config: Any, *, preprocess: Any, postprocess: Any) -> Any:
        assert config is self.config

        def answer(row: dict[str, Any]) -> dict[str, Any]:
            text = row["messages"][-1]["content"]
            told = f"Rating: {1 + len(text) % 5}"
            return row | {"generated_text": told, "num_input_tokens": len(text), "num_generated_tokens": 3}

        return lambda dataset: dataset.map(preprocess).map(answer).map(postprocess)


def test_rows_go_through_a_processor_into_the_journal(ray: Any, stories: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    standing = Standing()
    monkeypatch.setattr(engine, "_vllm_module", lambda: standing)
    asked = spec(dataset=str(stories), repeats=2, eval_prompts=["ep1", "ep2"])
    result = ResultFolder(stories.parent / "results")
    sitting = Sitting(asked, stories.parent, result, limit=9, quiet=True)
    ended = engine.sit_on_ray(sitting, engine.Cluster(actors=1))
    assert (ended.planned, ended.missing, ended.outcomes.answered) == (36, 0, 36)
    assert standing.config["model_source"] == "org/model"
    with JournalReader(result.journal) as journal:
        assert journal.check_integrity() == []
        assert {answer.response.model for answer in journal.answers() if answer.response} == {"org/model"}
        assert {answer.repeat for answer in journal.answers()} == {0, 1}


def test_answers_errors_and_cuts_become_attempts() -> None:
    (row,) = vllm_stage.rows_of(0, encode([[(query(), (3,))]]))
    row = vllm_stage.preprocess(row) | {
        "num_input_tokens": 12,
        "num_generated_tokens": 5,
        "generated_text": "Rating: 4",
    }
    answered = vllm_stage.attempt_of(vllm_stage.postprocess(row), "org/model")
    told = (answered["query_key"], answered["repeat"], answered["outcome"], answered["text"], answered["status"])
    assert told == ("b2:1", 3, "answered", "Rating: 4", None)
    assert (answered["prompt_tokens"], answered["completion_tokens"]) == (12, 5)
    assert answered["finish_reason"] is None
    assert answered["seconds"] >= 0
    assert vllm_stage.attempt_of(row | {"num_generated_tokens": 64}, "m")["finish_reason"] == "length"
    broken = vllm_stage.attempt_of(row | {"__inference_error__": "ValueError: prompt exceeds max_model_len"}, "m")
    assert (broken["outcome"], broken["final"], broken["error_kind"]) == ("provider_error", True, "context")
    assert "text" not in broken


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"structured": "choice"}, "structured: none"),
        ({"scoring": "logprobs"}, "logprobs"),
        ({"generation": {"temperature": 0.5}}, "max_tokens"),
    ],
)
def test_what_the_stage_cannot_do_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        vllm_stage.check(spec(**changes))
