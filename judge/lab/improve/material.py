"""What candidates of an improvement are made of, and what a candidate is: Eval-Prompts to ask with, and a rule for
the rating where there are several."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judge.base.records import Criterion, Scale, Story
from judge.inputs.eval_prompts.template import EvalPrompt
from judge.lab.improve import wording
from judge.lab.improve.wording import Loss, LostError

# The original's two askings, and the candidate that is the mean of both.
ORIGINAL, AGAIN = BASE = ("original", "original-again")
MORE = "more-repeats"


@dataclass(frozen=True, slots=True)
class Rated:
    """A train story with people's mean rating of one criterion, the judge's, and an explanation by the judge and a
    comment by a person, each None where there is none."""

    story: Story
    people: float
    judge: float | None = None
    explanation: str | None = None
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class Material:
    """What candidates are made of: the original, its criteria, and the train stories rated on each criterion by name.
    `keys` are the keys of story-prompts by story id; `answers` the writer's texts by task, a LostError for none.
    `bare`: answers are held to a rating alone."""

    base: EvalPrompt
    criteria: tuple[Criterion, ...]
    rated: Mapping[str, Sequence[Rated]]
    keys: Mapping[str, tuple[str, ...]]
    seed: int = 1
    answers: Mapping[str, str | LostError] = field(default_factory=dict)
    bare: bool = False

    def answer(self, task: str) -> str:
        """The writer's text. Raises LostError where there is none."""
        text = self.answers.get(task, LostError("no answer", "the writer was not asked, or gave no answer"))
        if isinstance(text, LostError):
            raise text
        return text


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate: its name, kind, the sentence that says what it was made from, and its file.

    `parts` are files of Eval-Prompts by name, asked in place of `source`; the rating is their mean, or `weighted` by a
    rule that is fitted on the train part. `scale` is the lowest and highest point, where not the criterion's own.
    """

    name: str
    kind: str
    origin: str
    source: str
    parts: Mapping[str, str] = field(default_factory=dict)
    weighted: bool = False
    scale: tuple[float, float] | None = None

    @property
    def paraphrase(self) -> bool:
        """Whether nothing but the wording is new."""
        return self.kind == "paraphrase"

    @property
    def asks(self) -> dict[str, str]:
        """Files of the Eval-Prompts that are asked for it, by name; none where the original's two askings are used."""
        return {} if self.name == MORE else dict(self.parts) or {self.name: self.source}

    @property
    def of(self) -> tuple[str, ...]:
        """Names of the askings whose mean is its rating."""
        return BASE if self.name == MORE else tuple(self.asks)

    def criterion(self, criterion: Criterion) -> Criterion:
        """The criterion as it is asked for: on this candidate's scale, without guidelines for points of another."""
        if self.scale is None:
            return criterion
        return replace(criterion, scale=Scale(*self.scale), guidelines=())


@dataclass(frozen=True, slots=True)
class Lost:
    """A candidate that is not asked with, its kind of loss, and what was found."""

    name: str
    kind: str
    loss: Loss
    why: str


# Gives the proposals of one kind; a LostError loses all of the kind, one raised for a name loses that one.
Make = Callable[[Material], Sequence[Proposal]]


def proposal(material: Material, name: str, kind: str, origin: str, body: str, **front: Any) -> Proposal:
    """The candidate of one Eval-Prompt with this body; `front` are keys of its front matter."""
    head = {"description": f"{kind} ({material.base.name})", "origin": origin, **wording.front_of(material.base)}
    return Proposal(name, kind, origin, wording.file_text(head | front, body))


def before(material: Material, texts: Mapping[str, str]) -> str:
    """The original's body, with a text before it that depends on the criterion."""
    parts = []
    for number, (criterion, text) in enumerate(texts.items()):
        parts.append(f"{{% {'elif' if number else 'if'} criterion.name == {json.dumps(criterion)} %}}\n{text.strip()}")
    return "\n\n".join([*parts, ""]) + "{% endif %}\n" + wording.body_of(material.base)
