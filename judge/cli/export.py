"""Command `judge export`: writes ratings, results or missing requests for other programs. The forms are in
`judge.exchange`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from judge.base.errors import SpecError, unknown_value
from judge.base.wording import Advice
from judge.cli.import_ import command_of, say, words_of
from judge.exchange import export_forms as outputs
from judge.exchange.batch import requests
from judge.exchange.bundle import archive
from judge.exchange.reader import AS

# The forms of export by name.
FORMS = MappingProxyType({form.name: form for form in (*outputs.OUTPUTS, *archive.OUTPUTS, *requests.OUTPUTS)})

_TEXT = """Write runs in a form for other programs; nothing is uploaded. --as chooses the form:

hub, irw and eee write a new folder; the others a file, whose name -o may change. People stand under pseudonyms, and
missing ratings are left out or null, never invented. A bundle works while a run is being written, holds no keys, and
judge status FILE.zip --verify checks it. A batch has the requests that judge run would send, 50,000 lines and 200 MB a
file at most; judge import reads its results, and the folder of hub.

Example: judge export runs/demo --as hub -o demo-ratings

Example: judge export runs/demo --as irw -o demo-irw

Example: judge export runs/demo --as metrics -o metrics.json

Example: judge export runs/demo --as eee -o demo-eee --set organization="My lab"

Example: judge export runs/demo --as bibtex -o references.bib

Example: judge export storyer_pairs --as trl -o pairs.jsonl

Example: judge export runs/hanna --as bundle -o hanna-artifact.zip

Example: judge export runs/hanna-api --as batch -o hanna.jsonl"""


def _export(runs: Sequence[str], output: Path | None, named: str | None, said: Mapping[str, Any]) -> None:
    if named is None:
        raise SpecError(Advice(f"judge export needs {{{AS}}}", **{AS: "FORM"}), hint=f"forms: {', '.join(FORMS)}")
    if named not in FORMS:
        raise unknown_value(AS, named, FORMS)
    FORMS[named].write(runs, output, words_of(FORMS, named, said), say)


app = command_of(
    "export",
    _TEXT,
    "RUN...",
    FORMS,
    _export,
    output="file to write, or folder, which must not exist, or be empty",
    chooses="form to write; one must be named",
)
