"""What refusals have shown about a server: the setting's name for an answer's length, and the answers per call. Only a
call's form is adapted; a refused setting of run.yaml is never changed silently: `remedy` says which key to change, and
the run stops."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from judge.backends.refusal_kinds import LIMITS, Refusal, most_allowed, speaks_of_value
from judge.base.files import write_whole

# A setting as sent -> its key in run.yaml; others are keys of `engine`.
_KEYS = {
    "max_tokens": "generation.max_tokens",
    "max_completion_tokens": "generation.max_tokens",
    "temperature": "generation.temperature",
    "top_p": "generation.top_p",
    "seed": "generation.seed",
    "stop": "generation.stop",
    "logprobs": "scoring",
    "top_logprobs": "engine.top_logprobs",
    "response_format": "structured",
    "structured_outputs": "structured",
    "system": "system",
}

# Advice for a key that cannot simply be removed.
_CHANGED = {
    "scoring": "set `scoring: text` (the model gives no log-probabilities)",
    "structured": "set `structured: none` (the model does not constrain its answers so)",
    "system": "remove `system`, and put its words into the Eval-Prompt",
}

# What a refusal names when the model has no other route: "only supported in v1/responses".
RESPONSES_ALONE = "v1/responses"

# Keys of which a server may refuse the value alone.
_OF_VALUE = ("generation.max_tokens", "engine.top_logprobs")


@dataclass(slots=True)
class Terms:
    """What a server has shown for one model. `limit` is the chat route's setting for an answer's length, `most` the
    answers per call (None: no known maximum). `responses`: only the Responses API has the model; `one_limit`: the API
    has one name for the length. `answered` settings and `notes` are of this process."""

    url: str
    limit: str = "max_tokens"
    most: int | None = None
    responses: bool = False
    one_limit: bool = False
    answered: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    _refused_limits: set[str] = field(default_factory=set)

    def learn(self, refusal: Refusal, names: Iterable[str], sent: Mapping[str, Any]) -> tuple[str, ...]:
        """Adapt later calls to the refusal of `names` in `sent`; the names for which this is not possible."""
        return tuple(name for name in names if not self._learnt(name, refusal, sent))

    def _learnt(self, name: str, refusal: Refusal, sent: Mapping[str, Any]) -> bool:
        if name == "n":
            # Decided by what was sent: another request in flight may have taught the same before.
            self.take_at_most(most_allowed(refusal.error_body, int(sent.get("n") or 1)), why="refuses")
            return True
        if name in LIMITS and "messages" in sent and not self.one_limit:
            return self._rename(name, refusal)
        return False

    def _rename(self, name: str, refusal: Refusal) -> bool:
        other = LIMITS[1 - LIMITS.index(name)]
        if other not in refusal.error_body.low and speaks_of_value(refusal.error_body):
            return False
        self._refused_limits.add(name)
        if other in self._refused_limits and self.limit == name:
            return False
        if self.limit == name:
            self.limit = other
            self.notes.append(f"{self.url} refuses {name}: the longest answer is sent as {other}")
        return True

    def take_at_most(self, count: int, *, why: str) -> None:
        """Lower the answers per call to at most `count`. `why` is the verb of the note, e.g. "refuses"."""
        if self.most is None or count < self.most:
            self.most = count
            calls = "one call for each repeat" if count == 1 else f"at most {count} answers in a call"
            self.notes.append(f"{self.url} {why} n: {calls}")

    def take_responses(self) -> None:
        """Use the Responses API from now on, which gives one answer per request."""
        if not self.responses:
            self.responses = self.one_limit = True
            self.most = 1
            self.notes.append(
                f"{self.url} has this model at /responses alone: requests go there, with one call for each repeat"
            )

    def shortened(self, repeats: Any) -> Any:
        """`repeats` cut to what the server answers in one call."""
        return repeats if self.most is None else repeats[: self.most]


def remedy(names: Iterable[str], refusal: Refusal) -> str:
    """Hint about refused settings: which keys of run.yaml to change, and how."""
    keys = list(dict.fromkeys(_KEYS.get(name, f"engine.{name}") for name in names))
    removed = [
        f"`{key}`"
        for key in keys
        if key not in _CHANGED and not (key in _OF_VALUE and speaks_of_value(refusal.error_body))
    ]
    changed = [_CHANGED[key] for key in keys if key in _CHANGED]
    changed += [
        f"change `{key}` to a value that it takes" for key in keys if f"`{key}`" not in removed and key in _OF_VALUE
    ]
    parts = []
    if removed:
        holds = "the provider's default then holds" if removed != ["`generation.seed`"] else "repeats then have no seed"
        between = " or " if _only_together(refusal) else ", "
        parts.append(f"remove {between.join(removed)} ({holds})")
    return f"in run.yaml {'; '.join([*parts, *changed])}; or take another model"


def _only_together(refusal: Refusal) -> bool:
    return any(
        word in refusal.error_body.low for word in ("both", "only one", "mutually", "cannot be used with", "together")
    )


def load_terms(file: Path | None, url: str, model: str) -> Terms:
    """What an earlier run learnt about this server and model; empty if nothing was stored."""
    terms = Terms(url)
    for entry in _entries(file):
        if (entry.get("base_url"), entry.get("model")) == (url, model):
            if entry.get("max_tokens") in LIMITS:
                terms.limit = entry["max_tokens"]
            if isinstance(entry.get("n"), int) and entry["n"] >= 1:
                terms.most = entry["n"]
            terms.responses = entry.get("api") == "responses"
    return terms


def save_terms(file: Path | None, model: str, all_terms: Iterable[Terms]) -> None:
    """Save what was learnt for the next run, which meets the same refusals again if the file cannot be written."""
    if file is None:
        return
    new = {
        (terms.url, model): {"base_url": terms.url, "model": model, "max_tokens": terms.limit, "n": terms.most}
        | ({"api": "responses"} if terms.responses else {})
        for terms in all_terms
    }
    old = [entry for entry in _entries(file) if (entry.get("base_url"), entry.get("model")) not in new]
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, orjson.dumps([*old, *new.values()], option=orjson.OPT_INDENT_2), follow=False)


def _entries(file: Path | None) -> list[dict[str, Any]]:
    try:
        data = orjson.loads(file.read_bytes()) if file is not None else []
    except (OSError, orjson.JSONDecodeError):
        return []
    return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
