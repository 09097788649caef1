"""Exports an audit as Label Studio tasks with a labeling configuration, and imports Label Studio's JSON export. Facts
that the audit hides from annotators are not exported. A category without a choice is not answered; cancelled
annotations are ignored."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import DataError
from judge.base.files import write_whole
from judge.explanations.audit.answers_file import FORMAT, Given, Merged, import_answers, merge
from judge.explanations.audit.items import Category, Form, Item, visible_facts
from judge.explanations.audit.store import AuditSnapshot, AuditStore
from judge.explanations.audit.study_csv import create_from_study_csv, import_study_csv, is_study_csv
from judge.inputs.datasets.files.source_file import read_bytes, read_json

YES, NO = "yes", "no"
_NOTE = "note"
_SHOWN = (
    ("story_prompt", "Story-prompt"),
    ("story", "Story"),
    ("reference", "Reference story"),
    ("criterion", "Criterion"),
    ("guidelines", "Guidelines"),
    ("facts", "Judge"),
    ("explanation", "Explanation to be judged"),
)


def write_tasks(audit: AuditSnapshot, path: Path) -> Path:
    """Write tasks to `path` and the labeling configuration next to it (.xml); returns the configuration's path."""
    tasks = [{"data": _data(item, audit.blind)} for item in audit.items]
    shown = [key for key, _ in _SHOWN if any(task["data"][key] for task in tasks)]
    config = path.with_suffix(".xml")
    try:
        write_whole(path, orjson.dumps(tasks, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        write_whole(config, configuration(audit.categories, shown))
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", file=path) from error
    return config


def configuration(categories: Sequence[Category], shown: Sequence[str]) -> str:
    """XML of the labeling configuration: texts named in `shown`, a yes/no question for each category, and a note."""
    view = ET.Element("View")
    for key, title in _SHOWN:
        if key in shown:
            ET.SubElement(view, "Header", value=title)
            ET.SubElement(view, "Text", name=key, value=f"${key}")
    for category in categories:
        ET.SubElement(view, "Header", value=f"{category.label}: {category.question}")
        asked = {"name": category.key, "toName": "explanation", "choice": "single", "required": "true"}
        choices = ET.SubElement(view, "Choices", asked | {"showInline": "true"})
        ET.SubElement(choices, "Choice", value=YES, hotkey=category.press)
        ET.SubElement(choices, "Choice", value=NO)
    ET.SubElement(view, "TextArea", name=_NOTE, toName="explanation", placeholder="Note")
    ET.indent(view)
    return ET.tostring(view, encoding="unicode") + "\n"


def is_export(content: Any) -> bool:
    """Whether the content of a JSON file is a list of Label Studio tasks."""
    return isinstance(content, list) and bool(content) and all(isinstance(t, dict) and "data" in t for t in content)


def import_annotations(store: AuditStore, path: Path, *, replace: bool = False) -> Merged:
    """Import annotations from Label Studio's JSON export of an audit's tasks. Annotators are named by their e-mail
    address if the export has it, otherwise by their number. Raises DataError for tasks of another audit, two
    annotations of one item by one annotator, and different answers without `replace`."""
    content = read_json(path)
    if not is_export(content):
        raise DataError("is not Label Studio's JSON export: a list of tasks with data and annotations", file=path)
    numbers = {item.key: item.id for item in store.items()}
    keys = {category.key for category in store.categories}
    given: dict[tuple[str, int], Given] = {}
    for row, task in enumerate(content, start=1):
        key = task["data"].get("key") if isinstance(task["data"], dict) else None
        if key not in numbers:
            raise DataError("the audit does not hold this task's item", file=path, row=f"{row} (task)", found=key)
        for annotation in task.get("annotations") or ():
            if annotation.get("was_cancelled"):
                continue
            answer = _given(annotation, numbers[key], keys, path, row)
            if (answer.annotator, answer.item) in given:
                raise DataError(
                    f"{answer.annotator} has annotated item {answer.item} twice", file=path, row=f"{row} (task)"
                )
            given[answer.annotator, answer.item] = answer
    return merge(store, list(given.values()), path, replace=replace)


def _data(item: Item, blind: Sequence[str]) -> dict[str, Any]:
    subject, criterion = item.subject, item.subject.criterion
    facts = visible_facts(subject, blind)
    guidelines = ""
    if criterion is not None:
        points = criterion.scale.points()
        named = criterion.scale.labels or [f"{point:g}" for point in points]
        guidelines = "\n".join(f"{name}: {text}" for name, text in zip(named, criterion.guidelines, strict=False))
    return {
        "item": item.id,
        "key": item.key,
        "story_prompt": subject.story_prompt or "",
        "story": subject.text or "",
        "reference": subject.shown_reference or "",
        "criterion": "" if criterion is None else f"{criterion.name}: {criterion.definition}".removesuffix(": "),
        "guidelines": guidelines,
        "facts": ", ".join(f"{name.replace('_', ' ')}: {subject.labelled(v)}" for name, v in facts.items()),
        "explanation": subject.explanation,
    }


def _given(annotation: Mapping[str, Any], item: int, keys: set[str], path: Path, row: int) -> Given:
    values: dict[str, int] = {}
    note = ""
    for result in annotation.get("result") or ():
        name, value = result.get("from_name"), result.get("value") or {}
        if name == _NOTE:
            text = value.get("text") or []
            note = text if isinstance(text, str) else "\n".join(map(str, text))
        elif name in keys:
            choices = value.get("choices") or []
            if choices not in ([YES], [NO]):
                raise DataError("not an answer", file=path, row=f"{row} (task)", column=name, found=choices)
            values[name] = int(choices == [YES])
        else:
            raise DataError(
                "no category of the audit has this name",
                file=path,
                row=f"{row} (task)",
                found=name,
                allowed=", ".join(keys),
            )
    seconds = annotation.get("lead_time")
    return Given(
        _annotator(annotation, path, row), item, values, note or None, None if seconds is None else float(seconds)
    )


def _annotator(annotation: Mapping[str, Any], path: Path, row: int) -> str:
    who = annotation.get("completed_by")
    if isinstance(who, Mapping):
        who = who.get("email") or who.get("id")
    if who is None or isinstance(who, bool):
        raise DataError("an annotation does not say who made it (completed_by)", file=path, row=f"{row} (task)")
    return f"Label Studio {who}" if isinstance(who, int) else str(who)


# Imports a file of answers into an audit. The file format is recognised by its content.

_KNOWN = "the study's CSV, Label Studio's JSON export, or the JSON that the static pages save"


def import_file(audit: Path, path: Path, *, replace: bool = False, form: Form | None = None) -> tuple[Merged, bool]:
    """Counts of the answers imported from `path`, and whether the import created the audit. A missing audit is created
    from a CSV in the HANNA study's format, the only one with explanations; `form` then defines the columns' questions.
    Raises DataError for an unknown format, and for different answers without `replace`."""
    # The first sign decides; a byte-order mark (Excel writes one) and empty lines may stand before it.
    json_first = read_bytes(path)[:1000].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{")
    study = not json_first and is_study_csv(path)
    if not json_first and not study:
        raise DataError("is no file of answers", file=path, allowed=_KNOWN)
    is_new = not audit.exists()
    if is_new and not study:
        raise DataError("does not exist", file=audit, hint="judge audit sample RUN makes an audit")
    opened = create_from_study_csv(audit, path, form=form) if is_new else AuditStore.open(audit)
    try:
        with opened as store:
            if study:
                return import_study_csv(store, path, replace=replace), is_new
            content = read_json(path)
            if isinstance(content, dict) and str(content.get("format", "")).startswith(FORMAT.partition("/")[0]):
                return import_answers(store, path, replace=replace), is_new
            if is_export(content):
                return import_annotations(store, path, replace=replace), is_new
    except BaseException:
        if is_new:
            audit.unlink(missing_ok=True)
        raise
    raise DataError("is no file of answers", file=path, allowed=_KNOWN)
