"""What people said of explanations in an audit, from its file: beside run.yaml, or where `audit` says. Never judges."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from judge.report.blocks import prose, shown
from judge.report.inputs import ReportInputs

FILE = "audit.sqlite"


def file_of(inputs: ReportInputs) -> Path | None:
    """The audit's file: the one named, else one beside the run's definition; None where there is none."""
    if inputs.options.audit is not None:
        return Path(inputs.options.audit)
    places = [place / FILE for folder in inputs.folders for place in (folder.path.parent, folder.path)]
    return next((place for place in places if place.is_file()), None)


def blocks(inputs: ReportInputs) -> list[Markup]:
    """The audit's own tables; without an audit, the commands that make one."""
    file = file_of(inputs)
    if file is None and not inputs.explains:
        return [prose("These answers came without explanations: there is nothing to audit.")]
    if file is None:
        sentence = (
            "Nobody has audited the explanations: how often they contradict themselves, claim what the story does not "
            "say, or say nothing is not known. These commands draw a sample and open a page to judge it on:"
        )
        commands = f"judge audit sample {inputs.named_runs}\njudge audit serve {inputs.named_runs}"
        return [prose(sentence), Markup("<pre>{}</pre>").format(commands)]
    from judge.audit.file.store import AuditStore
    from judge.audit.results import report

    with AuditStore.open(file, writing=False) as store:
        tables = report.tables(store)
    return [prose(f"From {file.name}."), *(shown(table, inputs) for table in tables)]
