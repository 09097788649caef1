"""Batch support of each back-end: the format of its request lines, and the API or program that runs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from judge.asking.run_folder import ResultFolder
from judge.backends import Settings, check_api, split_judge
from judge.backends.anthropic import AnthropicBackend
from judge.backends.gemini import gemini_backend
from judge.backends.openai.backend import OpenAIBackend
from judge.base.errors import SpecError
from judge.exchange.batch.anthropic_batches import AnthropicBatches
from judge.exchange.batch.gemini_batches import GeminiBatches
from judge.exchange.batch.openai_batches import BatchServer
from judge.exchange.batch.provider_api import BatchApi
from judge.exchange.batch.results import GEMINI_LINES, MESSAGE_LINES, OPENAI_LINES, LineForm

# What asks live over HTTP; a batch's lines hold its requests.
Executor = OpenAIBackend | AnthropicBackend


@dataclass(frozen=True, slots=True)
class BatchForm:
    """Batch support of one back-end: the format of request files, and how its requests are sent. `executor` sends the
    same requests without a batch. `api` is None if there is none (vLLM, whose program `vllm run-batch` answers request
    files). `one_by_one`: each repeat has its own line, even if a request without a batch may ask for several."""

    executor: Callable[[str, Settings], Executor]
    lines: LineForm
    api: Callable[[str, Settings, ResultFolder], BatchApi] | None
    one_by_one: bool = False


BATCH_FORMS: dict[str, BatchForm] = {
    "openai": BatchForm(OpenAIBackend, OPENAI_LINES, lambda _model, settings, _result: BatchServer(settings)),
    "vllm": BatchForm(OpenAIBackend, OPENAI_LINES, None),
    "anthropic": BatchForm(
        AnthropicBackend, MESSAGE_LINES, lambda _model, settings, result: AnthropicBatches(settings, result)
    ),
    # A Gemini model that takes one candidate alone would refuse every line with more, a day later.
    "gemini": BatchForm(
        gemini_backend, GEMINI_LINES, lambda model, settings, _result: GeminiBatches(model, settings), one_by_one=True
    ),
}


def batch_form(judge: str) -> BatchForm:
    """Batch support of the judge's back-end. Raises SpecError if it has none."""
    form = BATCH_FORMS.get(split_judge(judge)[0])
    if form is None:
        raise SpecError(
            f"{judge} has no batch form: batch files are for {_listed(BATCH_FORMS)}",
            hint="judge run asks this judge directly",
        )
    return form


def has_batch_api(judge: str) -> bool:
    form = BATCH_FORMS.get(split_judge(judge)[0])
    return form is not None and form.api is not None


def executor_of(judge: str, settings: Settings) -> Executor:
    """The executor that would send the requests without a batch. No connection is made."""
    check_api(judge, settings)
    return batch_form(judge).executor(split_judge(judge)[1], settings)


def batch_api_of(judge: str, settings: Settings, result: ResultFolder) -> BatchApi:
    """The batch API of a judge's provider. Raises SpecError if there is none."""
    opened = batch_form(judge).api
    if opened is None:
        raise SpecError(
            f"{judge} has no provider with a batch API",
            hint="judge export RUN --as batch writes a file for vllm run-batch",
        )
    return opened(split_judge(judge)[1], settings, result)


def _listed(names: dict[str, BatchForm]) -> str:
    *first, last = (f"{name}/MODEL" for name in names)
    return f"{', '.join(first)} and {last}"
