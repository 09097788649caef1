"""Loads a criteria set: one YAML file, checked and converted to `Criterion` records."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError

from judge.base.errors import SpecError, unknown
from judge.base.files import VARIABLE, is_trusted, shipped
from judge.base.foreign import json_of
from judge.base.records import Criterion
from judge.inputs.prompt_file import TEXT_KEYS, ScaleFile, Strict, locate, read_strict, read_text, sentence

# Rule that matches a judge's criteria with those of human raters. Matches with a different name are noted.


def set_against(asked: Sequence[tuple[str, str | None]], rated: Sequence[str]) -> tuple[tuple[int | None, ...], bool]:
    """For each judge's criterion, the human raters' criterion with which it is compared, as an index in `rated`.

    None = no match. The second value says whether all are compared with the raters' only criterion because none
    matches. `asked` pairs each judge's criterion with the one that its run declares, or None. A declared one takes
    precedence over an equal name (letter case is ignored)."""
    index_by_name = {name.casefold(): index for index, name in enumerate(rated)}
    indices = tuple(index_by_name.get((declared or own).casefold()) for own, declared in asked)
    declares = any(declared for _, declared in asked)
    if asked and len(index_by_name) == 1 and not declares and all(index is None for index in indices):
        return (0,) * len(asked), True
    return indices, False


def other_names(pairs: Iterable[tuple[str, str]]) -> str:
    """Sentence on (judge's, raters') criteria that are compared under different names; "" without any."""
    theirs: dict[str, list[str]] = {}
    for mine, name in pairs:
        theirs.setdefault(name, []).append(mine)
    parts = [f"{', '.join(mine)} against people's {name}" for name, mine in theirs.items()]
    return f"Other names are set side by side: {'; '.join(parts)}." if parts else ""


# Reads a study's published strings, unchanged: definitions, guidelines and Eval-Prompts as they were sent.

_OUTER_FIELDS = frozenset({"prompt", "story", "task", "human"})


@dataclass(frozen=True, slots=True)
class Published:
    """A study's published strings, by criterion. `outer` maps a published Eval-Prompt, such as "EP1", to the text
    around its requests, `tasks` (criterion, published Eval-Prompt) to requests. `beside` is a second file's hashed
    text, such as a template."""

    file: Path
    definitions: Mapping[str, str]
    guidelines: Mapping[str, tuple[str, ...]]
    outer: Mapping[str, str]
    tasks: Mapping[tuple[str, str], str]  # (criterion, Eval-Prompt) -> the request, as sent
    beside: str = ""


class _WordingFile(BaseModel):
    # Other keys, such as the file's origin, are not checked.
    model_config = ConfigDict(strict=True, extra="ignore")
    definitions: dict[str, str]
    guidelines: dict[str, list[str]] = Field(default_factory=dict)


class _Tasks(RootModel[dict[str, list[str]]]):
    model_config = ConfigDict(strict=True)


def read_wording(file: Path, text: str) -> Published:
    """A study's published strings in a JSON file's content. Raises SpecError, naming file and key."""
    raw = json_of(text, file)
    key = ""
    outer: dict[str, str] = {}
    tasks: dict[tuple[str, str], str] = {}
    try:
        model = _WordingFile.model_validate(raw)
        for key, value in raw.items():
            if key.startswith("template_"):
                names = key.removeprefix("template_").split("_")
                outer.update(dict.fromkeys(names, _outer(value, f"{file}: {key}")))
            elif key.startswith("tasks_"):
                for criterion, strings in _Tasks.model_validate(value).root.items():
                    tasks.update({(criterion, f"EP{i}"): task for i, task in enumerate(strings, start=1)})
    except ValidationError as error:
        raise SpecError(sentence(error.errors(include_url=False)[0], {}, file, (key,) if key else ())) from error
    if not outer or not tasks:
        raise SpecError(
            f"{file}: there are no published Eval-Prompts in it",
            hint="it needs keys like tasks_EP1_to_EP4 and template_EP1_EP2_EP3",
        )
    guidelines = {name: tuple(points) for name, points in model.guidelines.items()}
    return Published(file, model.definitions, guidelines, outer, tasks)


def _outer(template: object, where: str) -> str:
    # str.format would evaluate other expressions in the file.
    if not isinstance(template, str):
        raise SpecError(f"{where} must be a text")
    try:
        parts = [part[1:] for part in string.Formatter().parse(template) if part[1] is not None]
    except ValueError as error:
        raise SpecError(f"{where}: {error}") from error
    fields = {str(name) for name, _, _ in parts}
    plain = not any(form or conversion for _, form, conversion in parts)
    if not plain or not {"story", "task"} <= fields <= _OUTER_FIELDS:
        raise SpecError(f"{where} must hold {{story}} and {{task}}, and besides them only {{prompt}} and {{human}}")
    return template


# Reads a study's published questions: the tests of Art or Artifice and the template with which they were sent,
# unchanged.

TEMPLATE = "with_background.txt"
# The published Eval-Prompt that the template is: a label first, then reasons, without a reference story.
EVAL_PROMPT = "EP2"

_STORY, _BACKGROUND, _QUESTION = "[STORY]", "[BACKGROUND]", "[QUESTION]"


class _Question(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")
    category: str
    question: str
    full_prompt: str


class _Questions(RootModel[list[_Question]]):
    model_config = ConfigDict(strict=True)


def holds_questions(text: str) -> bool:
    """Whether a file's content is a list of tests (a JSON list of objects), not definitions and guidelines by
    criterion."""
    return "".join(text[:100].split()).startswith("[{")


def read_questions(file: Path, text: str) -> Published:
    """The published tests of Art or Artifice, with the template in the same folder. Raises SpecError, naming the
    file."""
    try:
        tests = _Questions.model_validate(json_of(text, file)).root
    except ValidationError as error:
        raise SpecError(sentence(error.errors(include_url=False)[0], {}, file)) from error
    beside = file.parent / TEMPLATE
    template = read_text(beside)
    # The text before the story, with `{story}{task}`, and the text after it.
    for field in (_STORY, _BACKGROUND, _QUESTION):
        if template.count(field) != 1:
            raise SpecError(f"{beside} must hold {field} once; found {template.count(field)} times")
    head, _, task = template.partition(_STORY)
    if _BACKGROUND not in task or _QUESTION not in task:
        raise SpecError(f"{beside} must hold {_STORY} before {_BACKGROUND} and {_QUESTION}")
    outer, inner = head.replace("{", "{{").replace("}", "}}") + "{story}{task}", task
    tasks = {
        (test.category, EVAL_PROMPT): inner.replace(_BACKGROUND, _background(test, file)).replace(
            _QUESTION, test.question.strip()
        )
        for test in tests
    }
    definitions = {test.category: test.question.strip() for test in tests}
    return Published(file, definitions, {}, {EVAL_PROMPT: outer}, tasks, beside=template)


def _background(test: _Question, file: Path) -> str:
    lines = test.full_prompt.strip().split("\n")
    above = "\n".join(lines[:-1]).strip().split("\n")
    if test.question.strip() not in lines[-1] or len(above) < 2:
        raise SpecError(f"{file}: full_prompt of {test.category!r} does not end with an instruction and its question")
    return "\n".join(above[:-1]).strip()


@dataclass(frozen=True, slots=True)
class CriteriaSet:
    """Criteria that are used together. `source` is the hashed text of every file that was read; `published` is a
    study's wording."""

    name: str
    description: str
    criteria: tuple[Criterion, ...]
    file: Path
    source: str
    wording: Path | None = None
    published: Published | None = None

    def pick(self, names: str | Iterable[str] | None = None) -> tuple[Criterion, ...]:
        """Criteria by name or abbreviation (case is ignored), in the order of `names`, also one string with commas;
        None: all. Raises SpecError for an unknown name, or one listed twice."""
        if names is None:
            return self.criteria
        asked = [part.strip() for part in names.split(",")] if isinstance(names, str) else list(names)
        by_name = {word.casefold(): c for c in self.criteria for word in (c.abbreviation, c.name)}
        picked: dict[str, Criterion] = {}
        for name in asked:
            criterion = by_name.get(name.casefold())
            if criterion is None:
                raise SpecError(f"{self.file}: {unknown('criterion', name, [c.name for c in self.criteria])}")
            if criterion.name in picked:
                raise SpecError(f"{self.file}: criterion {criterion.name!r} is listed twice")
            picked[criterion.name] = criterion
        return tuple(picked.values())


def load_criteria(name: str | Path, *, wording: Path | None = None, folder: Path | None = None) -> CriteriaSet:
    """A shipped set, or a YAML file (also relative to `folder`). `wording` is a JSON file with a study's definitions,
    which replace those of the YAML file; None: the file that it names, if any. `read_wording` and `read_questions` read
    its two formats. Raises SpecError, naming the file."""
    file = locate(name, kind="criteria", suffix=".yaml", kind_name="criteria set", folder=folder)
    source = read_text(file)
    model, lines = read_strict(source, SetFile, file=file, text_keys=TEXT_KEYS)
    criteria = tuple(
        _criterion(entry, model.scale, f"{file}, line {lines[('criteria', i)]}")
        for i, entry in enumerate(model.criteria)
    )
    _all_different(criteria, file)
    if wording is None and model.wording is not None:
        wording = file.parent / model.wording
        if wording.suffix.lower() != ".json" or (wording.exists() and not is_trusted(wording, file.parent)):
            raise SpecError(
                f"{file}: wording {model.wording!r} is no JSON file in its folder",
                hint=f"name it in run.yaml, or export {VARIABLE}=FOLDER",
            )
    published = None
    if wording is not None:
        text = read_text(wording)
        source += f"\n# wording\n{text}"
        published = (read_questions if holds_questions(text) else read_wording)(wording, text)
        source += f"\n# beside it\n{published.beside}" if published.beside else ""
        criteria = tuple(_reworded(criterion, published) for criterion in criteria)
    return CriteriaSet(model.name, model.description, criteria, file, source, wording, published)


def shipped_criteria() -> tuple[str, ...]:
    """Names of the criteria sets that ship with the program, sorted."""
    return tuple(sorted(file.stem for file in (shipped("prompts") / "criteria").glob("*.yaml")))


class CriterionFile(Strict):
    """Schema of one entry of `criteria` in a criteria set's file."""

    name: str = Field(pattern=r"^\S(.*\S)?$", max_length=60, description="name, as tables print it")
    abbreviation: str = Field(  # stands in signatures, so nothing that separates there
        pattern=r"^[A-Za-z0-9]{1,8}$", description="abbreviation in signatures: 1 to 8 letters or digits"
    )
    definition: str = Field(pattern=r"\S", description="definition, as Eval-Prompts show it")
    scale: ScaleFile | None = Field(default=None, description="scale of this criterion, where the set's does not hold")
    guidelines: list[str] = Field(
        default_factory=list, description="one sentence for each point of the scale, lowest first, or none at all"
    )


class SetFile(Strict):
    """Schema of a criteria set's file."""

    name: str = Field(pattern=r"^\S+$", description="name of the set, without blanks")
    description: str = Field(default="", description="one line for `judge prompts list`")
    scale: ScaleFile = Field(default=ScaleFile(), description="scale of all criteria that have none of their own")
    wording: str | None = Field(default=None, description="file of a study's published wording, beside this file")
    criteria: list[CriterionFile] = Field(min_length=1, description="the criteria, in the order of tables")


def _criterion(entry: CriterionFile, common: ScaleFile, where: str) -> Criterion:
    given = entry.scale or common
    if (wrong := given.fault()) is not None:
        raise SpecError(f"{where}: criterion {entry.name!r}: {wrong}")
    criterion = Criterion(entry.name, entry.abbreviation, entry.definition.strip(), given.scale())
    return _with_guidelines(criterion, entry.guidelines, where)


def _with_guidelines(criterion: Criterion, guidelines: Iterable[str], where: str) -> Criterion:
    sentences, points = tuple(guidelines), len(criterion.scale.points())
    if sentences and len(sentences) != points:
        kind, order = (
            ("labels", "label, in their order") if criterion.scale.labels else ("points", "point, lowest first")
        )
        raise SpecError(
            f"{where}: criterion {criterion.name!r} has {len(sentences)} guidelines for a scale of {points} {kind}",
            hint=f"one sentence per {order}, or none at all",
        )
    if not all(text.strip() for text in sentences):
        raise SpecError(f"{where}: criterion {criterion.name!r} has an empty guideline")
    return replace(criterion, guidelines=sentences)


def _reworded(criterion: Criterion, published: Published) -> Criterion:
    # No prompt mixes published wording with ours.
    if criterion.name not in published.definitions:
        raise SpecError(f"{published.file}: {unknown('criterion', criterion.name, published.definitions)}")
    changed = replace(criterion, definition=published.definitions[criterion.name])
    return _with_guidelines(changed, published.guidelines.get(criterion.name, ()), str(published.file))


def _all_different(criteria: Iterable[Criterion], file: Path) -> None:
    # `pick` accepts names and abbreviations.
    owner: dict[str, str] = {}
    for criterion in criteria:
        for word in {criterion.name.casefold(), criterion.abbreviation.casefold()}:
            if word in owner:
                both = f"{owner[word]!r} and {criterion.name!r}"
                raise SpecError(f"{file}: {both} share the name or abbreviation {word!r}")
            owner[word] = criterion.name
