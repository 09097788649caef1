"""What the loopback server is told to do: latency, answers, refusals, faults. Never holds what has happened."""

from __future__ import annotations

import copy
import dataclasses
import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

STYLES = (
    "rating",
    "verdict",
    "joint",
    "prose",
    "json",
    "reasoning",
    "think",
    "thought_only",
    "unparseable",
    "empty",
    "truncated",
    "refusal",
    "content_filter",
)
USUAL_MODELS = ("mock", "mock-judge", "gpt-4o-mini")
FAULT_MODES = ("request", "first", "sticky")
RETRY_AFTER_FORMS = ("seconds", "date", "none")

REFUSAL_FORMS = ("openai", "words", "google", "fastapi", "mute")

FAULTS: dict[str, str] = {
    "p429": "429",
    "p500": "500",
    "p503": "503",
    "pgarbage": "garbage",
    "phang": "hang",
    "pdrop": "drop",
    "ptruncate_body": "truncate_body",
}
"""Probability setting -> name of the fault, in the order in which one draw in [0, 1) is divided among them."""


@dataclass(slots=True)
class Settings:
    """Everything that can be changed while the server runs. Times are milliseconds (`_ms`) or seconds (`_s`).

    `style` is one of STYLES, or shares of several by hash of the prompt ({"rating": 0.9, "refusal": 0.1}).
    `fixed_text`, where given, is the answer to everything. `models` None accepts every model and lists USUAL_MODELS.
    `hold` keeps completions waiting until it is set to False.
    `quota` is the number of completions that are answered before 429 insufficient_quota. `fail_all` is
    {"status": 500, "kind": "server_error"}; with status 0 the kind is one of the faults (drop, garbage, hang,
    truncate_body). `expected_repeats` says how many answered choices of one prompt, seed and model are no waste.
    Batches: `batch_hold` keeps them in progress; `batch_fail_after` lets lines from that number on end in an error,
    `batch_expire_after` the batch expire there; `batch_refuse` is the sentence with which a batch fails whole;
    `batch_lost` ("upload" or "create", then ":drop" or ":hang") does the step once and never tells; `batch_page` is the
    longest page of a list.
    `refuses` names settings of requests that are refused after `refusal_ms`, in the form `refusal_form`, one of
    REFUSAL_FORMS ("mute" says only that the request is bad); `temperature` is refused unless it is 1. `special` is a
    list of replies for some requests: {"status": 403, "body": ...} for those whose body `contains` a text, for `every`
    third, `after` so many. `models_status` is what the list of models answers in place of 200, `models_delay_s` when;
    `first_delay_s` is how much later the first completion comes; `wants_query` must stand in each completion's address.
    `record` keeps the first so many request bodies; `label` is a pattern searched in each body for the arrivals list.
    """

    latency_ms: float = 0.0
    jitter_ms: float = 0.0
    hold: bool = False
    style: str | dict[str, float] = "rating"
    fixed_text: str | None = None
    ignore_n: bool = False
    reject_n: bool = False
    ignore_logprobs: bool = False
    ignore_seed: bool = False
    require_key: str | None = None
    models: list[str] | None = None
    models_route: bool = True
    max_context_chars: int | None = None
    quota: int | None = None
    fail_all: dict[str, Any] | None = None
    max_concurrency: int | None = None
    p429: float = 0.0
    p500: float = 0.0
    p503: float = 0.0
    pgarbage: float = 0.0
    phang: float = 0.0
    pdrop: float = 0.0
    ptruncate_body: float = 0.0
    fault_mode: str = "request"
    fault_attempts: int = 1
    hang_s: float = 60.0
    retry_after: float = 1.0
    retry_after_form: str = "seconds"
    refuses: list[str] = dataclasses.field(default_factory=list)
    refusal_form: str = "openai"
    refusal_ms: float = 0.0
    special: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    models_status: int = 200
    models_delay_s: float = 0.0
    first_delay_s: float = 0.0
    wants_query: str | None = None
    batch_hold: bool = False
    batch_fail_after: int | None = None
    batch_expire_after: int | None = None
    batch_refuse: str | None = None
    batch_lost: str | None = None
    batch_page: int = 100
    seed: int = 0
    expected_repeats: int = 1
    record: int = 0
    label: str | None = None
    system_fingerprint: str | None = "fp_loopback"

    def update(self, changes: Mapping[str, Any]) -> None:
        """Change some settings. Raises ValueError, and changes nothing, for an unknown key or a value out of place."""
        known = [each.name for each in dataclasses.fields(self)]
        for key in changes:
            if key not in known:
                near = difflib.get_close_matches(key, known, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
                raise ValueError(f"unknown setting {key!r}; {hint}")
        trial = copy.deepcopy(self)
        for key, value in changes.items():
            setattr(trial, key, value)
        trial.check()
        for key in changes:
            setattr(self, key, getattr(trial, key))

    def check(self) -> None:
        """Raise ValueError where values do not fit together."""
        for style in [self.style] if isinstance(self.style, str) else self.style:
            if style not in STYLES:
                raise ValueError(f"unknown style {style!r}; known: {', '.join(STYLES)}")
        if self.fault_mode not in FAULT_MODES:
            raise ValueError(f"unknown fault_mode {self.fault_mode!r}; known: {', '.join(FAULT_MODES)}")
        if self.retry_after_form not in RETRY_AFTER_FORMS:
            raise ValueError(
                f"unknown retry_after_form {self.retry_after_form!r}; known: {', '.join(RETRY_AFTER_FORMS)}"
            )
        shares = self.fault_shares()
        if any(share < 0 for _, share in shares) or sum(share for _, share in shares) > 1 + 1e-9:
            raise ValueError("fault probabilities must lie in 0..1 and sum to at most 1")
        if self.refusal_form not in REFUSAL_FORMS:
            raise ValueError(f"unknown refusal_form {self.refusal_form!r}; known: {', '.join(REFUSAL_FORMS)}")
        if self.fail_all is not None and not {"status", "kind"} >= set(self.fail_all):
            raise ValueError("fail_all takes the keys status and kind")

    def fault_shares(self) -> list[tuple[str, float]]:
        """Fault names with their probabilities, in the fixed order of FAULTS, without those of probability 0."""
        return [(name, getattr(self, key)) for key, name in FAULTS.items() if getattr(self, key)]

    def as_dict(self) -> dict[str, Any]:
        """All settings as plain data."""
        return dataclasses.asdict(self)
