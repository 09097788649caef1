"""Reads files of prompts and criteria, shipped under `prompts/` or the user's. `read_strict` parses YAML into a
pydantic model without type conversion, and reports every mistake as a sentence with file and line."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from judge.base import yaml_file
from judge.base.errors import JudgeError, SpecError, TemplateError, unknown
from judge.base.files import shipped
from judge.base.records import Scale

# libyaml is ten times faster; where PyYAML was built without it, the pure loader reads the same language.
_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_TEXT = "tag:yaml.org,2002:str"
_SHOWN = 80
# Folders of the shipped Eval-Prompts that compare, and that ask for several criteria; their names need no folder.
FOLDERS = ("pairs", "joint")


Place = tuple[str | int, ...]
Model = TypeVar("Model", bound=BaseModel)


def locate(
    name: str | Path,
    *,
    kind: Literal["criteria", "eval_prompts", "writer_prompts"],
    suffix: str,
    kind_name: str,
    folder: Path | None = None,
) -> Path:
    """The file that `name` denotes: a path (with a suffix or a slash), a file in `folder`, or a shipped one of `kind`.
    `kind_name` is for messages. Raises SpecError for no file, and for a bare name both in `folder` and shipped."""
    text = str(name)
    if isinstance(name, Path) or "/" in text or "\\" in text or Path(text).suffix:
        tried = [folder / text, Path(text)] if folder is not None else [Path(text)]
        for path in tried:
            if path.is_file():
                return path
        raise SpecError(
            f"{kind_name} {text}: there is no such file", hint="a shipped one has no path: judge prompts list"
        )
    ships = shipped("prompts") / kind
    inside = _inside(ships, text, suffix)
    beside = folder / f"{text}{suffix}" if folder is not None else None
    if beside is not None and beside.is_file():
        if inside.is_file() and not inside.samefile(beside):
            raise SpecError(f"{kind_name} {text!r} is both {beside} and one that ships", hint=f"write ./{beside.name}")
        return beside
    if inside.is_file():
        return inside
    raise SpecError(
        unknown(
            kind_name,
            text,
            [
                f.stem
                for folder in (ships, *(ships / subfolder for subfolder in FOLDERS))
                for f in folder.glob(f"*{suffix}")
            ],
        ),
        hint=f"your own: give its path, e.g. ./{text}{suffix}",
    )


def _inside(ships: Path, name: str, suffix: str) -> Path:
    file = f"{name}{suffix}"
    return next((candidate for subfolder in FOLDERS if (candidate := ships / subfolder / file).is_file()), ships / file)


def read_text(file: Path) -> str:
    """Text of a UTF-8 file, without byte-order mark and with newlines as line ends. Raises SpecError if it cannot be
    read."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SpecError(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SpecError(f"{file}: byte {error.start} is not UTF-8", hint="save the file as UTF-8") from error


class Strict(BaseModel):
    """Base of models that check YAML files. Unknown keys and conversions between types are not allowed."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, value: Any) -> Any:
        if isinstance(value, Mapping):
            for key in value:
                if key not in cls.model_fields:
                    sentence = unknown("key", str(key), cls.model_fields)
                    raise PydanticCustomError("unknown_key", "{sentence}", {"sentence": sentence, "key": key})
        return value


def read_strict(
    text: str,
    model: type[Model],
    *,
    file: Path,
    first_line: int = 1,
    blame: type[JudgeError] = SpecError,
    text_keys: Container[str] = (),
) -> tuple[Model, dict[Place, int]]:
    """YAML as `model`, and the line of every key and list item by its path, such as ("criteria", 0, "name"). `text`
    begins at `first_line`. Values under `text_keys` are strings. Raises `blame`, naming file and line."""
    lines: dict[Place, int] = {}
    value: Any = None
    try:
        yaml_file.check(text)
        loader = _LOADER(text)
        node = loader.get_single_node()
        if node is not None:
            lines.update(_lines(node, file, blame, first_line, (), set()))
            _as_written(node, text_keys, set())
            value = loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = first_line + (mark.line if mark else 0)
        raise blame(f"{file}, line {line}: not YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date like 2024-13-45
        raise blame(f"{file}: not YAML: {str(error).splitlines()[0]}") from error
    try:
        return model.model_validate(value if value is not None else {}), lines
    except ValidationError as error:
        sentences = [sentence(detail, lines, file) for detail in error.errors(include_url=False)]
        more = f" (and {len(sentences) - 1} more mistakes)" if len(sentences) > 1 else ""
        raise blame(sentences[0] + more) from error


def _lines(
    node: yaml.Node, file: Path, blame: type[JudgeError], first: int, path: Place, seen: set[int]
) -> Iterator[tuple[Place, int]]:
    # PyYAML would silently overwrite a duplicate key.
    if id(node) in seen:  # an alias, perhaps of a node around it
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for i, item in enumerate(node.value):
            yield (*path, i), first + item.start_mark.line
            yield from _lines(item, file, blame, first, (*path, i), seen)
    elif isinstance(node, yaml.MappingNode):
        keys: set[str] = set()
        for key, value in node.value:
            line = first + key.start_mark.line
            if key.value in keys:
                raise blame(f"{file}, line {line}: key {key.value!r} is there twice")
            keys.add(key.value)
            yield (*path, key.value), line
            yield from _lines(value, file, blame, first, (*path, key.value), seen)


def _as_written(node: yaml.Node, text_keys: Container[str], seen: set[int], *, text: bool = False) -> None:
    # A label such as Yes is not read as true.
    if isinstance(node, yaml.ScalarNode) and text:
        node.tag = _TEXT
    if id(node) in seen or not isinstance(node, yaml.CollectionNode):
        return
    seen.add(id(node))
    for part in node.value:
        if isinstance(node, yaml.MappingNode):
            key, value = part
            _as_written(value, text_keys, seen, text=text or key.value in text_keys)
        else:
            _as_written(part, text_keys, seen, text=text)


def sentence(detail: Any, lines: Mapping[Place, int], file: Path, below: Place = ()) -> str:
    """One pydantic error as a sentence with file, line and key. `below` is the path of the validated value."""
    path: Place = (*below, *detail["loc"])
    context = detail.get("ctx", {})
    at = (*path, context["key"]) if "key" in context else path
    while at and at not in lines:
        at = at[:-1]
    where = f"{file}, line {lines[at]}" if at in lines else str(file)
    spelled = "".join(f"[{p + 1}]" if isinstance(p, int) else f".{p}" for p in path).lstrip(".")
    if detail["type"] == "missing":
        return f"{where}: {spelled} is missing"
    if detail["type"] == "unknown_key":
        return f"{where}: {spelled + ': ' if spelled else ''}{detail['msg']}"
    value = repr(detail["input"])
    value = value if len(value) <= _SHOWN else value[: _SHOWN - 1] + "…"
    message = str(detail["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    return f"{where}: {spelled or 'the file'} {message[:1].lower()}{message[1:]}; found {value}"


# Schema of a criteria set's `scale`: numbers from min to max, or labels.

# Keys whose values are texts as they are written: YAML takes a bare Yes for true and a bare 1 for a number.
TEXT_KEYS = frozenset({"labels", "positive"})

# A slider from 0 to 100 has this many points; beyond, tables by point cannot be read.
_MOST_POINTS = 101

_MOST_LABELS = 26
# Characters: a label is a heading in tables and a word that an answer is searched for.
_LONGEST_LABEL = 60

_FEWEST_LABELS = 2
_NUMBERS = ("min", "max", "step")
_Finite = Annotated[float, Field(allow_inf_nan=False)]


class ScaleFile(Strict):
    """Schema of the mapping `scale` in a criteria set's file."""

    min: _Finite = Field(default=1, description="lowest point")
    max: _Finite = Field(default=5, description="highest point")
    step: _Finite = Field(default=1, description="distance of two points; max is a whole number of steps above min")
    labels: list[str] | None = Field(default=None, description="labels in place of points, lowest first")
    ordered: bool | None = Field(default=None, description="whether labels have an order; it is true unless said")
    positive: str | None = Field(default=None, description="the label of two that counts as passed, such as Yes")

    @model_validator(mode="after")
    def _is_a_scale(self) -> ScaleFile:
        if self.labels is not None:
            return self
        if self.min >= self.max or self.step <= 0:
            raise ValueError("must go up from min to max by a positive step")
        steps = (self.max - self.min) / self.step
        if abs(steps - round(steps)) > 1e-9 or steps + 1 > _MOST_POINTS:
            raise ValueError(f"must reach max from min by whole steps, with at most {_MOST_POINTS} points")
        return self

    def fault(self) -> str | None:
        """What is wrong with the labels, as text that begins with the key, such as `scale.labels`."""
        if self.labels is None:
            alone = [key for key in ("ordered", "positive") if getattr(self, key) is not None]
            return f"scale.{alone[0]} is for labels, and there are none" if alone else None
        numbers = [f"scale.{key}" for key in _NUMBERS if key in self.model_fields_set]
        if numbers:
            return f"scale.labels stands beside {', '.join(numbers)}: write labels, or min, max and step"
        wrong = labels_fault(self.labels, self.positive)
        return None if wrong is None else f"scale.{wrong}"

    def scale(self) -> Scale:
        if self.labels is None:
            return Scale(_whole(self.min), _whole(self.max), _whole(self.step))
        labels = [" ".join(label.split()) for label in self.labels]
        scale = Scale.of_labels(labels, ordered=self.ordered is not False)
        if self.positive is None:
            return scale
        code = scale.code_of(self.positive)
        return Scale.of_labels(labels, ordered=scale.ordered, positive=scale.label_of(code))


def labels_fault(labels: Sequence[str], positive: str | None) -> str | None:
    """What is wrong with labels or the positive one, as text that begins with `labels` or `positive`."""
    if len(labels) < _FEWEST_LABELS or len(labels) > _MOST_LABELS:
        return f"labels must be {_FEWEST_LABELS} to {_MOST_LABELS} different texts; found {', '.join(labels) or 'none'}"
    scale = Scale.of_labels(labels)
    for code, label in enumerate(labels):
        if not any(c.isalpha() for c in label):
            return f"labels must hold a letter each; found {label!r} (for numbers write min, max and step)"
        if len(label) > _LONGEST_LABEL or "\n" in label.strip():
            return f"labels must be lines of at most {_LONGEST_LABEL} characters; found {label[:_LONGEST_LABEL]!r}..."
        if scale.code_of(label) != code:
            return f"labels must differ in more than case and blanks; found {label.strip()!r} twice"
    if positive is not None and len(labels) != _FEWEST_LABELS:
        return f"positive is for two labels; found {len(labels)} labels"
    if positive is not None and scale.code_of(positive) is None:
        return f"positive must be one of the labels; found {positive!r} (allowed: {', '.join(labels)})"
    return None


def _whole(value: float) -> float:
    # Prompts show numbers as people write them.
    return int(value) if float(value).is_integer() else value


# Front matter of an Eval-Prompt: the lines between `---` that say what the template needs and requests.

FENCE = "---"


class ExampleLine(Strict):
    """A story that an Eval-Prompt shows as an example."""

    story: str = Field(description="its id")
    story_prompts: list[str] = Field(description="keys of its story-prompt and of near-duplicates")


class FrontMatter(Strict):
    """Front matter of an Eval-Prompt, between `---` at its beginning. All keys are optional. With `criteria`, one
    answer rates several."""

    description: str = Field(default="", description="one line for `judge prompts list`")
    needs_guidelines: bool = Field(default=False, description="whether criteria without guidelines are refused")
    needs_reference: bool = Field(default=False, description="whether stories without a reference story are left out")
    explains: bool = Field(default=False, description="whether the answer is to hold an explanation")
    compares: bool = Field(default=False, description="whether two stories are compared, in place of one rated")
    writes: bool = Field(default=False, description="whether the template asks for a story (`judge data generate`)")
    criteria: Literal["all"] | list[str] | None = Field(
        default=None, description="criteria that one answer rates together: `all` of the run, or a list"
    )
    system: str | None = Field(default=None, description="template of the system message")
    origin: str | None = Field(default=None, description="what an Eval-Prompt by `judge improve` was made from")
    examples: list[ExampleLine] = Field(
        default_factory=list, description="stories shown as examples; a story of their story-prompts is refused"
    )
    published: str | None = Field(
        default=None, pattern=r"^EP\d+$", description="the study's Eval-Prompt whose wording takes this one's place"
    )
    rating_pattern: str | None = Field(
        default=None,
        min_length=1,
        description="only place of the rating: regular expression with one group, or JSON path",
    )
    example_answer: str | None = Field(
        default=None, min_length=1, description="answer on which `judge prompts check` tries the pattern"
    )


@dataclass(frozen=True, slots=True)
class Split:
    """An Eval-Prompt's file in two parts, with the lines at which `body` and the system message's text begin."""

    front: FrontMatter
    body: str
    body_line: int
    system_line: int


def split(source: str, file: Path) -> Split:
    """Front matter and template of an Eval-Prompt. Raises TemplateError, naming file, line and key."""
    lines = source.split("\n")
    if lines[0].rstrip() != FENCE:
        return Split(FrontMatter(), source, 1, 1)
    end = next((i for i, line in enumerate(lines[1:], start=1) if line.rstrip() == FENCE), None)
    if end is None:
        raise TemplateError(
            f"{file}, line 1: the front matter that begins here has no end", hint="close it with a line ---"
        )
    front, places = read_strict("\n".join(lines[1:end]), FrontMatter, file=file, first_line=2, blame=TemplateError)
    line = places.get(("system",), 1)
    block = lines[line - 1].partition(":")[2].strip()[:1] in {"|", ">"}  # the text begins below its key
    return Split(front, "\n".join(lines[end + 1 :]), end + 2, line + block)


def ask_the_same(first: str, second: str) -> bool:
    """Whether two versions send the same messages: only keys on how answers are read may differ."""
    if first == second:
        return True
    reading = {"rating_pattern", "example_answer"}
    first_template, second_template = (split(source, Path("stored template")) for source in (first, second))
    return first_template.body == second_template.body and first_template.front.model_dump(
        exclude=reading
    ) == second_template.front.model_dump(exclude=reading)
