"""Commands `judge import` and `judge export`: ratings, answers, results and requests of other programs and for them.
The forms are in `judge.exchange`."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer

from judge.analysis.options.alternatives import options_of, refuse
from judge.analysis.options.table_options import from_words
from judge.base.errors import SpecError, unknown_value
from judge.base.wording import Advice
from judge.cli.declared import given, offered, with_parameters
from judge.cli.table_options import asked, with_flags
from judge.exchange import export_forms as outputs
from judge.exchange.batch import requests
from judge.exchange.bundle import archive
from judge.exchange.reader import AS, reader_of, readers
from judge.inputs.datasets.locate import released

# What `judge import` and `judge export` share: a command whose forms are records, chosen by ``--as``.

_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def command_of(
    name: str,
    text: str,
    parts: str,
    forms: Mapping[str, Any],
    do: Callable[..., None],
    *,
    output: str,
    chooses: str,
) -> Callable[..., Any]:
    """The command `name`, which takes several `parts`, ``-o``, ``--as`` and the options of all forms. `do` gets the
    parts, the output, the word of ``--as`` and the given options. `output` and `chooses` are help texts."""
    options = options_of(forms)

    def command(**values: Any) -> None:
        _refuse_former(name, values["parts"], forms)
        do(values["parts"], values["output"], values[AS], given(values["context"], options, values))

    width = max(map(len, forms))
    lines: list[str] = []
    for each in forms.values():
        lines += textwrap.wrap(f"{each.name.ljust(width)}  {each.text}", 76, subsequent_indent=" " * (width + 2))
    command.__doc__ = "\n\n".join([text.split("\n\n", 1)[0], "\b\n" + "\n".join(lines), *text.split("\n\n")[1:]])
    command.__name__ = name
    own = [
        inspect.Parameter("context", _KEYWORD, annotation=typer.Context),
        inspect.Parameter("parts", _KEYWORD, annotation=Annotated[list[str], typer.Argument(metavar=parts)]),
        _optional("output", Path, typer.Option("-o", "--output", help=output)),
        _optional(AS, str, typer.Option("--as", metavar="FORM", help=chooses)),
    ]
    return with_parameters(command, [*own, *offered(options.values())])


def _optional(name: str, kind: type, option: Any) -> inspect.Parameter:
    return inspect.Parameter(name, _KEYWORD, default=None, annotation=Annotated[kind | None, option])


def _refuse_former(name: str, parts: Sequence[str], forms: Mapping[str, Any]) -> None:
    """SpecError where the first part is a form, as if a command, and no file."""
    form, *others = parts
    if form not in forms or Path(form).exists():
        return
    if form == "batch" and name == "import" and others:
        run, *others = others
        form = f"batch -o {run}"
    line = f"judge {name} {' '.join(others) or 'FILE'} --as {form}"
    raise SpecError(f"{parts[0]!r} is a form and no file", hint=f"{line}")


def words_of(forms: Mapping[str, Any], name: str, said: Mapping[str, Any]) -> Any:
    """The given options of a form. Raises SpecError for one that it refuses."""
    refuse(said, forms, AS, name)
    return from_words(forms[name].options, **said)


def say(line: str) -> None:
    """Print a line, with names of options written as flags."""
    typer.echo(with_flags(line))


_TEXT = """Import ratings, comparisons and answers made elsewhere, as result folders. What a FILE is, is seen in it:

FILE may also be a file set that judge data list names, such as hanna_scores. Judges' ratings outside the scale of
--criteria count as missing; errors, refusals and blocked answers are counted, and are no ratings. Importing again
replaces what was imported, and adds to a run only what it lacks.

Example: judge import results.json --column story=vars.id --criteria hanna --rescale 0-1

Example: judge import samples_rate_*.jsonl --column story=doc.id --column people=target --set scale=1-5

Example: judge import scores.csv --dataset mans_roc --criteria overall -o runs/scores

Example: judge import wide.xlsx --column story=id --column ratings.Coherence=coh --column judge==gpt-4

Example: judge import results.jsonl -o runs/hanna-api

Example: judge import hanna_scores -o runs/hanna-scores

Example: judge import annotations_gpt4.jsonl --judge gpt4 -o runs/ttcw-gpt4"""


def _import(parts: Sequence[str], output: Path | None, named: str | None, said: Mapping[str, Any]) -> None:
    files = [file for part in parts for file in released(part)]
    reader = reader_of(files, named)
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    if named is None:
        say(f"{files[0]}{more}: taken for {reader.name}, {reader.text}")
    asked(lambda words: reader.read(files, words, output, say), words_of(readers(), reader.name, said))


import_ = command_of(
    "import",
    _TEXT,
    "FILE...",
    readers(),
    _import,
    output="result folder to write; default: runs/FILE; of a batch: the run",
    chooses="form of the files, where it cannot be seen",
)


# The forms of export by name.
FORMS = MappingProxyType({form.name: form for form in (*outputs.OUTPUTS, *archive.OUTPUTS, *requests.OUTPUTS)})

_EXPORT_TEXT = """Write runs in a form for other programs; nothing is uploaded. --as chooses the form:

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


export = command_of(
    "export",
    _EXPORT_TEXT,
    "RUN...",
    FORMS,
    _export,
    output="file to write, or folder, which must not exist, or be empty",
    chooses="form to write; one must be named",
)
