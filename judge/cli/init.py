"""Command `judge init`: writes a commented run.yaml from a shipped definition, or for the user's own stories."""

from __future__ import annotations

import math
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from pydantic.fields import FieldInfo

from judge.asking.run_definition.spec import CriteriaSpec, GenerationSpec, RunSpec
from judge.base.errors import DataError
from judge.base.files import writing
from judge.base.late_pattern import late
from judge.base.records import Criterion, Scale
from judge.cli.table_options import asked
from judge.inputs.criteria import load_criteria, shipped_criteria
from judge.inputs.datasets import SUFFIXES, Dataset, is_own_form, open_dataset
from judge.inputs.datasets.faults import faults
from judge.inputs.datasets.files.column_guess import guess, options

# Guesses what a new run.yaml says about stories: dataset, columns, criteria, Eval-Prompts. Reads every story once.

_FAR = 3
_CHECK = "guessed from the names and cells of the file's columns: check it"


@dataclass(frozen=True, slots=True)
class Guessed:
    """Guessed values of run.yaml's keys, comments on them, a sentence that counts the stories read, what the table's
    columns were taken for, and the text of a criteria set beside run.yaml where no shipped one fits."""

    values: Mapping[str, Any]
    comments: Mapping[str, str]
    sentence: str
    read_as: Sequence[str] = ()
    criteria: str = ""


def guess_dataset(named: str, named_columns: Mapping[str, str] | None, folder: Path) -> Guessed:
    """Values of run.yaml's keys for a known dataset or a file of stories. Raises DataError if a column is missing or a
    story cannot be read; its hint gives options that would help."""
    path = Path(named)
    is_file = path.is_file() or path.suffix.lower() in SUFFIXES
    columns, read_as = asked(lambda said: _columns(path, said), named_columns) if is_file else (None, [])
    dataset = open_dataset(named, columns=columns)
    values: dict[str, Any] = {"dataset": _beside(path, folder) if is_file else named}
    comments = {"columns": _CHECK}
    if columns:
        values["columns"] = columns
    contents = _Read.of(dataset)
    values["criteria"], comments["criteria"] = _criteria(tuple(contents.criteria))
    values["eval_prompts"] = ["ep1", "ep2", "ep3", *(["ep4"] if contents.references == contents.stories else [])]
    own = own_criteria(contents.criteria) if values["criteria"]["set"] == CRITERIA else []
    if own:
        # They have a sentence for each point only once somebody has written them.
        values["eval_prompts"] = ["ep1", "ep2"]
    sentence = f"{named}: {contents.stories:,} stories by {len(contents.systems)} systems"
    rated = ", ".join(contents.criteria)
    sentence += f"; ratings of {rated}" if rated else "; no ratings by people"
    if own:
        read_as = [*read_as, f"{CRITERIA} beside run.yaml names what people rated: say there what it means"]
    wrong = faults(
        dataset.stories(), own or load_criteria(values["criteria"]["set"]).criteria, set_name=values["criteria"]["set"]
    )
    told = [*read_as, *(f"look at this: {fault}" for fault in wrong)]
    return Guessed(values, comments, sentence, told, criteria_text(own) if own else "")


def _columns(path: Path, named_columns: Mapping[str, Any] | None) -> tuple[dict[str, Any] | None, list[str]]:
    """The column map, and how columns were read; None for a file in this program's own format."""
    if not path.is_file():
        raise DataError("there is no such file", file=path)
    if not named_columns and is_own_form(path):
        return None, []
    sheet = (named_columns or {}).get("sheet")
    guessed = guess(path, str(sheet).removeprefix("=") if sheet else None, named_columns)
    if guessed.wanted:
        names = " and ".join(guessed.wanted)
        raise DataError(f"no column could be guessed for {names}", file=path, hint=options(guessed))
    return guessed.as_map(), guessed.lines


def _beside(path: Path, folder: Path) -> str:
    # Relative, so that both can be moved together, unless more than `_FAR` (3) levels up or on another drive.
    try:
        relative = Path(os.path.relpath(path.resolve(), folder.resolve()))
    except ValueError:  # another drive
        return path.resolve().as_posix()
    return (path.resolve() if relative.parts.count("..") > _FAR else relative).as_posix()


@dataclass(frozen=True, slots=True)
class _Read:
    stories: int
    references: int
    systems: frozenset[str]
    criteria: Mapping[str, Scale]
    """The criteria that people rated, with their scale, or one that holds the ratings."""

    @classmethod
    def of(cls, dataset: Dataset) -> _Read:
        stories = references = 0
        systems: set[str] = set()
        ends: dict[str, tuple[float, float]] = {}
        for story in dataset.stories():
            stories += 1
            references += story.reference is not None
            systems.add(story.system)
            for rating in story.ratings:
                low, high = ends.get(rating.criterion, (rating.value, rating.value))
                ends[rating.criterion] = (min(low, rating.value), max(high, rating.value))
        scales = {name: dataset.labels.of(name) or dataset.scale or _around(*ends[name]) for name in ends}
        return cls(stories, references, frozenset(systems), scales)


CRITERIA = "criteria.yaml"
# The scale of most studies, where people's lowest rating does not speak against it.
_LOWEST, _HIGHEST = 1, 5

_OWN = """\
# What people rated. Say of each criterion what it means, in the words that people were given: a judge reads them.
# With guidelines, one sentence for each point, lowest first, ep3 and ep4 can be asked too.
name: own
criteria:
"""


def own_criteria(rated: Mapping[str, Scale]) -> list[Criterion]:
    """The criteria that people rated, for their owner to define."""
    taken: set[str] = set()
    return [Criterion(name, _abbreviation(name, taken), f"{name} of the story", rated[name]) for name in rated]


def criteria_text(criteria: Sequence[Criterion]) -> str:
    """Text of a criteria set."""
    return _OWN + "".join(
        f"  - name: {_flow(one.name)}\n    abbreviation: {_flow(one.abbreviation)}\n"
        f"    definition: {_flow(one.definition)}  # yours to say\n"
        f"    scale: {_flow(_written(one.scale))}  # check it\n"
        for one in criteria
    )


def _written(scale: Scale) -> dict[str, Any]:
    if not scale.labels:
        return {"min": scale.min, "max": scale.max, "step": scale.step}
    positive = {} if scale.positive is None else {"positive": scale.positive}
    return {"labels": list(scale.labels), "ordered": scale.ordered, **positive}


def _abbreviation(name: str, taken: set[str]) -> str:
    letters = "".join(one for one in name if one.isascii() and one.isalnum()).upper() or "C"
    every = chain((letters[:length] for length in range(2, 9)), (f"C{number}" for number in count(1)))
    chosen = next(one for one in every if one not in taken)
    taken.add(chosen)
    return chosen


def _around(low: float, high: float) -> Scale:
    """Whole points around what was rated: nobody may have given the ends of a scale of 1 to 5."""
    least = _LOWEST if _LOWEST <= low <= _HIGHEST else math.floor(low)
    most = max(_HIGHEST if least == _LOWEST else least + 1, math.ceil(high))
    return Scale(least, most, 1)


def _criteria(rated: tuple[str, ...]) -> tuple[dict[str, Any], str]:
    """The shipped set that shares most criteria with those rated, and a comment."""
    sets = {name: [criterion.name for criterion in load_criteria(name).criteria] for name in shipped_criteria()}
    if not rated:
        return {"set": "overall"}, "nobody rated these stories; judge prompts list shows the sets"
    best = max(sets, key=lambda name: len(set(rated) & set(sets[name])))
    both = [criterion for criterion in sets[best] if criterion in rated]
    names = ", ".join(criterion for criterion in rated if criterion not in both)
    if not both:
        return {"set": CRITERIA}, f"{names}, as people rated: say in {CRITERIA} what each means"
    only = {} if len(both) == len(sets[best]) else {"only": both}
    return {"set": best, **only}, "those that people rated" + (f"; the set has no {names}" if names else "")


# Text of a new run.yaml: every key of the schema, with a comment. Keys without a value are commented out.

_NESTED: Mapping[str, Any] = {"generation": GenerationSpec, "criteria": CriteriaSpec}
# What a key without a default may hold.
_EXAMPLES: Mapping[str, Any] = {
    "columns": {"id": "Story ID", "text": "Story", "system": "Model", "ratings": {"Coherence": "coh"}},
    "criteria.only": ["Coherence"],
    "criteria.wording": "eval_prompts.json",
    "generation.temperature": 0.7,
    "generation.top_p": 0.95,
    "generation.max_tokens": 256,
    "generation.seed": 1,
    "generation.stop": ["###"],
    "pairs": "all",
    "system": "You are a careful reader.",
    "base_url": "http://127.0.0.1:8000/v1",
    "revision": "main",
    "identity": "llama-8b in bfloat16",
    "engine": {"dtype": "bfloat16"},
    "note": "a pilot: not for publication",
    "max_cost": 5.0,
}

_COMMENT_AT = 44
# It stands in place of `judge`, so it is no key of one judge's definition.
_JUDGES = "# judges: [openai/gpt-4.1-mini, surface]      # several judges in one run, in place of judge"
_KEY = late(r"^( *)([a-z_]+):[^#]*#\s*(.*)$")


def definition_text(head: list[str], values: Mapping[str, Any], comments: Mapping[str, str]) -> str:
    """Text of a run.yaml after the lines of `head`; `comments` by dotted key replace the schema's descriptions."""
    lines = [*head]
    for key, field in RunSpec.model_fields.items():
        nested = _NESTED.get(key)
        if nested is None:
            lines += _key(key, key, field, values, comments, "")
            lines += [_JUDGES] if key == "judge" else []
            continue
        given = values.get(key) or {}
        given = {"set": given} if isinstance(given, str) else given
        lines.append(_line(f"{key}:", _comment(key, field, comments)))
        for inner, inner_field in nested.model_fields.items():
            lines += _key(f"{key}.{inner}", inner, inner_field, given, comments, "  ")
    return "\n".join(lines) + "\n"


def comments_of(text: str) -> dict[str, str]:
    """Comment behind each key of a run definition's text, by dotted key."""
    comments: dict[str, str] = {}
    parent = ""
    for line in text.splitlines():
        outer = re.match(r"^([a-z_]+):", line)
        parent = outer[1] if outer else parent
        commented = _KEY.match(line)
        if commented:
            comments[f"{parent}.{commented[2]}" if commented[1] else commented[2]] = commented[3]
    return comments


def _key(
    dotted: str, key: str, field: FieldInfo, values: Mapping[str, Any], comments: Mapping[str, str], indent: str
) -> Iterator[str]:
    comment = _comment(dotted, field, comments)
    if key in values and isinstance(values[key], Mapping):
        yield _line(f"{indent}{key}:", comment)
        for inner, value in values[key].items():
            if isinstance(value, Mapping):
                yield f"{indent}  {inner}:"
                yield from (f"{indent}    {_flow({name: item})[1:-1]}" for name, item in value.items())
            else:
                yield f"{indent}  {_flow({inner: value})[1:-1]}"
    elif key in values:
        yield _line(f"{indent}{key}: {_flow(values[key])}", comment)
    else:
        default = field.get_default(call_default_factory=True)
        shown = _EXAMPLES[dotted] if default in (None, [], {}) and dotted in _EXAMPLES else default
        yield _line(f"{indent}# {key}: {_flow(shown)}", comment)


def _comment(dotted: str, field: FieldInfo, comments: Mapping[str, str]) -> str:
    if dotted in comments:
        return comments[dotted]
    default = field.get_default(call_default_factory=True)
    text = str(field.description or "")
    if field.is_required() or not isinstance(default, str | int | float):
        return text
    return f"{text}; default {default}"


def _line(left: str, comment: str) -> str:
    return f"{left.ljust(_COMMENT_AT)}  # {comment}" if comment else left


def _flow(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=10**6, allow_unicode=True, sort_keys=False).strip()
    return text.removesuffix("...").strip()


def init(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="name of the new run")] = None,
    template: Annotated[str, typer.Option("--from", help="shipped definition to copy")] = "mans-roc",
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            metavar="NAME|PATH",
            help="dataset or table of stories to judge; columns of a table are guessed",
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="FIELD=COLUMN", help="column that holds a field, where the guess is wrong"),
    ] = None,
    copy_data: Annotated[
        bool, typer.Option("--copy-data", help="copy of the dataset's file in the run's folder, to be moved with it")
    ] = False,
    folder: Annotated[Path, typer.Option(help="folder that holds the runs")] = Path("runs"),
) -> None:
    """Write FOLDER/NAME/run.yaml from a shipped definition, with a comment on every key; without NAME, list them.

    Example: judge init my-run --from hanna-api

    Example: judge init my-run --dataset stories.csv --copy-data
    """
    from judge.base.errors import SpecError, unknown
    from judge.base.files import shipped, write_whole

    run_files = {path.parent.name: path for path in sorted(shipped("runs").glob("*/run.yaml"))}
    if name is None and dataset is None:
        _list(run_files)
        return
    if name is None:
        raise SpecError("judge init needs a NAME", hint="e.g. judge init my-run --from hanna-api")
    if template not in run_files:
        raise SpecError(unknown("definition", template, run_files))
    if column and dataset is None:
        raise SpecError("--column goes with --dataset FILE", hint="e.g. judge init my-run --dataset stories.csv")
    target = folder / name / "run.yaml"
    if target.exists():
        raise SpecError(f"{target} exists already", hint=f"edit it, or choose another name; judge run {target.parent}")
    if copy_data and (dataset is None or not Path(dataset).is_file()):
        raise SpecError("--copy-data goes with --dataset FILE", hint="e.g. judge init my-run --dataset stories.csv")
    guessed = _guessed(dataset, column, target.parent) if dataset is not None else None
    if guessed is not None and copy_data:
        guessed = replace(guessed, values={**guessed.values, "dataset": Path(str(dataset)).name})
    text = _text(run_files[template].read_text(encoding="utf-8"), name, guessed)
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        if copy_data:
            shutil.copyfile(str(dataset), target.parent / Path(str(dataset)).name)
        if guessed is not None and guessed.criteria:
            write_whole(target.parent / CRITERIA, guessed.criteria)
        write_whole(target, text)
    if guessed is not None:
        _told(guessed, dataset, copied=copy_data)
    print(f"{target}\nthen: judge run {target.parent} --dry-run")


def _list(run_files: Mapping[str, Path]) -> None:
    width = max(map(len, run_files))
    for key, path in run_files.items():
        title = path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        print(f"{key.ljust(width)}  {title}")


def _told(guessed: Guessed, dataset: str | None, *, copied: bool) -> None:
    if not copied:
        _trust(dataset)
    print("\n".join((guessed.sentence, *guessed.read_as)))
    if (guessed.values.get("columns") or {}).get("rater") == "=unknown":
        print(
            "who gave which rating is taken for unknown: no person stands beside a judge, and whether it may replace "
            "one is not tested; where each column is one person's, take rater: =unknown out of run.yaml"
        )
    if Path(guessed.values["dataset"]).is_absolute():
        print("run.yaml names a path of this machine: with --copy-data it names a copy beside it")


def _trust(dataset: str | None) -> None:
    """Let runs read a dataset file of the user, which may lie outside the run's folder."""
    import contextlib

    from judge.base.files import trust

    if dataset is not None and Path(dataset).is_file():
        with contextlib.suppress(OSError):
            trust(Path(dataset))


def _guessed(dataset: str, column: list[str] | None, folder: Path) -> Guessed:
    from judge.inputs.datasets.files.column_guess import column_options

    return guess_dataset(dataset, column_options(column), folder)


def _text(template: str, name: str, guessed: Guessed | None) -> str:
    """The template's text with the new name and the guessed values."""
    import yaml

    values: dict[str, Any] = yaml.safe_load(template)
    comments = comments_of(template)
    head = [line for line in template.splitlines() if line.startswith("#") and not line.startswith("# base_url")]
    values["name"] = name
    if guessed is not None:
        head[0] = f"# Stories of {guessed.sentence}"
        for key in ("dataset", "criteria"):
            comments.pop(key, None)
        values |= guessed.values
        comments |= guessed.comments
    return definition_text(head, values, comments)
