"""The report as one self-contained HTML file, without links to other files and with only its own script.

The page's own policy allows the one script by its hash: a story that got past escaping would still not run.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from judge.fingerprint import sha256_script
from judge.pages import environment, stylesheet
from judge.redaction import redact
from judge.report.blocks import Section
from judge.report.inputs import ReportInputs
from judge.version import __version__

_FOLDER = Path(__file__).parent


def html(inputs: ReportInputs, sections: Sequence[Section]) -> str:
    """The whole page."""
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
    """The page's title: the one given, or one made from the runs."""
    if inputs.options.title:
        return inputs.options.title
    datasets = ", ".join(dict.fromkeys(fact.dataset for fact in inputs.facts))
    judges = tuple(dict.fromkeys((*inputs.judges, *(fact.judge for fact in inputs.compared_facts))))
    who = ", ".join(judges) if len(judges) <= 3 else f"{len(judges)} judges"
    return f"{who or 'No judge'} on {datasets}"


def quoted(arguments: Sequence[str]) -> str:
    """A command line as one would type it, without keys."""
    return redact(" ".join(["judge", *map(shlex.quote, arguments)]))
