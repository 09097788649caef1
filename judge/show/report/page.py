"""Renders the report as one self-contained HTML file, without links to other files and with one script of its own. The
content security policy allows only this script, by its hash: one in a story would not run even if not escaped."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from judge.base.fingerprint import sha256_script
from judge.base.redaction import redact
from judge.show.pages import environment, stylesheet
from judge.show.report.blocks import Section
from judge.show.report.inputs import ReportInputs
from judge.version import __version__

_FOLDER = Path(__file__).parent


def html(inputs: ReportInputs, sections: Sequence[Section]) -> str:
    script = (_FOLDER / "report.js").read_text(encoding="utf-8")
    style = stylesheet() + (_FOLDER / "report.css").read_text(encoding="utf-8")
    template = environment(_FOLDER / "templates").get_template("report.html")
    return template.render(
        title=title(inputs),
        sections=sections,
        # Our own files: the only parts of the page that are not escaped, beside what the charts build.
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        hash=sha256_script(script),
        version=__version__,
        command=inputs.options.command,
        options=inputs.options,
        runs=[str(run) for run in inputs.runs],
    )


def title(inputs: ReportInputs) -> str:
    """The title in the options, or one made of judges and datasets."""
    if inputs.options.title:
        return inputs.options.title
    datasets = ", ".join(dict.fromkeys(fact.dataset for fact in inputs.facts))
    judges = tuple(dict.fromkeys((*inputs.judges, *(fact.judge for fact in inputs.compared_facts))))
    who = ", ".join(judges) if len(judges) <= 3 else f"{len(judges)} judges"
    return f"{who or 'No judge'} on {datasets}"


def quoted(arguments: Sequence[str]) -> str:
    """A `judge` command line with shell quoting, and with API keys masked."""
    return redact(" ".join(["judge", *map(shlex.quote, arguments)]))
