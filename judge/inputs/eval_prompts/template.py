"""Loads Eval-Prompts and writer prompts (template files with front matter) and renders them to messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from judge.base.errors import SpecError, TemplateError, unknown
from judge.base.files import shipped
from judge.base.records import CHOICES, Asked, Comparison, Criterion, Message, Scale, Story, StoryPrompt, Subject
from judge.inputs.criteria import Published
from judge.inputs.eval_prompts.sandbox import (
    COMPARING,
    JOINT,
    OFFERED,
    Compiled,
    CriterionView,
    LabelsView,
    ScaleView,
    compile_template,
)
from judge.inputs.prompt_file import FOLDERS, FrontMatter, Split, locate, read_text, split
from judge.inputs.story_prompts import key_of

# Loads a writer prompt (a template that requests a story) and renders it to messages.

SUFFIX = ".jinja"

# What a writer prompt may name. The human story is not offered: a writer that is shown it would copy it.
WRITER_OFFERED: Mapping[str, str] = {
    "story_prompt": "what the story is to be written for",
    "words": "words.min and words.max: how long it is to be; not defined where the definition says nothing of it",
}

_OWN = frozenset({"description", "system", "writes"})


@dataclass(frozen=True, slots=True)
class WordsView:
    """Requested length of a story in words, in templates."""

    min: int
    max: int


@dataclass(frozen=True, slots=True)
class WriterPrompt:
    """A prompt that requests a story. `source` is the text of the whole file, for hashing."""

    name: str
    source: str
    description: str
    body: Compiled = field(repr=False, compare=False)
    system: Compiled | None = field(repr=False, compare=False)

    def render(self, wanted: StoryPrompt, words: tuple[int, int] | None) -> tuple[Message, ...]:
        """The messages exactly as sent. `words` is the smallest and largest requested length (None = no request).
        Raises TemplateError."""
        values: dict[str, Any] = {"story_prompt": wanted.text}
        if words is not None:
            values["words"] = WordsView(*words)
        text = self.body.render(values)
        if self.system is None:
            return (Message("user", text),)
        return (Message("system", self.system.render(values)), Message("user", text))


def load_writer_prompt(name: str, *, folder: Path | None = None, system: str | None = None) -> WriterPrompt:
    """A shipped writer prompt, or a template (also relative to `folder`). `system` replaces the system message; ""
    removes it."""
    file = locate(name, kind="writer_prompts", suffix=SUFFIX, kind_name="writer prompt", folder=folder)
    return parse_writer_prompt(read_text(file), file, system=system)


def parse_writer_prompt(source: str, file: Path, *, system: str | None = None) -> WriterPrompt:
    """A writer prompt from the text of `file`. `system` replaces its system message; "" removes it. Raises
    TemplateError for another template."""
    parts = split(source, file)
    front = parts.front
    if not front.writes:
        raise TemplateError(f"{file}: is no writer prompt", hint="say writes: true between the lines --- at its head")
    if not parts.body.strip():
        raise TemplateError(f"{file}, line {parts.body_line}: there is no text")
    others = sorted(key for key in front.model_fields_set - _OWN if getattr(front, key) != getattr(FrontMatter(), key))
    if others:
        raise TemplateError(f"{file}: writes goes with none of {', '.join(others)}: nothing is rated")
    body, message = _compiled(parts, file, system, WRITER_OFFERED)
    return WriterPrompt(file.stem, source, front.description, body, message)


def _compiled(
    parts: Split, file: Path, system: str | None, offered: Mapping[str, str]
) -> tuple[Compiled, Compiled | None]:
    """The template and its system message; `system` replaces that of the file, and "" removes it."""
    message = None
    if system is None and parts.front.system:
        message = compile_template(parts.front.system, file=file, first_line=parts.system_line, offered=offered)
    elif system:
        message = compile_template(system, file=Path("system message"), offered=offered)
    return compile_template(parts.body, file=file, first_line=parts.body_line, offered=offered), message


# Renders a study's Eval-Prompts exactly as they were sent (wording mode), without any words of this program.


def check_published(published: Published, eval_prompt: str, criterion: Criterion) -> None:
    """Raise SpecError if the published strings lack this Eval-Prompt (such as "EP1") or its request for the
    criterion."""
    if eval_prompt not in published.outer:
        raise SpecError(f"{published.file}: {unknown('published Eval-Prompt', eval_prompt, published.outer)}")
    if (criterion.name, eval_prompt) not in published.tasks:
        raise SpecError(f"{published.file}: there is no {eval_prompt} for the criterion {criterion.name!r}")


def published_text(
    published: Published, eval_prompt: str, criterion: Criterion, story: Story, reference: str | None
) -> str:
    """A study's published prompt exactly as sent. `reference` may be None only if it shows no reference story."""
    task = published.tasks[criterion.name, eval_prompt]
    return published.outer[eval_prompt].format(prompt=story.story_prompt, story=story.text, human=reference, task=task)


def shows_reference(published: Published, eval_prompt: str) -> bool:
    """Whether a published Eval-Prompt, such as "EP1", shows the reference story."""
    return "{human}" in published.outer.get(eval_prompt, "")


HUMAN = "Human"
REFERENCE_IS_TARGET = "reference_is_target"
LABELS = "criterion.scale.labels"
_SEVERAL = 2
_NUMBERS = frozenset({"criterion.scale.min", "criterion.scale.max", "criterion.scale.step"})


@dataclass(frozen=True, slots=True)
class EvalPrompt:
    """One Eval-Prompt. `source` is the hashed file. `examples` are keys of story-prompts of which it shows a story, and
    of which it rates none. `published` names the one whose wording may replace its own.
    `criteria`: all of the run, or those listed, are rated in one answer; None = one in each query."""

    name: str
    file: Path
    source: str
    description: str
    needs_guidelines: bool
    needs_reference: bool
    asks_explanation: bool
    compares: bool
    criteria: Literal["all"] | tuple[str, ...] | None
    published: str | None
    rating_pattern: str | None
    example_answer: str | None
    examples: frozenset[str]
    body: Compiled = field(repr=False, compare=False)
    system: Compiled | None = field(repr=False, compare=False)
    # Made once a criterion: what a template sees of it. Keyed by the record, so nothing can go stale.
    _views: dict[Asked, dict[str, Any]] = field(default_factory=dict, repr=False, compare=False)

    def render(
        self, subject: Subject, asked: Asked, *, published: Published | None = None, ties: bool = True
    ) -> tuple[Message, ...]:
        """The messages exactly as sent, about one story or two. `asked` is one criterion, or those of one answer. With
        `published`, an Eval-Prompt that follows a published one renders to its text as sent. Raises SpecError if
        guidelines or a reference story are missing, TemplateError if it cannot be rendered."""
        fixed = self._views.get(asked)
        if fixed is None:
            fixed = self._views[asked] = self._fixed(asked)
        stories = stories_in(subject)
        self.refuse_example(subject)
        if self.compares != isinstance(subject, Comparison):
            shows = "compares two stories" if self.compares else "rates one story"
            raise SpecError(f"Eval-Prompt {self.name!r} {shows}", hint="judge prompts list says what each one does")
        reference = next(
            (stored_reference for story in stories if (stored_reference := reference_of(story)) is not None), None
        )
        values = {**fixed, "story_prompt": subject.story_prompt, **_subject_values(subject, ties)}
        if reference is not None:  # else it stays undefined: a template may ask whether `reference is defined`
            values["reference"] = reference
        elif self.lacks_reference(subject, published=published):
            raise SpecError(
                f"story {stories[0].id!r} has no reference story, but Eval-Prompt {self.name!r} needs one",
                hint="leave this Eval-Prompt out, or give the dataset its reference stories",
            )
        if published is None or self.published is None or isinstance(subject, Comparison) or isinstance(asked, tuple):
            text = self.body.render(values)
        else:
            check_published(published, self.published, asked)
            text = published_text(published, self.published, asked, subject, reference)
        if self.system is None:
            return (Message("user", text),)
        return (Message("system", self.system.render(values)), Message("user", text))

    def refuse_example(self, subject: Subject) -> None:
        """Raise SpecError for a story whose story-prompt is that of an example: its rating would be half told."""
        if self.examples and key_of(subject.story_prompt) in self.examples:
            raise SpecError(
                f"Eval-Prompt {self.name!r} shows a rated story of the same story-prompt as story "
                f"{stories_in(subject)[0].id!r}",
                hint="rate stories of other story-prompts with it, or leave it out",
            )

    def _fixed(self, asked: Asked) -> dict[str, Any]:
        # They depend on the criteria and not on the story.
        if isinstance(asked, Criterion) != (self.criteria is None):
            several = "rates one criterion an answer" if self.criteria is None else "rates several criteria an answer"
            raise SpecError(f"Eval-Prompt {self.name!r} {several}", hint="judge prompts list says what each one does")
        if isinstance(asked, Criterion):
            self.check_criterion(asked)
            view = _view(asked)
            return {"criterion": view, "points": view.points}
        for criterion in asked:
            self.check_criterion(criterion)
        return {"criteria": tuple(map(_view, asked))}

    def check_criterion(self, criterion: Criterion, *, published: Published | None = None) -> None:
        """Raise SpecError if the criterion cannot be used; to be called before any request is sent."""
        if self.needs_guidelines and not criterion.guidelines:
            raise SpecError(
                f"Eval-Prompt {self.name!r} needs guidelines, but criterion {criterion.name!r} has none",
                hint="give the criterion one guideline per point, or leave this Eval-Prompt out",
            )
        if self.compares and not criterion.scale.numeric:
            raise SpecError(
                f"the labels of criterion {criterion.name!r} have no order: no story can be better in it than another",
                hint="leave the criterion out of a run that compares",
            )
        if published is not None and self.published is not None:
            check_published(published, self.published, criterion)
        elif criterion.scale.labels and self._asks_for_numbers():
            raise SpecError(
                f"Eval-Prompt {self.name!r} asks for a number, but criterion {criterion.name!r} has labels",
                hint="let it name criterion.scale.labels or points where there are labels, or leave it out",
            )

    def _asks_for_numbers(self) -> bool:
        uses = self.body.uses | (self.system.uses if self.system is not None else frozenset())
        return LABELS not in uses and not _NUMBERS.isdisjoint(uses)

    def lacks_reference(self, subject: Subject, *, published: Published | None = None) -> bool:
        """Whether this shows a reference story that `subject` lacks; a pair only if both its stories have none."""
        if not self._shows_reference(published):
            return False
        return all(reference_of(story) is None for story in stories_in(subject))

    def flags(self, subject: Subject, *, published: Published | None = None) -> tuple[str, ...]:
        """`("reference_is_target",)` if a story is shown that is its own reference, else empty. The query is sent in
        both cases."""
        if not (self._shows_reference(published) or "reference" in self.body.uses):
            return ()
        return (REFERENCE_IS_TARGET,) if any(map(_is_reference, stories_in(subject))) else ()

    def _shows_reference(self, published: Published | None) -> bool:
        if published is not None and self.published is not None:
            return shows_reference(published, self.published)
        return self.needs_reference


def load_eval_prompt(
    name: str | Path, *, folder: Path | None = None, system: str | None = None, labels: bool = False
) -> EvalPrompt:
    """A shipped Eval-Prompt, or a template (also relative to `folder`). `system` replaces the system message; ""
    removes it. With `labels`, the shipped one's version for labels. Raises SpecError for no file, TemplateError (file,
    line, variable) for an invalid template."""
    file = locate(name, kind="eval_prompts", suffix=SUFFIX, kind_name="Eval-Prompt", folder=folder)
    if labels and file.parent == shipped("prompts") / "eval_prompts":
        file = file.parent / "labels" / file.name
    return parse_eval_prompt(read_text(file), file, system=system)


def parse_eval_prompt(source: str, file: Path, *, system: str | None = None) -> EvalPrompt:
    """An Eval-Prompt from a template's text; `file` is its name. Raises as `load_eval_prompt`."""
    parts = split(source, file)
    if not parts.body.strip():
        raise TemplateError(f"{file}, line {parts.body_line}: there is no text")
    front = parts.front
    if front.writes:
        raise TemplateError(f"{file}: writes stories and asks for no rating", hint="name it in generate.yaml")
    _check_keys(front, file)
    offered = COMPARING if front.compares else OFFERED if front.criteria is None else JOINT
    body, message = _compiled(parts, file, system, offered)
    return EvalPrompt(
        name=file.stem,
        file=file,
        source=source,
        description=front.description,
        needs_guidelines=front.needs_guidelines,
        needs_reference=front.needs_reference,
        asks_explanation=front.explains,
        compares=front.compares,
        criteria=tuple(front.criteria) if isinstance(front.criteria, list) else front.criteria,
        published=front.published,
        rating_pattern=front.rating_pattern,
        example_answer=front.example_answer,
        examples=frozenset(key for example in front.examples for key in example.story_prompts),
        body=body,
        system=message,
    )


def _check_keys(front: FrontMatter, file: Path) -> None:
    one_rating = front.published or front.rating_pattern or front.example_answer
    if front.compares and one_rating:
        raise TemplateError(f"{file}: compares goes with none of published, rating_pattern, example_answer")
    if front.criteria is None:
        return
    if front.compares:
        raise TemplateError(f"{file}: compares goes with no criteria: a comparison asks for one criterion")
    if one_rating:
        raise TemplateError(f"{file}: criteria goes with none of published, rating_pattern, example_answer")
    names = [name.casefold() for name in front.criteria] if isinstance(front.criteria, list) else []
    if isinstance(front.criteria, list) and (len(names) < _SEVERAL or len(set(names)) < len(names)):
        raise TemplateError(f"{file}: criteria names two or more, each once, or says all")


def shipped_eval_prompts() -> tuple[str, ...]:
    """Shipped Eval-Prompts: those that rate, those that compare, those that rate several criteria in one answer; each
    sorted."""
    ships = shipped("prompts") / "eval_prompts"
    return tuple(
        file.stem
        for folder in (ships, *(ships / name for name in FOLDERS))
        for file in sorted(folder.glob(f"*{SUFFIX}"))
    )


def stories_in(subject: Subject) -> tuple[Story, ...]:
    """The stories of a query, in the order in which they are shown."""
    return (subject.first, subject.second) if isinstance(subject, Comparison) else (subject,)


def _subject_values(subject: Subject, ties: bool) -> dict[str, Any]:
    if isinstance(subject, Story):
        return {"story": subject.text}
    return {"first": subject.first.text, "second": subject.second.text, "labels": LabelsView(*CHOICES), "ties": ties}


def _is_reference(story: Story) -> bool:
    return story.system == HUMAN or (story.reference is not None and story.reference.strip() == story.text.strip())


def reference_of(story: Story) -> str | None:
    """The reference story's text. A human story without a reference is its own."""
    if story.reference is None and story.system == HUMAN:
        return story.text
    return story.reference


def _view(criterion: Criterion) -> CriterionView:
    scale = criterion.scale
    return CriterionView(
        criterion.name,
        criterion.abbreviation,
        criterion.definition,
        criterion.guidelines,
        ScaleView(_number(scale.min), _number(scale.max), _number(scale.step), scale.labels),
        scale.labels or tuple(_number(point) for point in scale.points()),
    )


def _number(value: float) -> float:
    # Without rounding errors (0.1 + 0.2 becomes 0.3), as people write it.
    rounded = round(value, 9)
    return int(rounded) if float(rounded).is_integer() else rounded


# Determines the order in which values appear in a rendered Eval-Prompt, so that consecutive queries can share a
# prefix.

Kind = Literal["story_prompt", "reference", "story", "first", "second", "criterion"]

_BEFORE = Story("before", "Quite a prompt.", "system", "Quite a story.", reference="Quite a reference.")
_CHANGED: dict[Kind, Story] = {
    "story_prompt": replace(_BEFORE, story_prompt="Another prompt."),
    "reference": replace(_BEFORE, reference="Another reference."),
    "story": replace(_BEFORE, text="Another story."),
}
_OTHER = replace(_BEFORE, id="other", text="Some story.")
_PAIRS: dict[Kind, Comparison] = {
    "story_prompt": Comparison(_CHANGED["story_prompt"], replace(_OTHER, story_prompt="Another prompt."), "pair"),
    "reference": Comparison(_CHANGED["reference"], replace(_OTHER, reference="Another reference."), "pair"),
    "first": Comparison(_CHANGED["story"], _OTHER, "pair"),
    "second": Comparison(_BEFORE, replace(_OTHER, text="Another story."), "pair"),
}


def prefix_order(eval_prompt: EvalPrompt, asked: Asked, *, published: Published | None = None) -> tuple[Kind, ...]:
    """Kinds of values on which the messages depend, as they first appear. "criterion" is any text that depends on the
    criteria, with `published` (a study's strings) the whole request as sent. Kinds that change nothing are left out.
    Raises as `EvalPrompt.render`."""
    before: Subject = Comparison(_BEFORE, _OTHER, "pair") if eval_prompt.compares else _BEFORE
    base = _text(eval_prompt, before, asked, published)
    other: Asked = _other(asked) if isinstance(asked, Criterion) else tuple(map(_other, asked))
    reworded = published
    if published is not None and eval_prompt.published is not None and isinstance(asked, Criterion):
        task = _unlike(published.tasks[asked.name, eval_prompt.published])
        reworded = replace(published, tasks={(_unlike(asked.name), eval_prompt.published): task})
    subjects: Mapping[Kind, Subject] = _PAIRS if eval_prompt.compares else _CHANGED
    changed: dict[Kind, str] = {
        kind: _text(eval_prompt, subject, asked, published) for kind, subject in subjects.items()
    }
    changed["criterion"] = _text(eval_prompt, before, other, reworded)
    places = {kind: _first_difference(base, text) for kind, text in changed.items() if text != base}
    return tuple(sorted(places, key=lambda kind: places[kind]))


def _other(criterion: Criterion) -> Criterion:
    return replace(
        criterion,
        name=_unlike(criterion.name),
        abbreviation=_unlike(criterion.abbreviation),
        definition=_unlike(criterion.definition),
        guidelines=tuple(_unlike(sentence) for sentence in criterion.guidelines),
        scale=_other_scale(criterion.scale),
    )


def _other_scale(scale: Scale) -> Scale:
    moved = replace(scale, min=scale.min + 7, max=scale.max + 7)
    return replace(moved, labels=tuple(_unlike(label) for label in scale.labels))


def _first_difference(first: str, other: str) -> int:
    pairs = enumerate(zip(first, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(first), len(other)))


def _unlike(text: str) -> str:
    return ("Y" if text[:1] == "Z" else "Z") + text


def _text(eval_prompt: EvalPrompt, subject: Subject, asked: Asked, published: Published | None) -> str:
    return "\x00".join(message.content for message in eval_prompt.render(subject, asked, published=published))
