"""Items of an audit as values, an explanation with its story and the facts that annotators may not see; and the errors
that annotators look for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson
from pydantic import Field, TypeAdapter

from judge.base.errors import SpecError, unknown, unknown_value
from judge.base.files import package_file
from judge.base.fingerprint import fingerprint
from judge.base.records import Criterion
from judge.inputs.criteria import load_criteria
from judge.inputs.prompt_file import Strict, read_strict, read_text

# Facts that annotators see unless the audit is blind to them; all other facts are never shown.
BLINDABLE = ("judge", "eval_prompt", "rating")


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about the origin of an explanation; None = not known. `people` is the mean human rating of the story, `gap`
    the judge's rating minus it (points), `cluster` that of `judge explain`, and `weight` the number of explanations of
    the population that it represents."""

    run: str | None = None
    judge: str | None = None
    eval_prompt: str | None = None
    repeat: int | None = None
    rating: float | None = None
    people: float | None = None
    gap: float | None = None
    cluster: str | None = None
    stratum: str | None = None
    weight: float | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """One explanation to be audited, before it has a number; texts and criterion are None if an imported file lacks
    them. `story` is the story's id, `text` its text and `reference` the text of the reference story."""

    explanation: str
    story: str | None = None
    dataset: str | None = None
    system: str | None = None
    story_prompt: str | None = None
    text: str | None = None
    reference: str | None = None
    criterion: Criterion | None = None
    facts: Facts = field(default_factory=Facts)

    @property
    def shown_reference(self) -> str | None:
        """The reference to show; None if it is the rated story, which would reveal that a human wrote it."""
        same = " ".join((self.reference or "").split()) == " ".join((self.text or "").split())
        return None if same else self.reference

    def text_of(self, value: Any) -> str:
        """A fact as text. A rating is replaced by its label if the criterion has labels."""
        if not isinstance(value, float):
            return str(value)
        return f"{value:g}" if self.criterion is None else self.criterion.scale.text_of(value)

    def labelled(self, value: Any) -> Any:
        """A fact as it is, but the label of a rating if the criterion has labels."""
        has_labels = self.criterion is not None and self.criterion.scale.labels
        return self.text_of(value) if has_labels and value is not None else value

    @property
    def key(self) -> str:
        """Hash of an explanation with its story and facts. It is the same in every file that holds all of these."""
        return fingerprint(asdict(self) | {"criterion": _plain(self.criterion)})


@dataclass(frozen=True, slots=True)
class Item:
    """An explanation to be audited (`subject`) with its number in the audit (from 1) and its hash `key`."""

    id: int
    key: str
    subject: Subject


def visible_facts(subject: Subject, blind: Sequence[str]) -> dict[str, Any]:
    """The known facts of `BLINDABLE` that an annotator may see: those not named in `blind`."""
    shown = {name: getattr(subject.facts, name) for name in BLINDABLE if name not in blind}
    return {name: value for name, value in shown.items() if value is not None}


def check_blind(blind: Sequence[str]) -> tuple[str, ...]:
    """The names of facts to hide, without duplicates. Raises SpecError for an unknown or never shown fact."""
    for name in blind:
        if name not in BLINDABLE:
            raise unknown_value("blind", name, BLINDABLE)
    return tuple(dict.fromkeys(blind))


def criterion_json(criterion: Criterion | None) -> str | None:
    """JSON of a criterion as stored in the audit file; None without a criterion."""
    return None if criterion is None else orjson.dumps(_plain(criterion)).decode()


def _plain(criterion: Criterion | None) -> dict[str, Any] | None:
    if criterion is None:
        return None
    record = asdict(criterion)
    # Without labels there is no entry, so that the hashes of criteria without labels do not change.
    if not criterion.scale.labels:
        record["scale"] = {name: record["scale"][name] for name in ("min", "max", "step")}
    return record


def criterion_of(text: str | None) -> Criterion | None:
    """Criterion read from its JSON in the audit file; None for None."""
    return None if text is None else Criterion.of(orjson.loads(text))


def facts_json(facts: Facts) -> str:
    """JSON of the facts about an explanation as stored in the audit file; unknown facts are left out."""
    return orjson.dumps({key: value for key, value in asdict(facts).items() if value is not None}).decode()


def facts_of(text: str) -> Facts:
    """Facts about an explanation, read from their JSON in the audit file. Raises ValueError for anything else."""
    return TypeAdapter(Facts).validate_json(text, strict=True)


SHIPPED = package_file("explanations", "audit", "categories.yaml")
# Files that ship, by the names that stand for them.
NAMED = {"errors": SHIPPED, "comments": package_file("explanations", "audit", "comments.yaml")}

# Keys of the pages: no errors, names, back, help, scroll, note, progress, quotations, reference, skip, undo.
RESERVED = frozenset("0abhjknpqrsu?")


@dataclass(frozen=True, slots=True)
class Category:
    """One kind of error that annotators are asked about; `press` is the key that answers yes. `inverted`: 1 means no
    error in the CSV column `column`. `question_blind` is asked where the rating is hidden."""

    key: str
    label: str
    question: str
    press: str
    column: str
    inverted: bool = False
    question_blind: str | None = None

    def asked(self, blind: Sequence[str]) -> str:
        """The question to ask in an audit that hides the facts named in `blind`."""
        return self.question_blind or self.question if "rating" in blind else self.question


@dataclass(frozen=True, slots=True)
class PracticeItem:
    """A practice item: the expected answers (category -> 0 or 1, perhaps not for all) and the reason."""

    id: int
    subject: Subject
    expected: dict[str, int]
    feedback: str


@dataclass(frozen=True, slots=True)
class Form:
    """Questions put to annotators: categories, and items to practise on."""

    categories: tuple[Category, ...]
    practice: tuple[PracticeItem, ...] = ()


def load_form(path: Path | None = None) -> Form:
    """Categories and practice items: the shipped ones, those of another shipped form, or a YAML file's. Raises
    SpecError for an unknown name and an invalid file."""
    file = SHIPPED if path is None else NAMED.get(str(path), path)
    if file is path and path.parent == Path() and not path.suffix and not path.exists():
        raise SpecError(
            unknown("file of categories", str(path), NAMED), hint=f"your own: give its path, e.g. {path}.yaml"
        )
    model, lines = read_strict(read_text(file), _FormFile, file=file)
    categories: list[Category] = []
    for i, declared in enumerate(model.categories):
        where = f"{file}, line {lines['categories', i]}"
        column = declared.column or f"Answer.{declared.key}"
        press = declared.press or str(i + 1)
        blind = declared.question_blind.strip() if declared.question_blind else None
        category = Category(
            declared.key, declared.label.strip(), declared.question.strip(), press, column, declared.inverted, blind
        )
        _check(category, categories, where)
        categories.append(category)
    keys = [category.key for category in categories]
    practice = []
    for i, example in enumerate(model.practice):
        for key in example.expected:
            if key not in keys:
                raise SpecError(f"{file}, line {lines['practice', i]}: {unknown('category', key, keys)}")
        practice.append(
            PracticeItem(i + 1, _subject(example, model.criteria), dict(example.expected), example.feedback.strip())
        )
    return Form(tuple(categories), tuple(practice))


def _check(category: Category, before: Sequence[Category], where: str) -> None:
    if len(category.press) != 1 or not category.press.isalnum() or category.press in RESERVED:
        kept = ", ".join(sorted(RESERVED))
        raise SpecError(f"{where}: press {category.press!r} must be one letter or digit other than {kept}")
    for other in before:
        for name in ("key", "press", "column", "label"):
            if getattr(other, name) == getattr(category, name):
                raise SpecError(f"{where}: two categories have the {name} {getattr(category, name)!r}")


class _CategoryFile(Strict):
    key: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    label: str = Field(pattern=r"\S", max_length=60)
    question: str = Field(pattern=r"\S")
    press: str | None = None
    column: str | None = Field(default=None, pattern=r"^\S(.*\S)?$")
    inverted: bool = False
    question_blind: str | None = Field(default=None, pattern=r"\S")


class _PracticeFile(Strict):
    story_prompt: str = Field(pattern=r"\S")
    story: str = Field(pattern=r"\S")
    criterion: str
    explanation: str = Field(pattern=r"\S")
    rating: float | None = None
    expected: dict[str, int]
    feedback: str = Field(pattern=r"\S")


class _FormFile(Strict):
    criteria: str = "hanna"
    categories: list[_CategoryFile] = Field(min_length=1, max_length=20)
    practice: list[_PracticeFile] = Field(default_factory=list)


def _subject(example: _PracticeFile, criteria: str) -> Subject:
    return Subject(
        explanation=example.explanation.strip(),
        story_prompt=example.story_prompt.strip(),
        text=example.story.strip(),
        criterion=load_criteria(criteria).pick([example.criterion])[0],
        facts=Facts(rating=example.rating),
    )
