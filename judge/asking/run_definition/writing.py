"""Schema of `generate.yaml`: which stories are written by which models. A writer is reached like a judge, with the same
keys (`Reached`). As in runs, `judge` is the model that answers and `repeats` how often a request is made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from judge.asking.run_definition.judges import refuse_address, refuse_foreign
from judge.asking.run_definition.spec import (
    NAME,
    GenerationSpec,
    Names,
    Reached,
    RunSpec,
    Specs,
    judge_key_of,
    load_run_specs,
    mistakes,
    named_after,
    override,
    parse_run_spec,
    read_definition,
)
from judge.base.credentials import written_keys as literal
from judge.base.credentials.providers import CONTROL, JudgeName
from judge.base.errors import SpecError

# The key by which a definition of stories to be written is told from a run's.
WRITES = "writer_prompts"

_OF_ONE_SERVER = ("base_url", "api_key_env", "headers")


class GenerateSpec(Reached):
    """Definition of a generation run, in which a model writes stories."""

    name: str = Field(
        pattern=NAME, description="name, of letters, digits, dot, dash and underscore; default: the folder's"
    )
    story_prompts: str = Field(description="name of a known dataset, a file of stories, or a file of story-prompts")
    columns: dict[str, Any] | None = Field(None, description="column map, where a file of stories needs one")
    writer: str = Field(description="provider/model, e.g. openai/gpt-4o-mini")
    writer_prompts: Names = Field(description="name or file of a writer prompt, or a list of them")
    stories_each: int = Field(1, ge=1, le=1000, description="number of stories for each story-prompt and writer prompt")
    words: tuple[int, int] | None = Field(
        None, strict=False, description="[fewest, most] words that a story is asked to have; the program cuts no story"
    )
    generation: GenerationSpec = Field(
        default_factory=GenerationSpec,
        description="generation settings; one that is left out is not sent, and the provider's default holds",
    )
    api: Literal["chat", "completions", "responses"] = Field("chat", description="route of the server's API")
    system: str | None = Field(None, description="system message put before every request")

    # An answer is a story: free text.
    structured: ClassVar[Literal["none"]] = "none"
    scoring: ClassVar[Literal["text"]] = "text"
    choices: ClassVar[tuple[str, ...]] = ()

    @model_validator(mode="after")
    def _of_writing(self) -> GenerateSpec:
        if self.words is not None and not 1 <= self.words[0] <= self.words[1]:
            raise PydanticCustomError("words", "words is [fewest, most], such as [300, 500]")
        if JudgeName.of(self.writer).provider == CONTROL:
            raise PydanticCustomError("writer", "writer {writer} rates stories and writes none", {"writer": CONTROL})
        return self

    @property
    def judge(self) -> str:
        """The model that writes the stories, under the name that it has in runs."""
        return self.writer

    @property
    def repeats(self) -> int:
        """Number of stories to be written for each request."""
        return self.stories_each

    @property
    def provider(self) -> str:
        return JudgeName.of(self.writer).provider

    @property
    def system_name(self) -> str:
        """Name of the writing model as a system in the records of its stories: model and revision."""
        model = JudgeName.of(self.writer).model or self.writer
        return model if self.revision is None else f"{model}@{self.revision}"

    def keys_in_force(self) -> dict[str, Any]:
        """All keys with the values in effect, and `judge` and `repeats`, which runs have."""
        return self.model_dump(mode="json") | {"judge": self.judge, "repeats": self.repeats}

    def judge_key(self) -> str:
        """Fingerprint of the writing model (see `judge_key_of`)."""
        return judge_key_of(self.writer, self)


# A definition of requests: of ratings and verdicts, or of stories.
AnySpec = RunSpec | GenerateSpec


def is_writing(path: Path) -> bool:
    """Whether a file defines a generation run (models write stories), not a run of judges."""
    return WRITES in read_definition(path)


def load_generate_specs(path: Path, overrides: Iterable[str] = (), writers: Sequence[str] = ()) -> Specs[GenerateSpec]:
    """generate.yaml as one definition for its writer, or for each of `writers`. `overrides` are `key=value`."""
    data = read_definition(path)
    if WRITES not in data:
        raise SpecError(f"{path} has no {WRITES}", hint=f"a run.yaml is for judge run {path}")
    overrides = list(overrides)
    overridden = {pair.partition("=")[0].strip().partition(".")[0] for pair in overrides}
    refuse_foreign({key: value for key, value in data.items() if key not in overridden}, path.parent, str(path))
    if data.get("name") is None:
        data["name"] = named_after(path)
    specs = []
    kept = [key for key in _OF_ONE_SERVER if key not in overridden]
    named: Sequence[str | None] = writers or [None]
    for writer in named:
        of_writer = dict(data)
        if writer is not None:
            refuse_address({**of_writer, "judge": of_writer.get("writer", "")}, writer, str(path), kept)
            of_writer["writer"] = writer
        for pair in overrides:
            override(of_writer, pair)
        specs.append(parse_generate_spec(of_writer, str(path)))
    if len(specs) == 1:
        return Specs((specs[0],))
    return Specs(tuple(writer_spec.model_copy(update={"max_cost": None}) for writer_spec in specs), specs[0].max_cost)


def parse_generate_spec(data: dict[str, Any], where: str) -> GenerateSpec:
    """Plain data checked as generate.yaml. Raises SpecError that names each mistake's key, and the nearest known
    one."""
    try:
        return GenerateSpec.model_validate(data)
    except ValidationError as error:
        hint = "docs/generating_stories.md shows a whole generate.yaml"
        raise SpecError(f"{where}: {'; '.join(mistakes(error, _keys))}", hint=hint) from error


def parse_spec(data: dict[str, Any], where: str) -> AnySpec:
    """A definition of either kind: a run of judges, or a generation run."""
    return parse_generate_spec(data, where) if WRITES in data else parse_run_spec(data, where)


def stored_spec(data: dict[str, Any], where: str) -> AnySpec:
    """A manifest's definition, to send again. Raises SpecError if it contains an API key, which earlier versions
    allowed."""
    literal.refuse_keys(data, where)
    refuse_foreign(data, Path(where).parent, where)
    return parse_spec(data, where)


def load_specs(path: Path, overrides: Iterable[str] = (), judges: Sequence[str] = ()) -> Specs[AnySpec]:
    """Definitions of either kind: a run of judges, or a generation run."""
    if is_writing(path):
        return load_generate_specs(path, overrides, judges)
    return load_run_specs(path, overrides, judges)


def _keys(parents: list[str]) -> set[str]:
    return set(GenerationSpec.model_fields if parents[:1] == ["generation"] else GenerateSpec.model_fields)
