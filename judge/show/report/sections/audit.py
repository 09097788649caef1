"""Section on people's audit of explanations, next to run.yaml or named by the option `audit`."""

from __future__ import annotations

from markupsafe import Markup

from judge.explanations.audit.results.printed import audit_tables
from judge.show.report.blocks import prose, shown
from judge.show.report.inputs import ReportInputs


def blocks(inputs: ReportInputs) -> list[Markup]:
    """The audit's tables, or, without an audit, the commands that make one."""
    file, report = inputs.audit_file, inputs.audit_report
    if report is None and not inputs.explains:
        return [prose("These answers have no explanations, so there is nothing to audit.")]
    if file is None or report is None:
        sentence = (
            "The explanations have not been audited, so it is unknown how often they contradict themselves, "
            "make claims that the story does not support, or are empty. "
            "These commands draw a sample and open a page to annotate it:"
        )
        commands = f"judge audit sample {inputs.named_runs}\njudge audit serve {inputs.named_runs}"
        return [prose(sentence), Markup("<pre>{}</pre>").format(commands)]
    return [prose(f"From {file.name}."), *(shown(table, inputs) for table in audit_tables(report))]
