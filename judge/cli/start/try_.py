"""`judge try`: one story, or two compared, several Eval-Prompts side by side."""

from __future__ import annotations

from collections.abc import Sequence
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
    from judge.plan import make_plan
    from judge.records import Comparison, Story
    from judge.run_definition.spec import parse_run_spec

    data: dict[str, Any] = {
        "name": "try",
        "dataset": "none",
        "judge": judge,
        "criteria": {"set": criteria, "only": [criterion]},
        "eval_prompts": [name.strip() for name in (eval_prompts or ("pair2" if against else "ep1,ep3")).split(",")],
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
    queries = [plan.query(one, prompt, plan.criteria[0]) for prompt in plan.eval_prompts for one in subjects]
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


_Row = tuple["Query", "Response", "Judgment | Verdict", dict[str, Any]]


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
        judgment = read_verdict(response, query) if query.choices else read_response(ours, response, query)
        cost = response.cost
        if cost is None and price is not None and response.prompt_tokens is not None:
            cost = price.of(response)
        facts = {
            "judge": spec.judge,
            "eval_prompt": query.eval_prompt,
            "criterion": query.criterion.name,
            "messages": [{"role": m.role, "content": m.content} for m in query.messages],
            "text": response.text,
            "finish_reason": response.finish_reason,
            "reasoning": response.reasoning,
            **_taken(query, judgment),
            "status": judgment.status,
            "flags": list(judgment.flags),
            "explanation": judgment.explanation,
            "prompt_tokens": response.prompt_tokens,
            "completion_tokens": response.completion_tokens,
            "reasoning_tokens": response.reasoning_tokens,
            "cost": cost,
        }
        rows.append((query, response, judgment, facts))
    return rows


def _taken(query: Query, judgment: Judgment | Verdict) -> dict[str, Any]:
    """What was read: the rating, or the preference with the stories as they were shown."""
    from judge.records import Verdict

    if not isinstance(judgment, Verdict):
        return {"rating": judgment.rating}
    other = "" if query.other is None else query.other.id
    return {"first": query.story.id, "second": other, "preference": judgment.preference}


def _said(query: Query, facts: dict[str, Any]) -> str:
    """The same in words."""
    if not query.choices:
        return "no rating" if facts["rating"] is None else f"rating {facts['rating']:g}"
    preference = facts["preference"]
    if preference is None:
        return "no verdict"
    return "a tie" if preference == "tie" else f"the {preference}: {facts[preference]}"


def _show(rows: list[_Row]) -> None:
    """Panels side by side where the terminal is wide enough, else one below the other."""
    from rich.columns import Columns
    from rich.console import Console, Group
    from rich.panel import Panel
    from rich.text import Text

    from judge.printing.dollars import dollars

    console = Console()
    width = console.width
    side_by_side = width // len(rows) >= 48
    panels = []
    for query, response, judgment, facts in rows:
        parts: list[Any] = []
        for message in query.messages:
            parts += [Text(f"{message.role}:", style="bold"), Text(message.content, style="dim"), Text()]
        if response.reasoning:
            parts += [Text("reasoning (never parsed):", style="bold"), Text(response.reasoning, style="dim"), Text()]
        parts += [Text("answer:", style="bold"), _marked(response, judgment), Text()]
        tokens = " + ".join(
            f"{facts[key]} {name}"
            for key, name in (("prompt_tokens", "prompt"), ("completion_tokens", "answer"))
            if facts[key] is not None
        )
        line = [
            f"{_said(query, facts)} ({'; '.join([judgment.status, *judgment.flags])})",
            f"{tokens} tokens" if tokens else "",
        ]
        line.append(dollars(facts["cost"]) if facts["cost"] is not None else "")
        parts.append(
            Text(
                " · ".join(part for part in line if part), style="bold green" if judgment.status == "ok" else "bold red"
            )
        )
        title = f"{query.eval_prompt} · {query.criterion.name}"
        if query.other is not None:
            title += f" · {query.choices[0]} = {query.story.id}, {query.choices[1]} = {query.other.id}"
        panels.append(Panel(Group(*parts), title=title, width=width // len(rows) if side_by_side else None))
    console.print(Columns(panels, padding=(0, 0)) if side_by_side else Group(*panels))


def _marked(response: Response, judgment: Judgment | Verdict) -> Any:
    """The answer with the characters from which the rating was read marked; [brackets] where there is no colour."""
    from rich.console import Console
    from rich.text import Text

    if judgment.span is None:
        return Text(response.text or "(empty)")
    start, end = judgment.span
    before, taken, after = response.text[:start], response.text[start:end], response.text[end:]
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
