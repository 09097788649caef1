"""What people said of explanations in an audit, from its file: beside run.yaml, or where `audit` says. Never judges."""

from __future__ import annotations

from markupsafe import Markup

from judge.audit.results.printed import tables
from judge.report.blocks import prose, shown
from judge.report.inputs import ReportInputs


def blocks(inputs: ReportInputs) -> list[Markup]:
    """The audit's own tables; without an audit, the commands that make one."""
    file, report = inputs.audit_file, inputs.audit_report
    if report is None and not inputs.explains:
        return [prose("These answers came without explanations: there is nothing to audit.")]
    if file is None or report is None:
        sentence = (
            "Nobody has audited the explanations: how often they contradict themselves, claim what the story does not "
            "say, or say nothing is not known. These commands draw a sample and open a page to judge it on:"
        )
        commands = f"judge audit sample {inputs.named_runs}\njudge audit serve {inputs.named_runs}"
        return [prose(sentence), Markup("<pre>{}</pre>").format(commands)]
    return [prose(f"From {file.name}."), *(shown(table, inputs) for table in tables(report))]
