"""Imports a file of answers into an audit. The file format is recognised by its content."""

from __future__ import annotations

from pathlib import Path

from judge.base.errors import DataError
from judge.explanations.audit.exchange.answers_file import FORMAT, import_answers
from judge.explanations.audit.exchange.label_studio import import_annotations, is_export
from judge.explanations.audit.exchange.merging import Merged
from judge.explanations.audit.exchange.study_csv import create_from_study_csv, import_study_csv, is_study_csv
from judge.explanations.audit.file.categories import Form
from judge.explanations.audit.file.store import AuditStore
from judge.inputs.datasets.files.source_file import read_bytes, read_json

_KNOWN = "the study's CSV, Label Studio's JSON export, or the JSON that the static pages save"


def import_file(audit: Path, path: Path, *, replace: bool = False, form: Form | None = None) -> tuple[Merged, bool]:
    """Import the answers in the file `path` into the audit file `audit`. Returns counts of the imported answers, and
    whether the import created the audit.

    If the audit does not exist, it is created from the file. The file must then be a CSV in the format of the HANNA
    study, because only that format contains the explanations, and `form` defines the question of each column. With
    `replace`, answers in the file replace different answers in the audit; otherwise different answers raise DataError.
    DataError is also raised for an unknown format.
    """
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
