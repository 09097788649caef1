"""Plain immutable values: stories, criteria, queries, responses, judgments. Text is `str`, ratings are points of the
scale (float), times are seconds, and None means not known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from judge.base.choices import MOST_PLAUSIBLE_COST

# What the transport knows about an attempt, and no more.
Outcome = Literal["answered", "provider_error", "timeout", "filtered"]

# What became of one repeat. Only `ok` and `imported` carry a rating.
Status = Literal[
    "ok",
    "no_rating",
    "ambiguous",
    "out_of_scale",
    "refused",
    "empty",
    "truncated",
    "not_answered",
    "filtered",
    "imported",
]

STATUSES: tuple[str, ...] = get_args(Status)


@dataclass(frozen=True, slots=True)
class Rating:
    """One person's rating of a story on a criterion. `comment` is None where nothing was written; `panel` is the
    rater's group (expert, lay, crowd)."""

    criterion: str
    value: float
    rater: str | None = None
    comment: str | None = None
    panel: str | None = None


# Which of two stories was preferred: the one shown (or named) first, the second, or neither.
Preferred = Literal["first", "second", "tie"]

PREFERRED: tuple[Preferred, ...] = get_args(Preferred)

# What became of one repeat of a comparison. Only `ok` and `imported` carry a preference.
VerdictStatus = Literal[
    "ok",
    "no_preference",
    "ambiguous",
    "refused",
    "empty",
    "truncated",
    "not_answered",
    "filtered",
    "imported",
]

VERDICT_STATUSES: tuple[str, ...] = get_args(VerdictStatus)


@dataclass(frozen=True, slots=True)
class Preference:
    """A person's preference between the two stories of a pair, on one criterion."""

    criterion: str
    value: Preferred
    rater: str | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two stories (ids) for one story-prompt in a fixed order, to which "first" and "second" of preferences refer,
    whatever order people saw. `id` is unique in the dataset."""

    id: str
    story_prompt: str
    first: str
    second: str
    preferences: tuple[Preference, ...] = ()


# What the stories of a comparison are called in an Eval-Prompt and in an answer: first, second, and neither.
CHOICES = ("A", "B", "Tie")


@dataclass(frozen=True, slots=True)
class Story:
    """A story. `reference` is one that a person wrote for its story-prompt."""

    id: str
    story_prompt: str
    system: str
    text: str
    reference: str | None = None
    ratings: tuple[Rating, ...] = ()


@dataclass(frozen=True, slots=True)
class StoryPrompt:
    """A prompt for a story to be written. `reference` is a story that a person wrote for it."""

    id: str
    text: str
    reference: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A pair of stories in the order in which one query shows it, perhaps not the dataset's. `pair` is its id."""

    first: Story
    second: Story
    pair: str

    @property
    def story_prompt(self) -> str:
        """Story-prompt for which both stories were written; "" where they differ."""
        return self.first.story_prompt if self.first.story_prompt == self.second.story_prompt else ""


# What a query is about.
Subject = Story | Comparison


@dataclass(frozen=True, slots=True)
class Scale:
    """A rating scale. With `labels` a rating is a label's code, 0 to n-1 in the order given (`of_labels`), which is
    ascending if `ordered`; `positive`, of two labels, counts as yes."""

    min: float = 1
    max: float = 5
    step: float = 1
    labels: tuple[str, ...] = ()
    ordered: bool = True
    positive: str | None = None

    @classmethod
    def of_labels(cls, labels: Sequence[str], *, ordered: bool = True, positive: str | None = None) -> Scale:
        """A scale of these labels. If there are two and `positive` is None, the second is the positive one."""
        if positive is None and len(labels) == _PAIR:
            positive = labels[1]
        return cls(0, len(labels) - 1, 1, tuple(labels), ordered, positive)

    @property
    def numeric(self) -> bool:
        """Whether ratings may be ordered and averaged. True for numbers, ordered labels, and two labels."""
        return not self.labels or self.ordered or len(self.labels) == _PAIR

    @property
    def positive_code(self) -> int | None:
        """Code of the label that counts as yes; None unless the scale has two labels and one of them is positive."""
        return self.code_of(self.positive) if len(self.labels) == _PAIR and self.positive is not None else None

    @property
    def code_words(self) -> str:
        """The labels with their codes as text, for example `No 0, Yes 1`."""
        return ", ".join(f"{label} {code}" for code, label in enumerate(self.labels))

    def label_of(self, code: float | None) -> str | None:
        """Label of a code; None for a value that is no code, and on a scale of numbers."""
        if not self.labels or code is None or not self.on_step(code):
            return None
        return self.labels[round(code)]

    def text_of(self, value: float) -> str:
        """A rating as text: its label, or the number on a scale without labels."""
        return self.label_of(value) or f"{value:g}"

    def code_of(self, label: str) -> int | None:
        """Code of a label, ignoring case and surplus white space; None for text that is no label."""
        wanted = _folded(label)
        return next((code for code, own_label in enumerate(self.labels) if _folded(own_label) == wanted), None)

    def points(self) -> list[float]:
        """All points of the scale, from min to max."""
        count = round((self.max - self.min) / self.step)
        return [self.min + i * self.step for i in range(count + 1)]

    def __contains__(self, value: float) -> bool:
        """Whether the value lies between min and max; it need not be a point of the scale."""
        return self.min <= value <= self.max

    def on_step(self, value: float) -> bool:
        """Whether the value is a point of the scale, with a tolerance of 1e-9 steps."""
        steps = (value - self.min) / self.step
        return value in self and abs(steps - round(steps)) < 1e-9


_PAIR = 2


def _folded(label: str) -> str:
    return " ".join(label.casefold().split())


def _check_criterion(record: Mapping[str, Any]) -> None:
    # The data may be of a file from elsewhere.
    if not isinstance(record, Mapping):
        raise TypeError("is no object with fields")
    for key in ("name", "abbreviation", "definition"):
        if not isinstance(record[key], str):
            raise TypeError(f"has a {key} that is no text")
    _check_texts(record["guidelines"], "guidelines")
    scale = record["scale"]
    points = [scale["min"], scale["max"], scale["step"]] if isinstance(scale, Mapping) else scale
    if not isinstance(points, list | tuple) or not 2 <= len(points) <= 3:
        raise TypeError("has a scale that is none")
    if any(isinstance(point, bool) or not isinstance(point, int | float) for point in points):
        raise TypeError("has a scale of other things than numbers")
    low, high, step = map(float, (*points, 1)[:3])
    if not (low < high and step > 0 and (high - low) / step < _MOST_POINTS):
        raise ValueError("has a scale that does not go up in steps")
    holder = record if record.get("labels") else scale if isinstance(scale, Mapping) else {}
    if labels := holder.get("labels"):
        _check_texts(labels, "labels")
        if not isinstance(holder["ordered"], bool) or not isinstance(holder["positive"], str | None):
            raise TypeError("has labels of no known order")


def _check_texts(values: Any, key: str) -> None:
    if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"has {key} that are no list of texts")


_MOST_POINTS = 1e6


@dataclass(frozen=True, slots=True)
class Criterion:
    """A criterion. `guidelines` has one sentence per point of the scale, lowest first, or is empty."""

    name: str
    abbreviation: str
    definition: str
    scale: Scale = Scale()
    guidelines: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """The criterion as journals and manifests store it and as it is hashed."""
        scale = self.scale
        labels = {"labels": list(scale.labels), "ordered": scale.ordered, "positive": scale.positive}
        return {
            "name": self.name,
            "abbreviation": self.abbreviation,
            "definition": self.definition,
            "scale": [scale.min, scale.max, scale.step],
            "guidelines": list(self.guidelines),
            # Only where there are some, so that what is hashed of a numeric scale stays what it was.
            **(labels if scale.labels else {}),
        }

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Criterion:
        """Criterion from a `record`, or as audits store it (the scale is a mapping). Raises KeyError for a missing
        field, TypeError or ValueError for a wrong one."""
        _check_criterion(record)
        scale_record = record["scale"]
        scale = Scale(**scale_record) if isinstance(scale_record, Mapping) else Scale(*scale_record)
        labels = record.get("labels") or scale.labels
        if labels:
            named = record if "labels" in record else scale_record
            scale = Scale.of_labels(labels, ordered=named["ordered"], positive=named["positive"])
        return cls(record["name"], record["abbreviation"], record["definition"], scale, tuple(record["guidelines"]))

    @classmethod
    def together(cls, criteria: Sequence[Criterion]) -> Criterion:
        """One criterion for several of one query. Its name is a JSON array of their names, which `names_in` reads."""
        name = joint_name([criterion.name for criterion in criteria])
        return cls(name, "+".join(criterion.abbreviation for criterion in criteria), "", criteria[0].scale)


# What one query asks for: one criterion, or several in one answer.
Asked = Criterion | tuple[Criterion, ...]


def joint_name(names: Sequence[str]) -> str:
    """Criterion name of a query for several criteria: a JSON array of the criteria's names."""
    return json.dumps(list(names), ensure_ascii=False, separators=(",", ":"))


def names_in(criterion: str) -> tuple[str, ...]:
    """The criteria that a query's criterion name stands for; the name itself for one."""
    if not criterion.startswith('["'):
        return (criterion,)
    try:
        return tuple(json.loads(criterion))
    except json.JSONDecodeError:  # a name that only looks like it
        return (criterion,)


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Generation:
    """Settings for generating an answer. One that is None is not sent, and the provider's default applies."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()


# Form to which the server was asked to constrain the answer: none, one point of the scale or one label (``choice``),
# JSON with the rating first, or JSON with the explanation first.
Structured = Literal["none", "choice", "json", "json-explanation-first"]


@dataclass(frozen=True, slots=True)
class Query:
    """One rendered request: story x criterion x Eval-Prompt; its repeats share `key`.

    A comparison shows `story` first and `other` second; `choices` are the words for first, second and, where offered,
    tie. For several `criteria` in one answer, `criterion` stands for all. `shared` are the lengths of beginnings that
    other requests have too, in characters of all messages' contents; () where not computed."""

    key: str
    story: Story
    criterion: Criterion
    eval_prompt: str
    messages: tuple[Message, ...]
    generation: Generation
    api: Literal["chat", "completions", "responses"] = "chat"
    structured: Structured = "none"
    scoring: Literal["text", "logprobs"] = "text"
    asks_explanation: bool = False
    flags: tuple[str, ...] = ()
    rating_pattern: str | None = None
    shared: tuple[int, ...] = ()
    other: Story | None = None
    choices: tuple[str, ...] = ()
    pair: str | None = None
    criteria: tuple[Criterion, ...] = ()

    @property
    def asked(self) -> Asked:
        """The criterion that the query asks for, or a tuple of several."""
        return self.criteria or self.criterion

    @property
    def journal_names(self) -> tuple[str, str, str]:
        """Story id, criterion name and Eval-Prompt, under which journals store the query."""
        return self.story.id, self.criterion.name, self.eval_prompt

    @property
    def story_prompt(self) -> str:
        """Requests with the same story-prompt begin alike, and are sent to the same server."""
        return self.story.story_prompt


@dataclass(frozen=True, slots=True)
class Commission:
    """One rendered request for a story: a story-prompt in a writer prompt. It is sent, stored and retried like a
    `Query`, but each repeat gives another story, which is not parsed."""

    key: str
    wanted: StoryPrompt
    writer_prompt: str
    messages: tuple[Message, ...]
    generation: Generation
    api: Literal["chat", "completions", "responses"] = "chat"
    structured: Literal["none"] = "none"
    scoring: Literal["text"] = "text"
    flags: tuple[str, ...] = ()
    shared: tuple[int, ...] = ()

    @property
    def journal_names(self) -> tuple[str, str, str]:
        """Story-prompt id, "" and writer prompt, in the journal's columns for story, criterion and Eval-Prompt."""
        return self.wanted.id, "", self.writer_prompt

    @property
    def story_prompt(self) -> str:
        """Requests with the same story-prompt begin alike, and are sent to the same server."""
        return self.wanted.text


# What a back-end is asked: for a rating or a verdict, or for a story.
Request = Query | Commission


@dataclass(frozen=True, slots=True)
class Response:
    """Raw text of one answer, and what the server reported.

    `reasoning` is thinking apart from the answer, not parsed. Token counts and `cost` (dollars, plausible or not) are a
    call's, stored with the first of its repeats. `completion_tokens` are all billed as output, with `reasoning_tokens`;
    `cached_tokens` and `cache_write_tokens` are parts of `prompt_tokens`."""

    text: str
    finish_reason: str | None = None
    reasoning: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    logprobs: Any = None
    model: str | None = None
    reasoning_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost: float | None = None

    @property
    def known_cost(self) -> float | None:
        """The reported cost in dollars; None where none was reported, or one above `MOST_PLAUSIBLE_COST`."""
        return None if self.cost is None or self.cost > MOST_PLAUSIBLE_COST else self.cost


@dataclass(frozen=True, slots=True)
class Judgment:
    """A parsed response. `rating` is None unless `status` is `ok` or `imported`. `span` is where it was read, in
    characters."""

    status: Status
    rating: float | None = None
    flags: tuple[str, ...] = ()
    explanation: str | None = None
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A parsed comparison. `preference`, in the order shown, is None unless `status` is `ok` or `imported`. `span` is
    where it was read, in characters."""

    status: VerdictStatus
    preference: Preferred | None = None
    flags: tuple[str, ...] = ()
    explanation: str | None = None
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One repeat of a query in the journal. Without a response, `outcome` is the last attempt's, and `error_kind` and
    `error` say why, where they were read."""

    query_key: str
    story: str
    criterion: str
    eval_prompt: str
    repeat: int
    outcome: Outcome
    response: Response | None = None
    error_kind: str | None = None
    error: str | None = None
    flags: tuple[str, ...] = ()
    attempts: int = 1
