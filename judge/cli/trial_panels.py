"""Prints a trial's requests and answers as panels, side by side if the terminal is wide enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge.lab.trial.sheet import Answered


def show(answers: Sequence[Answered]) -> None:
    """A panel for each answer: request, answer with its rating marked, tokens and cost."""
    from rich.columns import Columns
    from rich.console import Console, Group
    from rich.panel import Panel
    from rich.text import Text

    from judge.base.printing.text_layout import visible

    console = Console()
    side_by_side = console.width // len(answers) >= 48
    width = console.width // len(answers) if side_by_side else None
    panels = [Panel(Group(*_parts(answer)), title=Text(visible(_title(answer))), width=width) for answer in answers]
    console.print(Columns(panels, padding=(0, 0)) if side_by_side else Group(*panels))


def _title(answered: Answered) -> str:
    query = answered.query
    title = f"{query.eval_prompt} · {', '.join(criterion.name for criterion in query.criteria) or query.criterion.name}"
    if query.other is not None:
        title += f" · {query.choices[0]} = {query.story.id}, {query.choices[1]} = {query.other.id}"
    return title


def _parts(answered: Answered) -> Iterator[Any]:
    from rich.text import Text

    from judge.base.printing.text_layout import visible

    response = answered.response
    for message in answered.query.messages:
        yield from _headed(f"{message.role}:", Text(visible(message.content), style="dim"))
    if response is not None and response.reasoning:
        yield from _headed("reasoning (never parsed):", Text(visible(response.reasoning), style="dim"))
    yield from _headed("answer:", _marked(answered))
    *before, (last, sound) = _said(answered)
    for text, good in before:
        yield Text(text, style=_style(good))
    line = [last, *_took(answered)]
    yield Text(" · ".join(line), style=_style(sound))


def _headed(head: str, body: Any) -> Iterator[Any]:
    from rich.text import Text

    yield Text(head, style="bold")
    yield body
    yield Text()


def _took(answered: Answered) -> Iterator[str]:
    from judge.base.printing.text_layout import dollars

    response = answered.response
    if response is None:
        return
    counts = ((response.prompt_tokens, "prompt"), (response.completion_tokens, "answer"))
    tokens = " + ".join(f"{count} {name}" for count, name in counts if count is not None)
    if tokens:
        yield f"{tokens} tokens"
    if answered.cost is not None:
        yield dollars(answered.cost)


def _said(answered: Answered) -> Iterator[tuple[str, bool]]:
    """(line, whether its status is `ok`) on each rating or preference."""
    from judge.base.records import Verdict

    query, read = answered.query, answered.read
    if isinstance(read, Verdict):
        shown = {"first": query.story.id, "second": "" if query.other is None else query.other.id}
        text = "no verdict" if read.preference is None else f"the {read.preference}"
        text = "a tie" if read.preference == "tie" else text
        text += f": {shown[read.preference]}" if read.preference in shown else ""
        yield f"{text} ({'; '.join([read.status, *read.flags])})", read.status == "ok"
        return
    names = [f"{criterion.name}: " for criterion in query.criteria] or [""]
    for name, judgment in zip(names, read, strict=True):
        text = "no rating" if judgment.rating is None else f"rating {judgment.rating:g}"
        yield f"{name}{text} ({'; '.join([judgment.status, *judgment.flags])})", judgment.status == "ok"


def _style(sound: bool) -> str:
    return "bold green" if sound else "bold red"


def _marked(answered: Answered) -> Any:
    """With the rating highlighted, or in >>brackets<< without colours."""
    from rich.console import Console
    from rich.text import Text

    from judge.base.printing.text_layout import visible
    from judge.base.records import Verdict

    response, read = answered.response, answered.read
    if response is None:
        return Text(visible(f"(none: {answered.error})"))
    span = read.span if isinstance(read, Verdict) else read[0].span
    if span is None:
        return Text(visible(response.text) or "(empty)")
    start, end = span
    parts = response.text[:start], response.text[start:end], response.text[end:]
    before, taken, after = map(visible, parts)
    if Console().color_system is None:
        return Text(f"{before}>>{taken}<<{after}")
    return Text.assemble(before, (taken, "bold reverse green"), after)
