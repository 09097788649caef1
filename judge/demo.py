"""The packaged demo: runs on packaged stories, with the control or a small language model. The stories' labels were not
given by people. Tables and pages must not present them as human ratings."""

from __future__ import annotations

from pathlib import Path

from judge.asking.execution.session import Result, Sitting, sit
from judge.asking.run_definition.spec import load_run_spec
from judge.asking.run_folder import folder_for
from judge.base.errors import SpecError, unknown
from judge.base.files import shipped

# Judge -> the packaged runs that it is shown with; tables are of the first, the page is of all.
JUDGES = {"surface": ("demo",), "local/smollm2": ("demo-llm", "demo-llm-words")}


def run_demo(folder: Path, run: str = "demo", *, quiet: bool = False) -> tuple[Path, Result]:
    """Result folder and outcome of the demo `run`, whose run.yaml is copied unless there is one."""
    definition = folder / "run.yaml"
    if not definition.exists():
        folder.mkdir(parents=True, exist_ok=True)
        definition.write_bytes((shipped("runs") / run / "run.yaml").read_bytes())
    spec = load_run_spec(definition)
    result = folder_for(definition, spec.name, spec.judge, spec.revision)
    return result.path, sit(Sitting(spec, folder, result, quiet=quiet))


def run_demos(folder: Path, judge: str, *, quiet: bool = False) -> list[Path]:
    """Result folders of a judge's demos, the first in `folder`, others beside. Raises SpecError without a demo."""
    if judge not in JUDGES:
        raise SpecError(unknown("judge of a demo", judge, JUDGES), hint="for another judge: judge init my-run")
    first, *more = JUDGES[judge]
    places = [(folder, first), *((folder.with_name(folder.name + run.removeprefix(first)), run) for run in more)]
    return [run_demo(demo_folder, run, quiet=quiet)[0] for demo_folder, run in places]


def demo_report(folder: Path, *results: Path) -> Path:
    """Path of `report.html` in `folder`."""
    from judge.show.report import ReportInputs, ReportOptions
    from judge.show.report.blocks import quoted
    from judge.show.report.write import write_page

    output = folder / "report.html"
    runs = [str(result if len(results) > 1 else folder) for result in results]
    options = ReportOptions(command=quoted(["report", *runs, "-o", str(output)]))
    write_page(ReportInputs.read(results, options), output, quiet=True)
    return output
