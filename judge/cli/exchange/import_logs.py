"""Commands `judge import inspect`, `judge import lm-eval` and others: import the logs of other evaluation tools. The
implementation is in `judge.exchange.logs`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from judge.exchange.imports.imported_folder import Import
    from judge.exchange.logs.as_import import LogOptions
    from judge.exchange.logs.asked import Tool
    from judge.records import Scale
    from judge.run_folder import ResultFolder

Say = Callable[["ResultFolder", "Import"], None]

_Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="log files of one tool")]
_Output = Annotated[Path | None, typer.Option("-o", "--output", help="result folder to write; default: runs/FILE")]
_Joined = Annotated[
    str | None,
    typer.Option("--dataset", help="dataset whose texts, systems and people's ratings are joined by the story's id"),
]
_Criteria = Annotated[str | None, typer.Option("--criteria", help="criteria set that gives scales and labels")]
_Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="FIELD=PATH",
        help="path of a field in a record: story, story_prompt, system, text, judge, eval_prompt, rating, "
        "explanation, people; FIELD==TEXT is a constant",
    ),
]
_Names = Annotated[
    list[str] | None,
    typer.Option("--criterion", metavar="NAME=NAME_IN_LOG", help="name of a criterion, and its name in the log"),
]
_LeaveOut = Annotated[
    list[str] | None, typer.Option("--leave-out", metavar="CRITERION,...", help="criteria of the log that are left out")
]
_Labels = Annotated[
    list[str] | None,
    typer.Option("--labels", metavar="[CRITERION=]WORD,WORD", help="labels of scores that are words, lowest first"),
]
_ScaleText = Annotated[
    str | None,
    typer.Option("--scale", metavar="LOW-HIGH[:STEP]", help="scale of numeric scores that have none in --criteria"),
]
_Rescale = Annotated[
    str | None,
    typer.Option(
        "--rescale", metavar="LOW-HIGH", help="range of judges' scores (such as 0-1), mapped onto the criterion's scale"
    ),
]
_RescalePeople = Annotated[
    str | None,
    typer.Option(
        "--rescale-people",
        metavar="LOW-HIGH",
        help="range of people's ratings in the log, mapped onto the criterion's scale",
    ),
]
_Notes = Annotated[
    list[str] | None, typer.Option("--note", help="note printed under every table; may be given several times")
]
_OfOutputs = Annotated[
    str,
    typer.Option(
        "--judged",
        metavar="WHAT",
        help="texts that are judged: outputs that the log's model wrote, or inputs that it was shown",
    ),
]

_SUMMARIES = {
    "inspect": (
        "Import scores of inspect's .eval or JSON logs. Grades C, P, I become labels; N, failures, blocks are counted.",
        "judge import inspect logs/2026-01-01_task.eval --column story=sample.id -o runs/graded",
    ),
    "lm-eval": (
        "Import samples of lm-eval. The model's filtered answer is the rating; with --judged outputs, metrics are.",
        "judge import lm-eval samples_rate_*.jsonl --column story=doc.id --column people=target --scale 1-5",
    ),
    "promptfoo": (
        "Import assertions of promptfoo's results (.json, .jsonl). A 0 of a grader that failed is no score.",
        "judge import promptfoo results.json --column story=vars.id --criteria hanna --rescale 0-1",
    ),
    "deepeval": (
        "Import metrics of deepeval's test runs. A metric with an error has no score, even where a number is given.",
        "judge import deepeval test_run.json --criterion 'Coherence=Coherence [GEval]' --criteria hanna --rescale 0-1",
    ),
    "mlflow": (
        "Import assessments of MLflow's traces (Trace.to_json, one a line). LLM_JUDGE, CODE are judges, HUMAN people.",
        "judge import mlflow traces.jsonl --column story=info.tags.story -o runs/traces",
    ),
    "phoenix": (
        "Import span annotations of Phoenix (JSON of its API, or the client's data frame as CSV). HUMAN are people.",
        "judge import phoenix span_annotations.json --column judge==gpt-4o --scale 1-5",
    ),
    "langfuse": (
        "Import scores of Langfuse (JSON of its API). EVAL and API are judges, ANNOTATION are people.",
        "judge import langfuse scores.json --leave-out genre --column judge==gpt-4o --scale 1-5",
    ),
}


_PREFERENCES = {
    "alpaca-eval": (
        "Import AlpacaEval's annotations.json as preferences, for judge rank. Nulls and unoffered ties are lost.",
        "judge import alpaca-eval annotations.json -o runs/alpaca",
    ),
    "mt-bench": (
        "Import MT-Bench's pairwise judgments by models (two orders each) and people as preferences, for judge rank.",
        "judge import mt-bench gpt-4_pair.jsonl human_judgments.jsonl -o runs/mt-bench",
    ),
}


def register(app: typer.Typer, say: Say) -> None:
    """Add an import command to `app` for each supported tool; `say` prints what was imported."""
    for name, (summary, example) in _PREFERENCES.items():
        app.command(name, help=f"{summary}\n\nExample: {example}")(_of_preferences(name))
    for name, (summary, example) in _SUMMARIES.items():
        usual = {"inspect": "outputs", "lm-eval": "inputs"}.get(name)
        command = _plain(name, say) if usual is None else _of_outputs(name, usual, say)
        app.command(name, help=f"{summary}\n\nExample: {example}")(command)


def _of_preferences(name: str) -> Callable[..., None]:
    def command(
        files: _Files,
        output: _Output = None,
        criterion: Annotated[
            str, typer.Option("--criterion", help="criterion that the comparisons are about")
        ] = "Overall",
        called: Annotated[
            str | None, typer.Option("--name", help="name of the run and the dataset; default: the folder's name")
        ] = None,
        note: _Notes = None,
    ) -> None:
        from judge.exchange.imports.imported_preferences import write_preferences
        from judge.exchange.logs.as_preferences import read_preferences
        from judge.exchange.logs.tools import PREFERENCE_TOOLS

        tool, folder = PREFERENCE_TOOLS[name], output or Path("runs") / files[0].stem
        imported = read_preferences(tool, files, called or folder.name, criterion, note or ())
        path = write_preferences(folder, imported).path
        judged = int((imported.frame["source"] == "judge").sum())
        typer.echo(f"{path}: {judged} preferences by {imported.judge}, {len(imported.frame) - judged} by people")
        for sentence in imported.notes:
            typer.echo(f"· {sentence}")
        _identify(tool.name, imported.log, tool.identified, tool.tried)
        typer.echo(f"next: judge rank {path}")

    return command


def _identify(name: str, log: Mapping[str, Any], identified: Mapping[str, str], tried: str) -> None:
    """Print, for each identifying field (such as the story or the judge), where in the tool's log it was read. `tried`
    names the tool's versions that are covered by tests.
    """
    version = log.get("version")
    typer.echo(f"as {name}{f' {version}' if version else ''} told it (read in tests: {tried}):")
    for field, words in identified.items():
        typer.echo(f"  {field}: {words}")


def _plain(name: str, say: Say) -> Callable[..., None]:
    def command(
        files: _Files,
        output: _Output = None,
        dataset: _Joined = None,
        criteria: _Criteria = None,
        column: _Columns = None,
        criterion: _Names = None,
        leave_out: _LeaveOut = None,
        labels: _Labels = None,
        scale: _ScaleText = None,
        rescale: _Rescale = None,
        rescale_people: _RescalePeople = None,
        note: _Notes = None,
    ) -> None:
        given = {"column": column, "criterion": criterion, "leave_out": leave_out, "labels": labels, "scale": scale}
        given |= {"rescale": rescale, "rescale_people": rescale_people, "note": note}
        _import(name, say, files, output, dataset, criteria, given)

    return command


def _of_outputs(name: str, usual: str, say: Say) -> Callable[..., None]:
    def command(
        files: _Files,
        output: _Output = None,
        judged: _OfOutputs = usual,
        dataset: _Joined = None,
        criteria: _Criteria = None,
        column: _Columns = None,
        criterion: _Names = None,
        leave_out: _LeaveOut = None,
        labels: _Labels = None,
        scale: _ScaleText = None,
        rescale: _Rescale = None,
        rescale_people: _RescalePeople = None,
        note: _Notes = None,
    ) -> None:
        given = {"column": column, "criterion": criterion, "leave_out": leave_out, "labels": labels, "scale": scale}
        given |= {"rescale": rescale, "rescale_people": rescale_people, "note": note, "judged": judged}
        _import(name, say, files, output, dataset, criteria, given)

    return command


def _import(
    name: str,
    say: Say,
    files: list[Path],
    output: Path | None,
    dataset: str | None,
    criteria: str | None,
    given: dict[str, Any],
) -> None:
    from judge.cli.option_words import complaint, mend
    from judge.criteria import load_criteria
    from judge.datasets import open_dataset
    from judge.errors import SpecError
    from judge.exchange.imports.imported_folder import write_folder
    from judge.exchange.logs.as_import import read_logs
    from judge.exchange.logs.tools import TOOLS

    tool, folder = TOOLS[name], output or Path("runs") / files[0].stem
    known_criteria = load_criteria(criteria).criteria if criteria else ()
    opened = open_dataset(dataset, criteria=known_criteria) if dataset else None
    try:
        options = _options(tool, known_criteria, opened, given)
        imported = read_logs(tool, files, folder.name, options, opened)
    except SpecError as error:
        # Options that cannot be, or change nothing, are the command line's mistake, as a wrong word is.
        raise typer.BadParameter("; ".join(filter(None, [complaint(error), mend(error)]))) from error
    say(write_folder(folder, imported), imported)
    _identify(tool.name, imported.log or {}, tool.identified, tool.tried)


def _options(tool: Tool, known_criteria: Any, opened: Any, given: dict[str, Any]) -> LogOptions:
    from judge.cli.stories.data import column_options
    from judge.datasets.label_scales import LabelScales, is_key, label_scales
    from judge.errors import unknown_value
    from judge.exchange.logs.as_import import LogOptions
    from judge.exchange.logs.asked import Asked
    from judge.exchange.logs.places import Places
    from judge.exchange.logs.values import Scaling

    judged = given.get("judged") or tool.judged[0]
    if judged not in tool.judged:
        raise unknown_value("judged", judged, tool.judged)
    columns = column_options(given["column"], given["labels"]) or {}
    labels = opened.labels if opened is not None else LabelScales()
    for more in (label_scales(columns), LabelScales.of_criteria(known_criteria)):
        labels = labels.with_given(more, opened.name if opened is not None else "the log")
    return LogOptions(
        asked=Asked(Places({key: path for key, path in columns.items() if not is_key(key)}), judged),
        scaling=Scaling(
            known_criteria,
            labels,
            _scale(given["scale"]),
            _range("rescale", given["rescale"]),
            _range("rescale_people", given["rescale_people"]),
        ),
        names=_names(given["criterion"]),
        leave_out=[name.strip() for several in given["leave_out"] or () for name in several.split(",")],
        notes=given["note"] or (),
    )


_NUMBER = r"-?\d+(?:\.\d+)?"


def _range(field: str, text: str | None) -> tuple[float, float] | None:
    from judge.errors import OptionError

    if text is None:
        return None
    match = re.fullmatch(f"({_NUMBER})-({_NUMBER})", text)
    if match is None or not float(match[1]) < float(match[2]):
        raise OptionError(field, text, "is no range; write the lowest, a hyphen and the highest, such as 0-1")
    return float(match[1]), float(match[2])


def _scale(text: str | None) -> Scale | None:
    from judge.errors import OptionError
    from judge.records import Scale

    if text is None:
        return None
    ends, _, step = text.partition(":")
    low, high = _range("scale", ends) or (0.0, 0.0)
    if step and (not re.fullmatch(_NUMBER, step) or float(step) <= 0):
        raise OptionError("scale", text, "has a step that is no number above 0, such as 1-5:0.5")
    return Scale(low, high, float(step) if step else 1)


def _names(options: list[str] | None) -> dict[str, str]:
    from judge.errors import SpecError

    names: dict[str, str] = {}
    for option in options or []:
        own, _, logged = option.partition("=")
        if not own or not logged:
            raise SpecError(f"--criterion {option!r} is not NAME=NAME_IN_LOG", hint="e.g. --criterion Coherence=coh")
        names[logged] = own
    return names
