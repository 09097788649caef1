"""Verdicts after a label ("Verdict: B", "Better story - A"), below a heading, or in a table's row for the overall
verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from judge.answers.parsing import phrases
from judge.answers.parsing.verdict import context
from judge.answers.parsing.verdict.alone import ANY, FILLER, NO_ONE, OPTION_BEHIND, RATED, SIDE, form
from judge.answers.parsing.verdict.json_verdicts import FIRST, OTHER, SECOND, TIE
from judge.answers.parsing.verdict.sheet import Sentence, Sheet
from judge.answers.parsing.verdict.statements import Statement
from judge.base.late_pattern import late

# Finds verdicts that rank the stories: "1. B 2. A", "A > B", "B over A".

_SIGNS = late(
    rf"(?P<a>{SIDE})\s?(?P<sign>>{{1,3}}|&gt;|≻|≫|<{{1,3}}|&lt;|≺|≪|=|≈|~|==|≅)\s?(?P<b>{SIDE})(?!'s)(?!\s?[<>=≻≺≈])"
)
_OVER = late(rf"(?P<a>{SIDE})\sover\s(?P<b>{SIDE})(?!'s)")
_RANKS = late(
    rf"(?:^|[\s:,;(])(?:\#\s?)?(?:1|1st|first)\s?(?:place"
    rf"|choice)?\s?[.):—–-]{{1,2}}\s?(?P<a>{SIDE})(?P<x>[^\n①②]{{0,160}}?)(?:[,;.]\s|\s|\n)+(?:\#\s?)?(?:2"
    rf"|2nd|second)\s?(?:place|choice)?\s?[.):—–-]{{1,2}}\s?(?P<b>{SIDE})(?!'s)"
)
# Behind the first two of a list that is longer: its points are no places.
_THIRD = late(r"[^\n]{0,160}\n?\W{0,6}\b3\s?[.):]")
_RANK_WORDS = late(
    r"\b(?:rank\w*|order\sof\spreference|best\s(?:to|first)|from\sbest|preference\sorder|placement|place)\b"
)
_BEST_FIRST = late(
    rf"(?:\brank(?:ing|ed)?|\bbest\s(?:to\sworst|first)|\bstrongest\sto\sweakest|\border\sof\spreference)\)?\s?[:=]\s?"
    rf"(?P<a>{SIDE}),?\s(?:then\s)?(?P<b>{SIDE})(?=[.!\s]{{0,3}}(?:\n|\Z))"
)
_WORST_FIRST = late(r"\bworst\s(?:to|first)|\bfrom\sworst|\bascending|\bweakest\s(?:to|first)|\breverse")


def rankings(line: str) -> Iterator[Statement]:
    """Verdicts by lists such as "1. B 2. A". One with reasons counts if the words before say that it ranks."""
    for match in _BEST_FIRST.finditer(line):
        begin = line.rfind("\n", 0, match.start()) + 1
        before = line[begin : match.start()]
        first, second = match.group("a"), match.group("b")
        if first != second and not _WORST_FIRST.search(before) and not context.spoken_of(before):
            yield Statement(first, "form", match.start(), match.end(), begin, match.end(), match.start("a"))
    if "2" not in line and "second" not in line:
        return
    for match in _RANKS.finditer(line):
        if match.group("a") == match.group("b"):
            continue
        near = line[max(0, match.start() - 200) : match.start()]
        bare = not any(c.isalnum() for c in match.group("x")) and not any(
            c.isalnum() for c in line[match.end() :].split("\n", 1)[0]
        )
        if _THIRD.match(line, match.end()):
            continue
        bare = bare and not any(c.isalnum() for c in near)
        ranked = _RANK_WORDS.search(near) is not None
        if (ranked or bare) and not _WORST_FIRST.search(near) and not context.spoken_of(near.rsplit("\n", 1)[-1]):
            begin = line.rfind("\n", 0, match.start("a")) + 1
            part = context.HEADING.match(line, begin)
            if (
                part is not None
                and not context.verdict_heading(part.group(1))
                and not _RANK_WORDS.search(part.group(1))
                and part.group(1) not in ("1", "1st", "first")
            ):
                continue
            yield Statement(match.group("a"), "form", match.start(), match.end(), begin, match.end(), match.start("a"))


def signs(line: str, sentences: list[Sentence], criterion_words: frozenset[str]) -> Iterator[Statement]:
    """Verdicts by "A > B", "A ≻ B", "A = B" or "B over A", as a sentence or after a label such as "Verdict:"."""
    for sentence in sentences:
        for pattern in (_SIGNS, _OVER):
            match = pattern.search(line, sentence.begin, sentence.end)
            if match is None or match.group("a") == match.group("b") or sentence.mark == "?":
                continue
            before, behind = line[sentence.begin : match.start()], line[match.end() : sentence.end]
            if before.strip() and not (FILLER.fullmatch(before) or _is_verdict_label(before)):
                continue
            if context.under_part(line, sentence.begin, criterion_words) or not re.match(
                r"\W{0,4}(?:\Z|because|since|overall|by|for|due|on\sbalance|but|[—–(])", behind
            ):
                continue
            yield Statement(
                _by_sign(match),
                "form",
                match.start(),
                match.end(),
                sentence.begin,
                sentence.end,
                match.start("a"),
                context.revises(before),
            )


def _by_sign(match: re.Match[str]) -> str:
    sign = match.groupdict().get("sign", ">")
    if sign[0] in "<≺≪" or sign == "&lt;":
        return OTHER[match.group("a")]
    return match.group("a") if sign[0] in ">≻≫" or sign == "&gt;" else TIE


def _is_verdict_label(before: str) -> bool:
    label = context.HEADING.match(before)
    return label is not None and not before[label.end() :].strip() and context.verdict_heading(label.group(1))


_WORD = (
    r"(?:final|overall|my|the|our|verdict|answer|winner|winning|choice|preference|decision|judge?ment|pick"
    r"|vote|selection|result|conclusion|better|best|stronger|superior|preferred|story|stories|text|one"
    r"|option|is|are|of|two|which|between|for|me|a|an|chosen"
    r"|select(?:ed)?|favou?rite|recommendation|so|therefore|thus|hence|in|to|sum|up|summary|here|response"
    r"|assessment|output|label|comparison|and|i|would|say|choose|prefer|pick|answer:|most|clear|as|such"
    r"|conclude|short|all|end|was|correction|correct|revised|updated|new|actually|wait|no|on|reflection"
    r"|further|second|thought|rather|initial|first|ranking|evaluation"
    r"|slight|slightly|edge|advantage|leaning|leans?|clear|strong|towards?"
    r"|antwort|gewinner|urteil|fazit|réponse|gagnant|verdict\sfinal|respuesta|ganador|ganadora|veredicto"
    r"|risposta|vincitore|verdetto|resposta|vencedor|mejor|meilleure?|histoire|historia|historia\smejor"
    r"|migliore|storia|bessere|geschichte|antwoord|ответ|победитель|答案|回答|结论|胜者|答え|回答は|정답|답|cevap"
    r"|odpowiedź)"
)
_CORE = late(
    r"\b(?:verdict|answer|winner|winning|choice|preference|decision|judge?ment|pick|vote|selection|selected"
    r"|chosen|result|conclusion|conclude|better|best|stronger|superior|preferred|prefer|favou?rite"
    r"|recommendation|overall|final|output|label|so|therefore|thus|hence|correction|revised|updated"
    r"|actually|wait|reflection|choose|say|summary|sum|response|short|end|all|edge|advantage|leaning"
    r"|antwort|gewinner|urteil|fazit|réponse|gagnant|respuesta|ganadora?|veredicto|risposta|vincitore"
    r"|verdetto|resposta|vencedor|mejor|meilleure?|migliore|bessere|antwoord|ответ|победитель|答案|回答|结论|胜者"
    r"|答え|回答は|정답|답|cevap|odpowiedź)"
)
_OPENS = late(r"[\s\"'(\[>•+|#-]{0,8}(?:\(?\d{1,2}[.)]\s)?")
_EARLY = late(r"\b(?:initial|first|original|earlier|previous|preliminary)\b")
_LABEL = late(
    rf"(?P<head>{_WORD}(?:[ -]{_WORD}){{0,8}})\s?(?::|=|->|→|—|–|-"
    rf"|：)[\s\"'(\[>]{{0,4}}(?:(?:is|it's|it\sis)\s)?(?P<v>{ANY}|{NO_ONE})(?![\w])"
)
_BELOW = late(
    rf"(?P<head>{_WORD}(?:[ -]{_WORD}){{0,8}})\s?[:.]?\n{{1,2}}[\s\"'(\[>-]{{0,3}}(?P<v>{ANY}"
    rf"|{NO_ONE})(?=[\s\"')\].!]{{0,4}}(?:\n|\Z))"
)
_ENDS = late(
    r"[\"')\]}]{0,3}(?:\s?[.!,;(—–\n|]|\s?-\s|\Z|\s?:\s|\s(?:because|since|as\s(?:it|its|the)|for\s(?:its"
    r"|the|being|having)|due\sto|over\s[①②]|by\sa\b|wins\b|is\s(?:the\s)?(?:better|stronger|superior"
    r"|winner)\b|overall\b|[>≻]))"
)
_ROW = late(r"^\s?\|(?P<cells>[^\n]{1,400})\|?\s?$", re.MULTILINE)
_ROW_HEAD = late(
    r"(?:\W|\b(?:the|final|overall|total|winner|verdict|result|better|best|story|conclusion|preference"
    r"|preferred|choice|decision|judge?ment|answer|stronger)\b)+"
)


def labelled(
    sheet: Sheet, sentences: list[Sentence], criterion_words: frozenset[str], *, cut: bool
) -> Iterator[Statement]:
    """Verdicts after a heading or label, on the same line or the next: "Verdict: B", "Better story - A"."""
    line = sheet.line
    for sentence in sentences:
        opening = _OPENS.match(line, sentence.begin)
        start = opening.end() if opening is not None else sentence.begin
        match = _LABEL.match(line, start) or _BELOW.match(line, start)
        if match is None:
            continue
        head = match.group("head")
        symbol = match.group("v") if match.group("v") in (FIRST, SECOND, TIE) else TIE
        part = context.under_part(line, sentence.begin, criterion_words) and not context.OVERALL.search(head)
        if part or not _CORE.search(head) or not _label_ends(line, match.end(), cut=cut):
            continue
        if phrases.TEMPLATE.search(line, max(0, sentence.begin - 60), start + 1):
            continue
        begin = line.rfind("\n", 0, start) + 1
        stated = form(symbol, start, match.end(), begin, match.start("v"), context.revises(line[begin:start] + head))
        yield replace(stated, kind="early") if _EARLY.search(head) else stated


def _label_ends(line: str, stop: int, *, cut: bool) -> bool:
    if RATED.match(line, stop) or OPTION_BEHIND.match(line, stop):
        return False
    if cut and not line[stop:].strip():
        return False
    return _ENDS.match(line, stop) is not None


def rows(line: str) -> Iterator[Statement]:
    """Verdicts in a table's row for the overall verdict: "| Overall | B |"."""
    if "|" not in line:
        return
    for match in _ROW.finditer(line):
        cells = [cell.strip(" :") for cell in match.group("cells").strip("|").split("|")]
        named = [cell for cell in cells[1:] if cell in (FIRST, SECOND, TIE)]
        if (
            len(cells) < 2
            or len(named) != 1
            or not _ROW_HEAD.fullmatch(cells[0])
            or not any(c.isalpha() for c in cells[0])
        ):
            continue
        if any(any(c.isdigit() for c in cell) for cell in cells[1:]):
            continue
        start = line.find(named[0], match.start("cells") + len(match.group("cells").split("|")[0]))
        yield form(named[0], match.start(), match.end(), match.start(), start)
