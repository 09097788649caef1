"""Command `judge try`: has a judge rate one story or compare two, in the terminal or on a local page. The requests are
made in `judge.lab.trial`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge.base.printing.tables import Table
    from judge.base.records import Criterion, Judgment, Story, Verdict
    from judge.lab.trial.questions import Asking, Questions
    from judge.lab.trial.sheet import Answered, Compared, Rated, Sheet


# Results of a trial as tables: ratings by criterion and preferences by criterion, with the control's results beside
# them.

LENGTH = 48


def sheet_tables(sheet: Sheet) -> list[Table]:
    """Tables of ratings and of preferences, where the trial has any."""
    from judge.version import __version__

    signature = f"judge:{sheet.judge} stories:{1 if sheet.other is None else 2} asked:{sheet.asked} judge {__version__}"
    sheet_parts = []
    if sheet.rated:
        sheet_parts.append(_ratings(sheet, signature))
    if sheet.compared:
        sheet_parts.append(_preferences(sheet, signature))
    return sheet_parts


def _ratings(sheet: Sheet, signature: str) -> Table:
    from judge.base.printing.tables import Column, Table

    columns = [Column("criterion", "criterion"), Column("scale", "scale"), Column("rating", "rating", text=True)]
    if sheet.control:
        columns.append(Column("control", "control", text=True))
    if len({row.eval_prompt for row in sheet.rated}) > 1:
        columns.insert(1, Column("eval_prompt", "eval prompt"))
    columns += [Column("status", "status"), Column("explanation", "explanation", wrap=LENGTH)]
    notes = ["control: readable surface features, no language model; a judge that says no more reads no story"]
    return Table(
        f"{sheet.story.id}: ratings by {sheet.judge}",
        columns,
        [_rating(row) for row in sheet.rated],
        signature,
        notes if sheet.control else (),
    )


def _rating(row: Rated) -> dict[str, Any]:
    judgment = row.judgment
    return {
        "criterion": row.criterion.name,
        "eval_prompt": row.eval_prompt,
        "scale": row.scale,
        "rating": _number(row.criterion, judgment),
        "control": _number(row.criterion, row.control),
        "status": _status(judgment, row.error),
        "explanation": None if judgment is None else judgment.explanation,
    }


def _preferences(sheet: Sheet, signature: str) -> Table:
    from judge.base.printing.tables import Column, Table
    from judge.lab.trial.sheet import PREFERRED

    columns = [
        Column("criterion", "criterion"),
        Column("first", "shown first", wrap=20),
        Column("second", "shown second", wrap=20),
        Column("preferred", "preferred", wrap=24),
    ]
    if sheet.control:
        columns.append(Column("control", "control", wrap=24))
    if len({row.eval_prompt for row in sheet.compared}) > 1:
        columns.insert(1, Column("eval_prompt", "eval prompt"))
    columns.append(Column("explanation", "explanation, shown first", wrap=LENGTH))
    other = "" if sheet.other is None else sheet.other.id
    note = (
        f"shown first, second: whom the judge preferred where {sheet.story.id} stood there; preferred: in both orders"
    )
    names = PREFERRED | {"own": sheet.story.id, "other": other}
    return Table(
        f"{sheet.story.id} against {other}: preferences of {sheet.judge}",
        columns,
        [_preference(row, names) for row in sheet.compared],
        signature,
        [note],
    )


def _preference(row: Compared, names: Mapping[str, str]) -> dict[str, Any]:
    from judge.lab.trial.sheet import in_order

    first, second = row.orders
    return {
        "criterion": row.criterion.name,
        "eval_prompt": row.eval_prompt,
        "first": names[in_order(first, own_first=True)] if _read(first) else _status(first, row.errors[0]),
        "second": names[in_order(second, own_first=False)] if _read(second) else _status(second, row.errors[1]),
        "preferred": names[row.preferred],
        "control": names[row.by_control],
        "explanation": None if first is None else first.explanation,
    }


def _read(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.preference is not None


def _number(criterion: Criterion, judgment: Judgment | None) -> str | None:
    return None if judgment is None or judgment.rating is None else criterion.scale.text_of(judgment.rating)


def _status(reading: Judgment | Verdict | None, error: str | None) -> str:
    text = "not_answered" if reading is None else "; ".join([reading.status, *reading.flags])
    return text if error is None else f"{text}: {error}"


_ALL = "all"


_Story = Annotated[Path | None, typer.Argument(metavar="[STORY.txt]", help="text file with the story")]
_Judge = Annotated[str, typer.Option(help="judge to request: provider/model, or surface")]
_Against = Annotated[
    Path | None,
    typer.Option(metavar="OTHER.txt", help="text file with a second story, compared with the first in both orders"),
]
_EvalPrompts = Annotated[
    str | None,
    typer.Option(
        help="Eval-Prompts by name or file, separated by commas; default: ep1,ep3, or pair2 with --against. "
        "For several criteria, and on the page: ep2, and pair2 where there is a second story"
    ),
]
_Criterion = Annotated[
    str | None,
    typer.Option(help="criteria by name, separated by commas, or all  [default: Coherence, else the set's first]"),
]
_StoryPrompt = Annotated[str, typer.Option(help="story-prompt that the author was given")]
_Reference = Annotated[Path | None, typer.Option(help="file with the reference story")]
_Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="key of run.yaml with its value; may be given several times"),
]
_Form = Annotated[
    Literal["table", "json"] | None, typer.Option("--format", help="form of the answer  [default: table]")
]
_Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="JSON Lines file that the answers are appended to")
]
_Serve = Annotated[bool, typer.Option("--serve", help="local page to paste stories into, served until Ctrl-C")]
_Host = Annotated[
    str | None, typer.Option(help="address of the page; any other than loopback needs a key, which is printed")
]
_Port = Annotated[int | None, typer.Option(help="port of the page; 0: any free port  [default: 8765 or the next]")]
_Open = Annotated[bool, typer.Option("--open", help="browser window with the page, opened at the start")]


def try_(
    story: _Story = None,
    judge: _Judge = "surface",
    against: _Against = None,
    eval_prompts: _EvalPrompts = None,
    criterion: _Criterion = None,
    criteria: Annotated[str, typer.Option(help="criteria set")] = "hanna",
    story_prompt: _StoryPrompt = "",
    reference: _Reference = None,
    base_url: Annotated[str | None, typer.Option(help="address of the server")] = None,
    set_: _Set = None,
    form: _Form = None,
    output: _Output = None,
    serve: _Serve = False,
    host: _Host = None,
    port: _Port = None,
    open_: _Open = False,
) -> None:
    """Show a judge's answer about one story: the request as sent, the rating that was read, tokens and cost.

    With --against two stories are compared, in both orders. With several criteria (--criterion all) there is one table
    of ratings, and one of preferences, with those of the control judge.

    --serve opens a local page that does the same for stories pasted into it. It shows the price of an answer beside the
    button, and saves nothing unless -o names a file.

    Example: judge try story.txt --judge surface --eval-prompts ep1,ep2,ep3 --criterion Engagement

    Example: judge try story.txt --criteria storyer --criterion all --against other.txt

    Example: judge try --serve --judge openai/gpt-4o-mini --criteria storyer
    """
    from judge.lab.trial.questions import Asking

    asking = Asking(judge, criteria, None, (), base_url, tuple(set_ or ()))
    given = _Files(story, against, reference, story_prompt)
    names = tuple(name.strip() for name in eval_prompts.split(",")) if eval_prompts else ()
    if serve:
        _refuse("--serve", {"--criterion": criterion, "--format": form})
        _serve(asking, names, given, output, host, port, open_=open_)
        return
    _refuse("a trial in the terminal", {"--host": host, "--port": port, "--open": open_ or None})
    first = None if criterion else _usual(criteria)
    wanted = None if criterion == _ALL else tuple(part.strip() for part in (criterion or first or "").split(","))
    several = wanted is None or len(wanted) > 1
    asking = _asked_by(asking, names, wanted, several=several, compares=against is not None)
    answers, asked, control = _answers(asking, given, beside=several)
    _kept(answers, asking, output)
    if form == "json":
        _print_json(answers, asking, control)
    elif several:
        _print_sheet(asked, answers, control)
    else:
        from judge.cli import trial_panels

        trial_panels.show(answers)


class _Files:
    def __init__(self, story: Path | None, against: Path | None, reference: Path | None, story_prompt: str) -> None:
        self.story_prompt = story_prompt
        self._files = (story, against)
        self._reference = reference

    @property
    def stories(self) -> tuple[Story | None, Story | None]:
        """None for a file that was not named."""
        from judge.lab.trial.questions import read_story

        first, second = (
            None if file is None else read_story(file, self.story_prompt, self.reference) for file in self._files
        )
        return first, second

    @property
    def reference(self) -> str | None:
        from judge.lab.trial.questions import read_text

        return None if self._reference is None else read_text(self._reference)


def _refuse(where: str, given: dict[str, object]) -> None:
    """BadParameter for an option without effect on `where`."""
    for option, value in given.items():
        if value is not None:
            raise typer.BadParameter(f"has no effect on {where}", param_hint=option)


def _usual(criteria: str) -> str:
    """The criterion of a trial that names none."""
    from judge.inputs.criteria import load_criteria

    names = [each.name for each in load_criteria(criteria).criteria]
    return "Coherence" if "Coherence" in names else names[0]


def _asked_by(
    asking: Asking, names: tuple[str, ...], wanted: tuple[str, ...] | None, *, several: bool, compares: bool
) -> Asking:
    """Without `names`, defaults for `several` criteria, for comparisons and for a criterion without guidelines."""
    from dataclasses import replace

    from judge.inputs.criteria import load_criteria
    from judge.lab.trial.questions import COMPARES, RATES

    if not names and several:
        names = (RATES, COMPARES) if compares else (RATES,)
    if not names:
        picked = [one for each in wanted or () for one in load_criteria(asking.criteria).pick(each)]
        names = ("pair2",) if compares else ("ep1", "ep3" if all(each.guidelines for each in picked) else "ep2")
    return replace(asking, only=wanted, eval_prompts=names)


def _answers(asking: Asking, given: _Files, *, beside: bool) -> tuple[list[Answered], Questions, list[Answered] | None]:
    """The control's answers are None unless `beside`, or if it is the judge."""
    import asyncio
    import sys

    from judge.lab.trial.questions import expected_cost, questions
    from judge.lab.trial.sheet import ask_once

    story, other = given.stories
    if story is None:
        raise typer.BadParameter("name a text file with the story, or open a page with --serve", param_hint="STORY.txt")
    asked = questions(asking, story, other)
    if not beside:
        return asyncio.run(ask_once(asked)), asked, None
    sys.stderr.write(f"{asking.judge}: {expected_cost(asked).words}\n")
    answers = asyncio.run(ask_once(asked))
    control = None if asking.is_control else asyncio.run(ask_once(questions(asking.by_control, story, other)))
    return answers, asked, control


def _kept(answers: list[Answered], asking: Asking, output: Path | None) -> None:
    if output is not None:
        from judge.lab.trial.sheet import append, record

        append(output, (record(answer, asking.judge) for answer in answers))


def _print_json(answers: list[Answered], asking: Asking, control: list[Answered] | None) -> None:
    import json

    from judge.base.credentials.providers import CONTROL
    from judge.lab.trial.sheet import record

    rows = [record(answer, asking.judge) for answer in answers] + [record(answer, CONTROL) for answer in control or ()]
    print(json.dumps(rows, indent=2, ensure_ascii=False))


def _print_sheet(asked: Questions, answers: list[Answered], control: list[Answered] | None) -> None:
    from judge.cli.table_options import emit
    from judge.lab.trial.sheet import by_key, sheet

    emit(sheet_tables(sheet(asked, by_key(answers), None if control is None else by_key(control))))


def _serve(
    asking: Asking,
    names: tuple[str, ...],
    given: _Files,
    output: Path | None,
    host: str | None,
    port: int | None,
    *,
    open_: bool,
) -> None:
    from dataclasses import replace

    from judge.lab.trial.questions import RATES
    from judge.show.web.server import check_installed, serve
    from judge.show.web.trial import Before, trial_app

    check_installed()
    story, other = given.stories
    before = Before(
        "" if story is None else story.text,
        given.story_prompt,
        given.reference or "",
        "" if other is None else other.text,
    )
    asking = replace(asking, eval_prompts=names or (RATES,))
    serve(
        lambda access: trial_app(asking, access, before=before, output=output),
        host=host or "127.0.0.1",
        port=port,
        title=f"a page to try {asking.judge}",
        open_=open_,
    )
