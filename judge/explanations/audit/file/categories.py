"""Error categories of an audit: for each, the question, the key that answers yes, and its column in exported files.

In an audit 1 always means that the error is present. A column may mean the opposite, as in the first question of the
HANNA study (was the guideline followed?). Such a category is `inverted`: its values are converted when files are read
or written. A user's own categories are defined in a YAML file::

    categories:
      - key: invented_plot            # a name for tables and files
        label: Invented plot
        question: Does the explanation tell of something that does not happen in the story?
        press: "1"                    # optional: 1, 2, 3... by default
        question_blind: Is it so?     # optional: asked in place of question where annotators are not shown the rating
    practice: []                      # optional: items as in judge/explanations/audit/categories.yaml
    criteria: hanna                   # optional: the set whose criteria the practice items name
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from judge.base.errors import SpecError, unknown
from judge.base.folders import package_file
from judge.base.records import Criterion
from judge.explanations.audit.file.items import Facts, Subject
from judge.inputs.criteria import load_criteria
from judge.inputs.prompt_file import Strict, read_strict, read_text

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
        criterion=_criterion(example.criterion, criteria),
        facts=Facts(rating=example.rating),
    )


def _criterion(name: str, criteria: str) -> Criterion:
    return load_criteria(criteria).pick([name])[0]
