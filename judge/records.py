"""Plain values that pass between layers: stories, criteria, queries, responses, judgments.

All are frozen. Text is `str`, ratings are points of the scale (float), times are seconds, "not known" is None.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

Outcome = Literal["answered", "provider_error", "timeout", "filtered"]
"""What the transport knows about an attempt, and no more."""

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
"""What became of one repeat. Only `ok` and `imported` carry a rating."""

STATUSES: tuple[str, ...] = get_args(Status)


@dataclass(frozen=True, slots=True)
class Rating:
    """The number a person gave one story on one criterion, and what the person wrote about it.

    `rater` is None where identity is unknown, `comment` where nothing was written. `panel` names the group of people
    that the rater belongs to (expert, lay, crowd); None where none is known.
    """

    criterion: str
    value: float
    rater: str | None = None
    comment: str | None = None
    panel: str | None = None


Preferred = Literal["first", "second", "tie"]
"""Which of two stories was preferred: the one shown (or named) first, the second, or neither."""

PREFERRED: tuple[Preferred, ...] = get_args(Preferred)

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
"""What became of one repeat of a comparison. Only `ok` and `imported` carry a preference."""

VERDICT_STATUSES: tuple[str, ...] = get_args(VerdictStatus)


@dataclass(frozen=True, slots=True)
class Preference:
    """Preference of a person for one story of a pair on one criterion. `rater` is None where identity is unknown."""

    criterion: str
    value: Preferred
    rater: str | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two stories for one story-prompt, by their ids, in a fixed order, with people's preferences.

    `id` is unique in its dataset. A preference's "first" and "second" are the pair's, whatever order was shown.
    """

    id: str
    story_prompt: str
    first: str
    second: str
    preferences: tuple[Preference, ...] = ()


CHOICES = ("A", "B", "Tie")
"""What the stories of a comparison are called in an Eval-Prompt and in an answer: first, second, and neither."""


@dataclass(frozen=True, slots=True)
class Story:
    """The judged text, with known facts about it. `reference` is the human story for the same story-prompt."""

    id: str
    story_prompt: str
    system: str
    text: str
    reference: str | None = None
    ratings: tuple[Rating, ...] = ()


@dataclass(frozen=True, slots=True)
class StoryPrompt:
    """A prompt for which a story is to be written. `reference` is the human story for it, where there is one."""

    id: str
    text: str
    reference: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A pair as one query shows it: `first` before `second`, whatever order the pair has. `pair` is the pair's id."""

    first: Story
    second: Story
    pair: str

    @property
    def story_prompt(self) -> str:
        """Story-prompt for which both stories were written; "" where that differs."""
        return self.first.story_prompt if self.first.story_prompt == self.second.story_prompt else ""


Subject = Story | Comparison
"""What a query is about."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Lowest and highest point, and the step between points (1-5 by 1 in all three studies).

    With `labels` the points are their codes, 0 to n-1 in the order given, and a rating holds a code; `of_labels` makes
    such a scale. `ordered` says that the labels go up from the first to the last; of two labels, `positive` is the one
    that counts as yes.
    """

    min: float = 1
    max: float = 5
    step: float = 1
    labels: tuple[str, ...] = ()
    ordered: bool = True
    positive: str | None = None

    @classmethod
    def of_labels(cls, labels: Sequence[str], *, ordered: bool = True, positive: str | None = None) -> Scale:
        """The scale of these labels; of two labels the second is the positive one where none is named."""
        if positive is None and len(labels) == _PAIR:
            positive = labels[1]
        return cls(0, len(labels) - 1, 1, tuple(labels), ordered, positive)

    @property
    def numeric(self) -> bool:
        """Whether points can be ordered and averaged: numbers, labels in an order, and the codes of two labels."""
        return not self.labels or self.ordered or len(self.labels) == _PAIR

    @property
    def positive_code(self) -> int | None:
        """The code of the label that counts as yes; None where there are not two, or neither does."""
        return self.code_of(self.positive) if len(self.labels) == _PAIR and self.positive is not None else None

    @property
    def code_words(self) -> str:
        """The labels with their codes, in words: `No 0, Yes 1`."""
        return ", ".join(f"{label} {code}" for code, label in enumerate(self.labels))

    def label_of(self, code: float | None) -> str | None:
        """The label of a code; None for what is no code, as on a scale of numbers."""
        if not self.labels or code is None or not self.on_step(code):
            return None
        return self.labels[round(code)]

    def text_of(self, value: float) -> str:
        """A rating as people read it: its label, or the number where it has none."""
        return self.label_of(value) or f"{value:g}"

    def code_of(self, label: str) -> int | None:
        """The code of a label, ignoring case and surrounding blanks; None for text that is no label."""
        wanted = _folded(label)
        return next((code for code, own_label in enumerate(self.labels) if _folded(own_label) == wanted), None)

    def points(self) -> list[float]:
        """All points from min to max."""
        count = round((self.max - self.min) / self.step)
        return [self.min + i * self.step for i in range(count + 1)]

    def __contains__(self, value: float) -> bool:
        """Whether the value lies between min and max, on a point or not."""
        return self.min <= value <= self.max

    def on_step(self, value: float) -> bool:
        """Whether the value is one of the points, with a tolerance of 1e-9."""
        steps = (value - self.min) / self.step
        return value in self and abs(steps - round(steps)) < 1e-9


_PAIR = 2


def _folded(label: str) -> str:
    return " ".join(label.casefold().split())


@dataclass(frozen=True, slots=True)
class Criterion:
    """A criterion of rating. `guidelines` holds one sentence per point of the scale, lowest first, or is empty."""

    name: str
    abbreviation: str
    definition: str
    scale: Scale = Scale()
    guidelines: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """The criterion as plain data, in the form that journals and manifests store and that is hashed."""
        return {
            "name": self.name,
            "abbreviation": self.abbreviation,
            "definition": self.definition,
            "scale": [self.scale.min, self.scale.max, self.scale.step],
            "guidelines": list(self.guidelines),
            # Only where there are some, so that what is hashed of a numeric scale stays what it was.
            **(_labels_record(self.scale) if self.scale.labels else {}),
        }

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Criterion:
        """The criterion of a `record`, or of a record as audits store it, whose scale names its numbers."""
        scale_record = record["scale"]
        scale = Scale(**scale_record) if isinstance(scale_record, Mapping) else Scale(*scale_record)
        labels = record.get("labels") or scale.labels
        if labels:
            named = record if "labels" in record else scale_record
            scale = Scale.of_labels(labels, ordered=named["ordered"], positive=named["positive"])
        return cls(record["name"], record["abbreviation"], record["definition"], scale, tuple(record["guidelines"]))

    @classmethod
    def together(cls, criteria: Sequence[Criterion]) -> Criterion:
        """One criterion that represents those of a query; its name is a JSON array of theirs, see `names_in`."""
        name = joint_name([criterion.name for criterion in criteria])
        return cls(name, "+".join(criterion.abbreviation for criterion in criteria), "", criteria[0].scale)


Asked = Criterion | tuple[Criterion, ...]
"""What one query asks for: one criterion, or several in one answer."""


def joint_name(names: Sequence[str]) -> str:
    """The one name of a query for several criteria."""
    return json.dumps(list(names), ensure_ascii=False, separators=(",", ":"))


def names_in(criterion: str) -> tuple[str, ...]:
    """The names of the criteria that a query's one name stands for; the name itself where it is of one."""
    if not criterion.startswith('["'):
        return (criterion,)
    try:
        return tuple(json.loads(criterion))
    except json.JSONDecodeError:  # a name that only looks like it
        return (criterion,)


def _labels_record(scale: Scale) -> dict[str, Any]:
    return {"labels": list(scale.labels), "ordered": scale.ordered, "positive": scale.positive}


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message as sent."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Generation:
    """Settings for generation. None = not set: the provider's default holds, and nothing is sent."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()


Structured = Literal["none", "choice", "json", "json-explanation-first"]
"""How the server was asked to constrain the answer; the last two are JSON with the rating first or last."""


@dataclass(frozen=True, slots=True)
class Query:
    """One rendered request: story x criterion x Eval-Prompt. Repeats of it share `key` and differ in `repeat`.

    A comparison shows `story` first and `other` second, `choices` are its words for first, second and tie (without the
    last where no tie is offered), and `pair` is the pair's id; a query for a rating has none of them.

    A query for several criteria in one answer has them in `criteria`, and `criterion` stands for them together.

    `shared` are the places, in characters over the contents of all messages, up to which other requests of the plan
    begin in the same way; () where nobody asked for them.
    """

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
        """Criterion, or several criteria, that the query asks for."""
        return self.criteria or self.criterion

    @property
    def journal_names(self) -> tuple[str, str, str]:
        """Story, criterion and Eval-Prompt, as journals name them."""
        return self.story.id, self.criterion.name, self.eval_prompt

    @property
    def story_prompt(self) -> str:
        """The story-prompt; requests with the same one share a prefix, and therefore a server."""
        return self.story.story_prompt


@dataclass(frozen=True, slots=True)
class Commission:
    """One rendered request for a story: story-prompt x writer prompt. Its repeats give several stories.

    It is asked, kept and asked again as a `Query` is; an answer to it is a story, and nothing is read from it.
    """

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
        """Story-prompt and writer prompt, in the journal's fields for story and Eval-Prompt; no criterion."""
        return self.wanted.id, "", self.writer_prompt

    @property
    def story_prompt(self) -> str:
        """The story-prompt; requests with the same one share a prefix, and therefore a server."""
        return self.wanted.text


Request = Query | Commission
"""What a back-end is asked: for a rating or a verdict, or for a story."""


@dataclass(frozen=True, slots=True)
class Response:
    """Raw text of one answer, and what the server reported about it. `reasoning` is thinking kept apart, never parsed.

    Tokens and cost are of the whole call and stand on the first of its repeats. `completion_tokens` is all that is
    billed as answer, `reasoning_tokens` the part of it that was thinking; `cached_tokens` and `cache_write_tokens` are
    parts of the prompt; `cost` is in dollars, as the server named it.
    """

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


@dataclass(frozen=True, slots=True)
class Judgment:
    """Result of parsing a response.

    `rating` is not None exactly when `status` is `ok` (or `imported`). `span` is the (start, end) of the characters in
    the text from which the rating was read.
    """

    status: Status
    rating: float | None = None
    flags: tuple[str, ...] = ()
    explanation: str | None = None
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of parsing the answer to a comparison.

    `preference` is not None exactly when `status` is `ok` (or `imported`); "first" and "second" are the stories as they
    were shown. `span` is the (start, end) of the characters in the text from which it was read.
    """

    status: VerdictStatus
    preference: Preferred | None = None
    flags: tuple[str, ...] = ()
    explanation: str | None = None
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One repeat as the journal stores it: its response, or, without a response, the outcome of the last attempt and
    the reason.
    """

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
