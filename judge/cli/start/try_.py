"""`judge try`: one story, or two compared, several Eval-Prompts side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from judge.records import Judgment, Query, Response, Subject, Verdict

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def try_(
    story: Annotated[Path, typer.Argument(metavar="STORY.txt", help="a text file with the story")],
    judge: Annotated[str, typer.Option(help="provider/model, or surface")] = "surface",
    against: Annotated[
        Path | None, typer.Option(metavar="OTHER.txt", help="a second story: compare the two, in both orders")
    ] = None,
    eval_prompts: Annotated[
        str | None, typer.Option(help="names or files, separated by commas; not said: ep1,ep3, or pair2 with --against")
    ] = None,
    criterion: Annotated[str, typer.Option(help="name or abbreviation")] = "Coherence",
    criteria: Annotated[str, typer.Option(help="criteria set")] = "hanna",
    story_prompt: Annotated[str, typer.Option(help="what the author was given")] = "",
    reference: Annotated[Path | None, typer.Option(help="file with the reference story")] = None,
    base_url: Annotated[str | None, typer.Option(help="server")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="any key of run.yaml")] = None,
    form: Annotated[Literal["table", "json"], typer.Option("--format", help="form of the answer")] = "table",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="JSON Lines file that the answers are added to")
    ] = None,
) -> None:
    """Show for each Eval-Prompt the request as sent, the answer, what the parser took (marked), tokens and cost.

    With --against two stories are compared, once in each order.

    Example: judge try story.txt --judge surface --eval-prompts ep1,ep2,ep3 --criterion Engagement
    """
    import asyncio

    from judge.credentials.literal import refuse_keys
    from judge.errors import SpecError
    from judge.eval_prompts import load_eval_prompt
    from judge.plan import make_plan
    from judge.records import Comparison, Story
    from judge.run_definition.spec import parse_run_spec

    names = [name.strip() for name in (eval_prompts or ("pair2" if against else "ep1,ep3")).split(",")]
    # An answer to some Eval-Prompts rates all criteria, whichever the others ask for.
    together = any(load_eval_prompt(name).criteria is not None for name in names)
    data: dict[str, Any] = {
        "name": "try",
        "dataset": "none",
        "judge": judge,
        "criteria": {"set": criteria, **({} if together else {"only": [criterion]})},
        "eval_prompts": names,
        **({"pairs": "all"} if against else {}),
    }
    if base_url:
        data["base_url"] = base_url
    refuse_keys(_overridden(data, set_ or []), "judge try")
    spec = parse_run_spec(data, "judge try")
    plan = make_plan(spec)
    beside = _read(reference) if reference else None
    stories = [Story(file.name, story_prompt, "unknown", _read(file), beside) for file in (story, against) if file]
    for one in stories:
        if not one.text.strip():
            raise SpecError(f"{one.id} is empty")
    subjects: Sequence[Subject] = stories
    if against is not None:
        subjects = [Comparison(stories[i], stories[1 - i], "pair") for i in (0, 1)]
    (alone,) = plan.criteria_set.pick([criterion])
    queries = [
        plan.query(one, prompt, alone if prompt.criteria is None else plan.asked_by(prompt)[0])
        for prompt in plan.eval_prompts
        for one in subjects
    ]
    rows = asyncio.run(_ask(spec, queries))
    if output is not None:
        _append(output, rows)
    if form == "json":
        import json

        print(json.dumps([row[3] for row in rows], indent=2, ensure_ascii=False))
    else:
        _show(rows)


def _overridden(data: dict[str, Any], overrides: list[str]) -> dict[str, Any]:
    from judge.run_definition.spec import override

    for pair in overrides:
        override(data, pair)
    return data


_Row = tuple["Query", "Response", "Sequence[Judgment] | Verdict", dict[str, Any]]
"""A query, its answer, what was read of it (a judgment for each criterion, or a verdict), and both as plain data."""


async def _ask(spec: Any, queries: list[Query]) -> list[_Row]:
    """Probe, then ask all Eval-Prompts at once."""
    import asyncio

    from judge.backends import Settings, open_backend
    from judge.parsing import parser
    from judge.parsing.stored_answers import read_response
    from judge.parsing.stored_verdicts import read_verdict
    from judge.plan import load_prices

    backend = open_backend(
        spec.judge,
        Settings(
            tuple(spec.base_url),
            spec.revision,
            spec.engine,
            spec.attempt_timeout,
            seed=spec.generation.seed,
            api=spec.api,
            probe_timeout=spec.probe_timeout,
            headers=spec.headers,
            api_key_env=spec.api_key_env,
        ),
    )
    try:
        await backend.probe()
        answers = await asyncio.gather(*(backend.complete(query, [0]) for query in queries))
    finally:
        await backend.close()
    ours, price = parser("ours"), load_prices(spec.judge, spec.base_url, spec.engine)
    rows: list[_Row] = []
    for query, (response, *_) in zip(queries, answers, strict=True):
        read = read_verdict(response, query) if query.choices else read_response(ours, response, query)
        cost = response.cost
        if cost is None and price is not None and response.prompt_tokens is not None:
            cost = price.of(response)
        facts = {
            "judge": spec.judge,
            "eval_prompt": query.eval_prompt,
            "criterion": ", ".join(one.name for one in query.criteria) or query.criterion.name,
            "messages": [{"role": m.role, "content": m.content} for m in query.messages],
            "text": response.text,
            "finish_reason": response.finish_reason,
            "reasoning": response.reasoning,
            **_taken(query, read),
            "prompt_tokens": response.prompt_tokens,
            "completion_tokens": response.completion_tokens,
            "reasoning_tokens": response.reasoning_tokens,
            "cost": cost,
        }
        rows.append((query, response, read, facts))
    return rows


def _taken(query: Query, read: Sequence[Judgment] | Verdict) -> dict[str, Any]:
    """What was read: the rating, one for each of several criteria, or the preference with the stories as shown."""
    from judge.records import Verdict

    if isinstance(read, Verdict):
        other = "" if query.other is None else query.other.id
        return {"first": query.story.id, "second": other, "preference": read.preference, **_about(read)}
    if not query.criteria:
        return {"rating": read[0].rating, **_about(read[0])}
    each = zip(query.criteria, read, strict=True)
    return {"judgments": [{"criterion": one.name, "rating": j.rating, **_about(j)} for one, j in each]}


def _about(one: Judgment | Verdict) -> dict[str, Any]:
    return {"status": one.status, "flags": list(one.flags), "explanation": one.explanation}


def _said(query: Query, read: Sequence[Judgment] | Verdict) -> Iterator[tuple[str, bool]]:
    """The same in words, a line for each criterion, and whether it was read."""
    from judge.records import Verdict

    if isinstance(read, Verdict):
        shown = {"first": query.story.id, "second": "" if query.other is None else query.other.id}
        said = "no verdict" if read.preference is None else f"the {read.preference}"
        said = "a tie" if read.preference == "tie" else said
        said += f": {shown[read.preference]}" if read.preference in shown else ""
        yield f"{said} ({'; '.join([read.status, *read.flags])})", read.status == "ok"
        return
    names = [f"{one.name}: " for one in query.criteria] or [""]
    for name, judgment in zip(names, read, strict=True):
        said = "no rating" if judgment.rating is None else f"rating {judgment.rating:g}"
        yield f"{name}{said} ({'; '.join([judgment.status, *judgment.flags])})", judgment.status == "ok"


def _show(rows: list[_Row]) -> None:
    """Panels side by side where the terminal is wide enough, else one below the other."""
    from rich.columns import Columns
    from rich.console import Console, Group
    from rich.panel import Panel
    from rich.text import Text

    from judge.printing.dollars import dollars
    from judge.printing.visible import visible

    console = Console()
    width = console.width
    side_by_side = width // len(rows) >= 48
    panels = []
    for query, response, read, facts in rows:
        parts: list[Any] = []
        for message in query.messages:
            parts += [Text(f"{message.role}:", style="bold"), Text(visible(message.content), style="dim"), Text()]
        if response.reasoning:
            parts += [
                Text("reasoning (never parsed):", style="bold"),
                Text(visible(response.reasoning), style="dim"),
                Text(),
            ]
        parts += [Text("answer:", style="bold"), _marked(response, read), Text()]
        tokens = " + ".join(
            f"{facts[key]} {name}"
            for key, name in (("prompt_tokens", "prompt"), ("completion_tokens", "answer"))
            if facts[key] is not None
        )
        *before, (last, sound) = _said(query, read)
        parts += [Text(said, style=_style(good)) for said, good in before]
        line = [last, f"{tokens} tokens" if tokens else ""]
        line.append(dollars(facts["cost"]) if facts["cost"] is not None else "")
        parts.append(Text(" · ".join(part for part in line if part), style=_style(sound)))
        title = f"{query.eval_prompt} · {facts['criterion']}"
        if query.other is not None:
            title += f" · {query.choices[0]} = {query.story.id}, {query.choices[1]} = {query.other.id}"
        panels.append(
            Panel(Group(*parts), title=Text(visible(title)), width=width // len(rows) if side_by_side else None)
        )
    console.print(Columns(panels, padding=(0, 0)) if side_by_side else Group(*panels))


def _style(sound: bool) -> str:
    return "bold green" if sound else "bold red"


def _marked(response: Response, read: Sequence[Judgment] | Verdict) -> Any:
    """The answer with the characters from which the rating was read marked; [brackets] where there is no colour."""
    from rich.console import Console
    from rich.text import Text

    from judge.printing.visible import visible
    from judge.records import Verdict

    span = read.span if isinstance(read, Verdict) else read[0].span
    if span is None:
        return Text(visible(response.text) or "(empty)")
    start, end = span
    parts = response.text[:start], response.text[start:end], response.text[end:]
    before, taken, after = map(visible, parts)
    if Console().color_system is None:
        return Text(f"{before}>>{taken}<<{after}")
    return Text.assemble(before, (taken, "bold reverse green"), after)


def _read(path: Path) -> str:
    from judge.errors import DataError

    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 (byte {error.start})", file=path) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=path) from error


def _append(path: Path, rows: list[_Row]) -> None:
    import orjson

    from judge.errors import SpecError

    try:
        with path.open("ab") as stream:
            for row in rows:
                stream.write(orjson.dumps(row[3], option=orjson.OPT_APPEND_NEWLINE))
    except OSError as error:
        raise SpecError(f"{path} cannot be written: {error.strerror}") from error
