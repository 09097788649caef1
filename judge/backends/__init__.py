"""Opens back-ends (clients or engines of judges) by name. Other packages register theirs through the entry point
`judge.backends`."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points

from judge.backends.protocol import Backend, Capabilities, Scorer, Settings
from judge.base.credentials.providers import CONTROL, JudgeName
from judge.base.errors import OptionError, SpecError, unknown

__all__ = [
    "BACKENDS",
    "SCORERS",
    "Backend",
    "Capabilities",
    "Scorer",
    "Settings",
    "known_backends",
    "open_backend",
    "open_scorer",
    "split_judge",
]

# Name -> module with `open(model: str, settings: Settings) -> Backend`.
BACKENDS: dict[str, str] = {
    "anthropic": "judge.backends.anthropic",
    "gemini": "judge.backends.gemini",
    "hf": "judge.backends.hf.backend",
    "local": "judge.backends.hf.packaged_model",
    "openai": "judge.backends.openai.backend",
    "recorded": "judge.backends.recorded",
    "reward": "judge.backends.trained.backend",
    "scripted": "judge.backends.scripted",
    "surface": "judge.backends.surface",
    "trained": "judge.backends.trained",
    "vllm": "judge.backends.vllm",
}

# Back-ends that load a model into this process: no server is asked, and nobody is paid for tokens.
IN_PROCESS = frozenset({"hf", "local", "vllm"})

# Back-ends whose protocol has no way to ask for several answers: known before one of them is opened.
ONE_ANSWER_A_CALL = frozenset({"anthropic"})

# Name -> module with `open_scorer(model: str, settings: Settings) -> Scorer`.
SCORERS: dict[str, str] = {
    "hf": "judge.backends.hf.scorer",
    "local": "judge.backends.hf.packaged_model",
    "openai": "judge.backends.openai.scorer",
    "vllm": "judge.backends.vllm",
}


def known_backends() -> list[str]:
    """Names of all back-ends, including those of other installed packages."""
    return sorted({*BACKENDS, *(e.name for e in entry_points(group="judge.backends"))})


def split_judge(judge: str) -> JudgeName:
    """The parts of `provider/model`; `surface` alone is the control judge with its shipped model. Raises SpecError for
    an unknown back-end or, otherwise, no model."""
    provider, model = JudgeName.of(judge)
    if provider not in BACKENDS and provider not in known_backends():
        raise SpecError(
            unknown("back-end", provider, known_backends()),
            hint="write the judge as provider/model, e.g. openai/gpt-4o-mini or surface",
        )
    if not model and provider != CONTROL:
        raise SpecError(f"judge {judge!r} names no model", hint=f"write {provider}/MODEL")
    return JudgeName(provider, model)


def open_backend(judge: str, settings: Settings) -> Backend:
    """The back-end of `provider/model`, whose module is imported only now."""
    provider, model = split_judge(judge)
    check_api(judge, settings)
    if provider in BACKENDS:
        loader = import_module(BACKENDS[provider]).open
    else:
        (entry,) = [e for e in entry_points(group="judge.backends") if e.name == provider][:1]
        loader = entry.load()
    backend: Backend = loader(model, settings)
    return backend


def check_api(judge: str, settings: Settings) -> None:
    """Raise SpecError if the judge's back-end does not have the API that `settings.api` names."""
    if settings.api == "responses" and split_judge(judge)[0] != "openai":
        raise SpecError(f"`api: responses` is OpenAI's, and {judge} is not asked there", hint="leave `api` out")


def open_scorer(model: str, settings: Settings) -> Scorer:
    """The scorer of `provider/model`, for log-probabilities of given texts. Its module is imported only now."""
    provider, name = JudgeName.of(model)
    if provider not in SCORERS:
        raise SpecError(
            unknown("scorer", provider, SCORERS),
            hint="write the model as local/NAME, hf/PATH, hf/NAME or vllm/PATH, or openai/NAME for a vLLM server",
        )
    if not name:
        raise OptionError("model", model, "names no model", hint=f"write {provider}/MODEL")
    scorer: Scorer = import_module(SCORERS[provider]).open_scorer(name, settings)
    return scorer
