"""The box of verdicts: the answers of a summary, one line each, for the report and `judge view`. Text is escaped."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from judge.questions.summary.result import Answer, Summary, in_a_row


def summary_boxes(summary: Summary) -> list[Markup]:
    """A box for each dataset of a summary, in the words of `judge summary`."""
    boxes = []
    for i, part in enumerate(summary.datasets):
        on = f"{part.dataset}: " if len(summary.datasets) > 1 else ""
        about = f"{on}About {part.row}. {part.about[:1].upper()}{part.about[1:]}."
        # A page does not advise to make itself.
        commands = [command for command in part.commands if not command.startswith("judge report ")]
        boxes.append(box(part.answers, about, () if i else summary.caveats, commands))
    return boxes


def box(
    answers: Sequence[Answer], about: str = "", warnings: Sequence[str] = (), commands: Sequence[str] = ()
) -> Markup:
    """One line an answer: question, verdict and first sentence; the rule and other sentences unfold. `about` names the
    answers' one subject; `warnings` come first, then `commands`."""
    head = [Markup('<p class="warn">{}</p>').format(warning) for warning in warnings] + (
        [Markup('<p class="about">{}</p>').format(about)] if about else []
    )
    lines = [_answer(answer) for answer in answers]
    if commands:
        codes = [Markup("<code>{}</code>").format(command) for command in commands]
        lines.append(_line("What next?", "", codes[0], [Markup("<p>{}</p>").format(code) for code in codes[1:]]))
    return Markup('<div class="headline">{}</div>').format(Markup("").join([*head, *lines]))


def _answer(answer: Answer) -> Markup:
    whole = bool(answer.brief) or answer.label == "missing"  # all that is missing stands in the line
    first = in_a_row(answer, brief=True) if whole else "".join(answer.sentences[:1])
    rest = answer.sentences if answer.brief else () if whole else answer.sentences[1:]
    verdict, parts = answer.verdict, [Markup("<p>{}</p>").format(sentence) for sentence in rest]
    if verdict is not None:
        parts.append(Markup('<p class="faint">By the rule: {}.</p>').format(verdict.rule))
    return _line(answer.question, "" if verdict is None else verdict.text, first, parts)


def _line(question: str, verdict: str, said: str, rest: Sequence[Markup]) -> Markup:
    line = Markup('<span class="asked">{}</span> <strong class="verdict">{}</strong> <span class="said">{}</span>')
    line = line.format(question, verdict, said)
    if not rest:
        return Markup('<div class="answer">{}</div>').format(line)
    return Markup('<details class="answer"><summary>{}</summary>{}</details>').format(line, Markup("").join(rest))
