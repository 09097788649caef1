"""Verdicts given by a story's name alone: at the beginning or end of an answer ("B", "So, in short, B."), after a
label, in brackets, or as a ranking."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from judge.answers.parsing import phrases
from judge.answers.parsing.verdict import context, phrasing
from judge.answers.parsing.verdict.context import Statement
from judge.answers.parsing.verdict.json_verdicts import FIRST, OTHER, SECOND, TIE
from judge.answers.parsing.verdict.sheet import Sentence, Sheet
from judge.base.late_pattern import late

# Finds verdicts in brackets, boxes or tags, or after a tick: "[[B]]", "\boxed{A}", "<verdict>B</verdict>".

# Shared patterns for the forms of a verdict: symbols of stories, words that prefer neither story, and text after a
# name that shows that it is no verdict.

ANY = "[①②⓪]"
SIDE = "[①②]"
NO_ONE = (
    r"(?:neither(?:\s(?:one|story|of\s(?:them|the\stwo)|is\sbetter))?|(?:they\sare\s"
    r"|both\s(?:stories\s)?(?:are\s)?)?(?:equal(?:ly\sgood)?|tied)|no\s(?:clear\s)?(?:preference|difference"
    r"|winner))"
)
RATED = late(r"[\"')\]]{0,2}\s?[:=(—–-]+\s?[(]?\d|\s(?:gets|scores|receives|earns|with)\s(?:an?\s)?\d")
OPTION_BEHIND = late(
    r"\s{0,2}(?:\]\]|\})?[\"']?\s{0,2}(?:\b(?:or|if|for|when|means?|and|would|indicates|denotes|versus|vs"
    r"|were|unless|had|provided|only)\b|/|=|\?|\||,\s?[\"']?(?:\[\[)?[①②⓪])"
)
# Words of a sentence that only leads up to a label.
FILLER = late(
    r"(?:\W|\b(?:so|thus|hence|therefore|overall|then|and|but|in|to|conclusion|summary|short|sum|brief|up"
    r"|conclude|all|considered|things|everything|on|balance|the|whole|end|finally|ultimately|my|final"
    r"|answer|verdict|winner|choice|pick|vote|preference|is|it's|it|i|say|i'd|would|go|with|for|me|that"
    r"|must|be|has|of|these|reasons|this|reason"
    r"|certainly|easily|taken|together|altogether|considering|which|why|two|between|one|given|after"
    r"|weighing|both|clearly|definitely|probably|personally|honestly|accordingly|consequently|better|story"
    r"|stronger|best)\b)+"
)


def form(symbol: str, start: int, stop: int, begin: int, position: int, revises: bool = False) -> Statement:
    return Statement(symbol, "form", start, stop, begin, stop, position, revises, direct=True)


_BOXED = late(
    rf"(?:\[\[\s?(?:story\s)?|\[\s?[x✓✔]\s?\]\s{{0,2}}|[☑☒✅✔✓◉]\s{{0,2}}|\bboxed\s?\{{\s?(?:text(?:bf|rm)?\s?\{{\s?)?|【\s?|\[results?\]\s?:?\s?[(\[]?"
    rf"|<(?:final[ _-]?)?(?:answer|verdict|winner|choice|preference|decision|judge?ment|result|output"
    rf"|better|preferred|label|vote|best)>\s{{0,3}}(?:\[\[)?)"
    rf"(?P<v>{ANY})(?=\s{{0,3}}(?:\]\]|\}}|】|</|[)\]]|[.!\n]|\Z))"
)
_TOLD = late(
    r"(?:\A|[.!?:;,\n]\s{0,3}|\b(?:please|and|then|must|should|to|only|either|or|with)\s)(?:answer|respond"
    r"|reply|output|write|print|return|say|use|choose|select|end|give|put|type|state|begin|start|finish"
    r"|conclude)\b(?![^.!?\n]{0,80}\b(?:i|my)\b)[^.!?\n]{0,80}\Z"
)
_OWN_TELLING = late(r"\b(?:i|i'd|i'll|we)\s(?:\w+\s){0,3}\Z|\bmy\b[^.!?\n]{0,40}\Z")
_OPTION_BEFORE = late(
    r"[①②⓪](?:\]\]|\})?[\"']?\s{0,2}(?:,|,?\s?(?:or|and)|/|\|)\s{0,2}[\"']?(?:\[\[|boxed\s?\{)?\s{0,1}\Z"
)
_CLOSED = late(r"\s{0,3}(?:\]\]|\}{1,2}\$?|】|</[a-z _-]{1,20}>|[)\]])?")


def boxed(sheet: Sheet) -> Iterator[Statement]:
    line = sheet.line
    if not any(sign in line for sign in ("[", "boxed", "<", "【", "✅", "✔", "✓", "☑", "☒", "◉")):
        return
    for match in _BOXED.finditer(line):
        start = match.start("v")
        begin = max(line.rfind(stop, 0, match.start()) + 1 for stop in ("\n", ". ", "? ", "! "))
        before, behind = line[begin : match.start()], line[match.end() :][:40]
        if not phrasing.own(before, names=True):
            continue
        told_so = _TOLD.search(before[-160:]) is not None and not _OWN_TELLING.search(
            before[:60] if len(before) < 60 else before
        )
        if told_so or OPTION_BEHIND.match(behind) or _OPTION_BEFORE.search(before):
            continue
        if context.spoken_of(before[-160:]) or phrases.TEMPLATE.search(line, max(0, match.start() - 80), match.start()):
            continue
        yield form(match.group("v"), match.start(), _closed(line, match.end()), begin, start, context.revises(before))


def _closed(line: str, stop: int) -> int:
    end = _CLOSED.match(line, stop)
    return end.end() if end else stop


_HEAD_LINE = late(
    r"[\s\"'(\[>]{0,4}(?:(?:sure|certainly|of\scourse|ok|okay|well|alright|so|overall|hmm|answer|verdict"
    r"|winner|choice|decision|preference)[\s,.!:—-]{1,3}){0,2}[\"'(\[]{0,2}\Z"
)
_LEADS = late(
    r"[\"')\]]{0,3}(?:\s{0,3}\Z|\s?\n|[.!](?:\s|\Z)|\s?[—–]\s?|\s-\s|\s?:\s|\s?\((?!\d)|(?<=\))\s"
    r"|\s(?:because|since)\b|,\s(?:because|since|as|for|by|though|although|but|due|mainly|primarily|largely"
    r"|hands\sdown|by\sfar|clearly|definitely|no\sdoubt|without|easily|narrowly)\b|\sover\s[①②][.,\n]"
    r"|\sover\s[①②]\Z)"
)
_SPEAKS_OF_STORIES = late(
    rf"[①②⓪]|{context.PARTS.pattern}|\b(?:it|its|it's|i|i'd|they|both|more|less|story|stories|narratives?|writing|written|reader|readers"
    r"|better|best|stronger|prompt|compelling|arc|vivid|scenes?|tension|quality|sentences?|reads?|feels?|choice|winner|wins?|margin|clear|clearly|close|overall|hands|far)\b"
)
_THEN_ASKS = late(r"[.!]\s{0,3}[^.!?\n]{1,200}\?")
_LINE_OF = late(
    rf"(?:^|(?<=[.;!]\s))[\s>•+\"'(\[|-]{{0,6}}(?:\d[.)]\s)?(?P<v>{ANY})(?P<stop>[\"')\]]{{0,2}}(?:\s?[:.—–-]|\s?$|(?<=\))\s))",
    re.MULTILINE,
)
_ONE = late(ANY)
_FIRST_NAME = late(rf"(?P<head>[^①②⓪]{{0,40}})(?P<v>{ANY})")
_NO_ONE_LEADS = late(rf"\W{{0,4}}{NO_ONE}(?=[.!\s]{{0,3}}(?:\n|\Z)|[.!,:;—–])")
# Words from which on what follows a dash is a sentence, and no title.
_SENTENCE = 6

_CONCLUDES = late(
    r"\b(?:so|thus|hence|therefore|overall|conclusion|summary|short|sum|conclude|all|balance|whole|end"
    r"|finally|ultimately|final|answer|verdict|winner|choice|pick|vote|preference|i'd|i|it's|altogether"
    r"|accordingly|consequently|definitely|clearly|certainly|probably|easily)\b"
)


def leading(sheet: Sheet, *, cut: bool) -> Iterator[Statement]:
    r"""Verdicts that open the answer: a name ("B", "A. The first story ...", "Story B\n\n...") or words for a tie."""
    line = sheet.line
    no_one = _NO_ONE_LEADS.match(line)
    if no_one is not None and not re.match(r"[^\n.]{0,20}\bbut\b", line[no_one.end() :]):
        start = no_one.start() + len(no_one.group()) - len(no_one.group().lstrip(" \n\"'([*-"))
        yield Statement(TIE, "form", start, no_one.end(), 0, no_one.end(), start)
    match = _FIRST_NAME.match(line)
    if match is None or not _HEAD_LINE.fullmatch(match.group("head").lstrip()):
        return
    symbol_start, stop = match.start("v"), match.end()
    reference = sheet.references.get(symbol_start)
    behind = _LEADS.match(line, stop)
    if behind is None or reference is None or RATED.match(line, stop):
        return
    rest = line[behind.end() :]
    if (
        rest.strip()
        and not behind.group().strip(" \"')]").startswith("\n")
        and not _gives_reasons(behind.group(), rest)
    ):
        return
    colon = ":" in behind.group()
    opened = "\n" in behind.group() or colon
    listed = colon or (")" in behind.group() and behind.group()[-1:] == " ")
    if listed and ((not reference.bare and reference.symbol != TIE) or cut):
        return
    if _listed(line, match.group("v"), symbol_start) or (cut and opened and not reference.bare and rest.strip()):
        return
    if "(" in behind.group() and not reference.bare:
        return
    if not reference.bare and (_is_heading(sheet.text, reference.start) or _titles(behind.group(), rest)):
        return
    yield form(match.group("v"), symbol_start, stop, 0, symbol_start)


def _gives_reasons(behind: str, rest: str) -> bool:
    # In "A. A boy finds a key" the words tell a story instead.
    same = rest.split("\n", 1)[0]
    if "\n" in behind or not same.strip() or "because" in behind or any(c in behind for c in "-—–"):
        return True
    return _SPEAKS_OF_STORIES.search(same) is not None and not same.rstrip().endswith("?")


def _is_heading(text: str, start: int) -> bool:
    return "#" in text[text.rfind("\n", 0, start) + 1 : start]


def _titles(behind: str, rest: str) -> bool:
    # Such as "Story A - The Sailor"
    dashed = any(c in behind for c in "-—–")
    return dashed and len(rest.split()) < _SENTENCE and not any(c in rest for c in ".!")


def _listed(line: str, symbol: str, start: int) -> bool:
    # Lines with both names and the same punctuation are headings or a list.
    stops = {(m.group("v"), m.group("stop").strip()) for m in _LINE_OF.finditer(line)}
    own = next((m.group("stop").strip() for m in _LINE_OF.finditer(line) if m.start("v") == start), None)
    return own is not None and any(other != symbol and stop == own for other, stop in stops)


def closing(
    sheet: Sheet, sentences: list[Sentence], criterion_words: frozenset[str], *, cut: bool
) -> Iterator[Statement]:
    """The verdict of the last line or sentence: a name alone, or after concluding words ("So, in short, story B.")."""
    line = sheet.line
    last = len(line.rstrip(" \n\t\"')].!*|"))
    for sentence in sentences:
        match = _ONE.search(line, sentence.begin, sentence.end)
        if match is None or sentence.mark == "?" or any(c.isalnum() for c in line[match.end() : sentence.end]):
            continue
        if any(c in line[match.end() : sentence.end] for c in "①②⓪:"):
            continue
        before = line[sentence.begin : match.start()]
        final = match.end() >= last
        if cut and final and sentence.mark == "":
            continue
        if not any(c.isalnum() for c in before):
            above = line[: sentence.begin].rstrip()
            alone = (
                final
                and not re.search(r"\d\s?[.)]\s?\Z|[-•+]\s?\Z", before.rstrip(" ") or " ")
                and not _listed(line, match.group(), match.start())
            )
            alone = alone and not context.under_part(line, sentence.begin, criterion_words)
            if alone and above and above[-1:] not in ",(" and not _asked(above) and "-" not in before:
                revised = context.revises(above[-40:])
                yield form(match.group(), *match.span(), sentence.begin, match.start(), revised)
            continue
        filler = FILLER.fullmatch(before)
        if _THEN_ASKS.match(line, sentence.end):
            continue
        if (
            filler is not None
            and _CONCLUDES.search(before)
            and not context.under_part(line, sentence.begin, criterion_words)
        ):
            spot, revised = (*match.span(), sentence.begin, sentence.end), context.revises(before)
            yield Statement(match.group(), "overall", *spot, match.start(), revised, direct=True)


def _asked(above: str) -> bool:
    # Such as "The options are", "A or"
    return re.search(r"\b(?:options?\sare|either|between|or|format|example|with|labels?)\W{0,4}\Z", above) is not None


# Verdicts after a label ("Verdict: B", "Better story - A"), below a heading, or in a table's row for the overall
# verdict.

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
            spot, revised = (*match.span(), sentence.begin, sentence.end), context.revises(before)
            yield Statement(_by_sign(match), "form", *spot, match.start("a"), revised)


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
