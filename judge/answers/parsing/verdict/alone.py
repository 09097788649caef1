"""A story's name alone at the beginning or end of an answer: "B", "A. The first ...", "So, in short, B."."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judge.answers.parsing import phrases
from judge.answers.parsing.verdict import context, phrasing
from judge.answers.parsing.verdict.json_verdicts import TIE
from judge.answers.parsing.verdict.sheet import Sentence, Sheet
from judge.answers.parsing.verdict.statements import Statement
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
                yield form(
                    match.group(),
                    match.start(),
                    match.end(),
                    sentence.begin,
                    match.start(),
                    context.revises(above[-40:]),
                )
            continue
        filler = FILLER.fullmatch(before)
        if _THEN_ASKS.match(line, sentence.end):
            continue
        if (
            filler is not None
            and _CONCLUDES.search(before)
            and not context.under_part(line, sentence.begin, criterion_words)
        ):
            yield Statement(
                match.group(),
                "overall",
                match.start(),
                match.end(),
                sentence.begin,
                sentence.end,
                match.start(),
                context.revises(before),
                direct=True,
            )


def _asked(above: str) -> bool:
    # Such as "The options are", "A or"
    return re.search(r"\b(?:options?\sare|either|between|or|format|example|with|labels?)\W{0,4}\Z", above) is not None
