"""Finds verdicts after a label: "Verdict: B", "Better story - A", on the line below a heading, or in a table's row for
the overall verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from judge.answers.parsing.verdict import context
from judge.answers.parsing.verdict.forms.pieces import ANY, NO_ONE, OPTION_BEHIND, RATED, form
from judge.answers.parsing.verdict.sheet import Sentence, Sheet
from judge.answers.parsing.verdict.sides import FIRST, SECOND, TIE
from judge.answers.parsing.verdict.statements import Statement
from judge.answers.parsing.words import phrases

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
_CORE = re.compile(
    r"\b(?:verdict|answer|winner|winning|choice|preference|decision|judge?ment|pick|vote|selection|selected"
    r"|chosen|result|conclusion|conclude|better|best|stronger|superior|preferred|prefer|favou?rite"
    r"|recommendation|overall|final|output|label|so|therefore|thus|hence|correction|revised|updated"
    r"|actually|wait|reflection|choose|say|summary|sum|response|short|end|all|edge|advantage|leaning"
    r"|antwort|gewinner|urteil|fazit|réponse|gagnant|respuesta|ganadora?|veredicto|risposta|vincitore"
    r"|verdetto|resposta|vencedor|mejor|meilleure?|migliore|bessere|antwoord|ответ|победитель|答案|回答|结论|胜者"
    r"|答え|回答は|정답|답|cevap|odpowiedź)"
)
_OPENS = re.compile(r"[\s\"'(\[>•+|#-]{0,8}(?:\(?\d{1,2}[.)]\s)?")
_EARLY = re.compile(r"\b(?:initial|first|original|earlier|previous|preliminary)\b")
_LABEL = re.compile(
    rf"(?P<head>{_WORD}(?:[ -]{_WORD}){{0,8}})\s?(?::|=|->|→|—|–|-"
    rf"|：)[\s\"'(\[>]{{0,4}}(?:(?:is|it's|it\sis)\s)?(?P<v>{ANY}|{NO_ONE})(?![\w])"
)
_BELOW = re.compile(
    rf"(?P<head>{_WORD}(?:[ -]{_WORD}){{0,8}})\s?[:.]?\n{{1,2}}[\s\"'(\[>-]{{0,3}}(?P<v>{ANY}"
    rf"|{NO_ONE})(?=[\s\"')\].!]{{0,4}}(?:\n|\Z))"
)
_ENDS = re.compile(
    r"[\"')\]}]{0,3}(?:\s?[.!,;(—–\n|]|\s?-\s|\Z|\s?:\s|\s(?:because|since|as\s(?:it|its|the)|for\s(?:its"
    r"|the|being|having)|due\sto|over\s[①②]|by\sa\b|wins\b|is\s(?:the\s)?(?:better|stronger|superior"
    r"|winner)\b|overall\b|[>≻]))"
)
_ROW = re.compile(r"^\s?\|(?P<cells>[^\n]{1,400})\|?\s?$", re.MULTILINE)
_ROW_HEAD = re.compile(
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
