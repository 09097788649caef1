"""Loads a criteria set: one YAML file, checked and converted to `Criterion` records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import Field

from judge.base.errors import SpecError, unknown
from judge.base.folders.shipped import shipped
from judge.base.folders.trusted import VARIABLE, is_trusted
from judge.base.records import Criterion
from judge.inputs.criteria.prompt_file import Strict, locate, read_strict, read_text
from judge.inputs.criteria.question_wording import holds_questions, read_questions
from judge.inputs.criteria.scale_file import TEXT_KEYS, ScaleFile
from judge.inputs.criteria.wording import Published, read_wording


@dataclass(frozen=True, slots=True)
class CriteriaSet:
    """Criteria that are used together. `source` is the text of every file that was read for the set; it is hashed.
    `published` holds a study's published wording (None = none).
    """

    name: str
    description: str
    criteria: tuple[Criterion, ...]
    file: Path
    source: str
    wording: Path | None = None
    published: Published | None = None

    def pick(self, names: str | Iterable[str] | None = None) -> tuple[Criterion, ...]:
        """Criteria by name or abbreviation, in the order of `names`; None selects all. Letter case is ignored.

        A single string may list several names, separated by commas. Raises SpecError for a name that is unknown or
        listed twice.
        """
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
    """Load a criteria set, given by the name of a shipped set or by the path of a YAML file (also relative to
    `folder`).

    `wording` is the path of a JSON file with a study's published definitions, which replace those of the YAML file. If
    it is None, the file that the YAML file itself names is used, if it names one. The modules `criteria.wording` and
    `criteria.question_wording` describe the two possible formats. Raises SpecError, naming the file.
    """
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
    """The criterion with the study's published definition and guidelines, so that no prompt mixes published wording
    with ours.
    """
    if criterion.name not in published.definitions:
        raise SpecError(f"{published.file}: {unknown('criterion', criterion.name, published.definitions)}")
    changed = replace(criterion, definition=published.definitions[criterion.name])
    return _with_guidelines(changed, published.guidelines.get(criterion.name, ()), str(published.file))


def _all_different(criteria: Iterable[Criterion], file: Path) -> None:
    """Raise SpecError if two criteria share a name or abbreviation, or if one's name is another's abbreviation, since
    `pick` accepts both.
    """
    owner: dict[str, str] = {}
    for criterion in criteria:
        for word in {criterion.name.casefold(), criterion.abbreviation.casefold()}:
            if word in owner:
                both = f"{owner[word]!r} and {criterion.name!r}"
                raise SpecError(f"{file}: {both} share the name or abbreviation {word!r}")
            owner[word] = criterion.name
