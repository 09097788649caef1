"""Which story or tie the sentences of an answer prefer, and whether that is the overall verdict, and not a denial, a
hypothesis or one aspect."""

from __future__ import annotations

import re
from dataclasses import dataclass

from judge.answers.parsing import phrases
from judge.answers.parsing.verdict import phrasing
from judge.answers.parsing.verdict.json_verdicts import FIRST, OTHER, SECOND, TIE
from judge.answers.parsing.verdict.phrasing import PREFERS, TIES, Phrases, possible
from judge.answers.parsing.verdict.sheet import Sentence, Sheet
from judge.base.late_pattern import late

# Behind it, what came before in the sentence no longer bears on the verdict.
_RESET = late(
    r"[,;:—–(]\s*(?:so|but|yet|therefore|thus|hence|nevertheless|nonetheless|however|still|and\sso)\s"
    r"|\s(?:but|so|yet|therefore|thus|hence)\s"
)

_CLAUSE = late(r"[,;:—–(|]|\s-\s|\b(?:and|because|since|although|though|while|whereas|which|where|when|but)\s")
_NOT_DENIED = late(
    r"\bnot\s(?:only|just|merely|simply|least)\b|\b(?:without|no)\s(?:an?y?\s)?(?:doubt|question|hesitation"
    r"|contest|reservations?)\b"
    r"|\bno\s(?:matter|longer)\b|\b(?:cannot|can't|can\snot)\s(?:help\sbut|deny\sthat)\b|\bif\s(?:i"
    r"|we)\s(?:(?:had|have|were|am)\s(?:to|forced|asked|pressed|pushed|obliged|required|made)"
    r"|must)\b[^,①②]{0,30}"
    r"|\bif\s(?:forced|pressed|pushed|asked)(?!\sfor)(?:\sto\s\w+)?|\bif\s(?:only\sslightly|anything"
    r"|not\sby\smuch)\b|\beven\sif\b"
)
_DENIED = late(
    r"\b(?:not|never|no|nor|neither|nothing|nobody|none|hardly|barely|scarcely|cannot|\w+n't|without"
    r"|rather\sthan|instead\sof"
    r"|doubt\w*|refus\w+|hesita\w+|reluctan\w+|tempted|fail\w*|wrong|unfair|false|untrue|mistake|mistaken"
    r"|incorrect|disagree\w*"
    r"|den(?:y|ies|ied)|almost|nearly|unclear|unsure|whether|avoid|far\s(?:from|be)|pretend\w*)\b"
)
_OPINION_DENIED = late(
    r"\b(?:not|never|hardly|\w+n't|cannot)\s(?:\w+\s){0,2}(?:think|believe|say|feel|agree|claim|argue"
    r"|consider|call|find|prefer|choose|pick"
    r"|suggest|mean|see|convinced|sure|certain|clear|obvious|true|fair|right|the\scase|decide)\b"
)
_SUPPOSED = late(
    r"\b(?:if|unless|whether|suppos(?:e|ing)|imagin(?:e|ing)|assum(?:e|ing)|had\s(?:the|it|its|story)"
    r"|were\s(?:it|the|i)|until|hypothetically"
    r"|in\stheory|on\sanother\sday|would\shave|could\shave|might\shave|one\s(?:could|might|may|can|would)"
    r"|you\s(?:could|might|may|can|would|will)|would\s(?:say|argue|think)\sthat\s(?:some|many)"
    r"|let's\ssay|chances?|probability|possibility|possibl[ey]|perhaps|maybe|likelihood|odds|for\sexample|e\.g\.?|for\sinstance|such\sas|depend(?:s|ing)|case\s(?:can|could|may"
    r"|might)\sbe\smade|arguments?\s(?:for|that)|(?<!i\swould\s)(?<!i'd\s)argue[ds]?\sthat)\b"
)
_AT_FIRST = late(
    r"\b(?:at\sfirst(?!\splace)|initially|originally|previously|formerly|earlier|(?:my|the)\s(?:first"
    r"|initial|original|previous|earlier)\s(?:impression|thought|reaction|instinct|guess|reading"
    r"|inclination|verdict|answer|choice|pick|preference|evaluation|assessment|judge?ment|rank(?:ing)?|comparison)"
    r"|on\s(?:a\s)?first\s(?:glance|reading|read|look|sight)|at\s(?:a\s)?first\s(?:glance|reading|look"
    r"|sight)|used\sto|was\s(?:going|tempted|inclined|about|ready)\sto|had\s(?:thought|planned|intended)"
    r"|i\s(?:thought|wanted|expected|assumed)|before\s(?:reading|i\s(?:read|had\sread)))\b"
)
_OTHERS = late(
    r"\b(?:readers?|people|critics?|reviewers?|raters?|annotators?|judges|others?|some|many|most(?:\speople"
    r"|\sreaders)|everyone|everybody|someone|somebody|anyone|audiences?"
    r"|fans|users?|humans?|experts?|one|you|they|he|she|author|writer|narrator|prompt|instructions?"
    r"|gpt\S{0,6}|children|students|teachers?|editors?|my\s\w+|friends?|colleagues?|model)\b"
    r"(?:\s(?!of\b|because\b)[\w']+){0,4}?\s(?:prefers?|preferred|might|may|would|will|could|can|finds?"
    r"|found|thinks?|thought|says?|said|argues?|argued|believes?|believed|claims?|claimed|likes?|liked"
    r"|chose|chooses?|picks?|picked|votes?|voted|rated?|ranks?|ranked|favou?rs?|favou?red|feels?|felt"
    r"|considers?|considered|suggests?|insists?|wants?|asks?|tells?|told|consider|judged)\b"
)
_SAYS = late(
    r"(?<!i\s)(?<!we\s)\b(?:says|said|claims|claimed|states|stated|tells|told|insists|insisted|argues"
    r"|argued|asks|asked|instructs|demands|wants|writes|wrote|announces|declares|declared|shouts"
    r"|pretends|reads|hopes|contends|asserts|asserted|according\sto|replies|replied|thinks|believes|cries"
    r"|begs|orders|commands|concluded)\b(?!\s(?:better|well|more|like\sa\b|as\b))"
)
_GENERAL = (
    r"(?:general|second\sthoughts?|further|closer\s|reflection|my\s(?:opinion|view|perspective|judge?ment|eyes|estimation|book|reading|mind|assessment)|every|all"
    r"|most|nearly|almost|the\send|the\swhole|total|sum|short|conclusion|summary|balance"
    r"|(?:terms\sof\s)?(?:overall|general)?\s?quality"
    r"|both|this\s(?:case|comparison|pair|matchup)|many|several|comparison|fact|the\sfinal\sanalysis"
    r"|terms\sof\soverall|average|particular|nearly\severy|any\scase|multiple|virtually|practically|me\b"
    r"|that\sreason|this\sreason|these\sreasons|those\sreasons"
    r"|the\s(?:reasons|following|above)|(?:this|(?:the|this)\sgiven)\s(?:task|instruction|question|request)"
    r"|(?:line|accordance)\swith\sthe\s(?:rules|instructions?|criteria)|(?<=for\s)(?:its|their|being|having|doing|these|this"
    r"|that)|a\s(?:number|variety)|these|a\s(?:narrow|wide|small|clear|slim|large|comfortable|hair"
    r"|considerable|good)|far|a\s(?:whole|nose|mile|lot|bit|little|margin|hair'?s|story))"
)
_PREPOSITION = (
    r"(?:in|for|on|regarding|when\sit\scomes\sto|as\sfor|as\sto|as\sfar\sas|with\s(?:respect|regard)\sto"
    r"|in\sterms\sof|at|concerning|under|from|judging\sby|judged\s(?:by|on|purely|only|solely)"
    r"|looking\s(?:at|only|purely)|purely|considering\s(?:only|just)|solely|based\s(?:only|solely"
    r"|purely)\son|by\s(?:this|that)\s\w+)"
)
_PART_BEFORE = late(
    rf"\A(?:[^:\n]{{1,40}}:\s)?(?:[\W①②◌]|[a-z]\s){{0,12}}(?:(?:and|then|also|finally|next"
    rf"|again)\s)?{_PREPOSITION}\s(?!{_GENERAL})"
)
_PART_ASIDE = late(rf"(?:[,;:(|]\s|[①②◌]\s|\A\W*a\s){_PREPOSITION}\s(?!{_GENERAL})[^,;:①②◌]{{1,60}}[,:]\s")
_PART_BEHIND = late(
    rf"\A(?:,[^,①②]{{1,40}},)?\s(?:in|on|at|for|when\sit\scomes|regarding|with\s(?:respect|regard)|as\sfar"
    rf"|from|by|as\sregards|concerning|along|structurally|stylistically|technically|here\son"
    rf"|to)\s(?!{_GENERAL})"
)
# Words behind which a story is not the subject: "the pacing in A is better".
_OF_THE_STORY = late(r"(?:\b(?:of|in|from|by|with|within|for|at|about|to|as|than|like)|[①②]\s(?:and|or|nor|&))\s\Z")

_VERDICTS_NAME = late(
    r"(?:(?:the|an?|this)\s)?(?:(?:final|overall|clear|clearly|ultimate|obvious|correct|definite|better|best"
    r"|stronger|superior|preferred|winning|preferable)\s){0,2}"
    r"(?:winner|verdict|answer|choice|pick|preference|decision|judge?ment|vote|selection|conclusion"
    r"|favou?rite|story|one|text|narrative|of\sthe|piece|option|tale|version)\b"
)
# What may stand before "the verdict is": another word says whose verdict it is ("the reference verdict").
_ANOTHERS = late(
    r"(?:[,;:.!?—–(|>\"'•+-]|\b(?:so|and|but|that|then|thus|hence|therefore|think|believe|say|overall|is|as"
    r"|yet|because|since|conclude|feel|now|why|which|also|it's|while|though|although|where|however"
    r"|ultimately|finally|still|or|would|i|well|honestly|personally|i'd|we|to|me|must|will|reasons?|this|my"
    r"|our|has|slight|strong|clear|weak|mild|marginal))\s{0,2}\Z"
)

_GOES_ON = late(
    r"\A(?:[,;:.!)—–(|\"'\]]|</|\s?[-—–(]|\Z|\s(?:overall|because|since|as|due|thanks|owing|given|with|and|or"
    r"|which|that|but|although|though|while|whereas|despite|here(?!\sand)|too|also|again|to\sme|so|by|in|on|at|for"
    r"|when|regarding|from|of\sthe\stwo"
    r"|of\sthese|of\sthem|between\s(?:them|the\stwo|these|both|[①②])|of\sthis|on\sbalance|if|unless|based"
    r"|mainly|primarily|largely|simply|precisely|both|not|after|even|therefore|where|thus|hence|rather"
    r"|clearly|from|considering|only|every\stime|hands|without|depending|mostly|under|until|by|i|as\swell"
    r"|this\stime|among|narrowly|comfortably|slightly|easily"
    r"|after|against|chiefly|especially|particularly|all\sthings|all\sin\sall)\b)"
)
_CONDITION = late(
    r"\A[^.!?;\n]{0,120}?\b(?:(?<!\btell\s)(?<!\bsee\s)(?<!\bknow\s)if(?!\s(?:only|not|anything|i\s(?:had|have|must)|forced|pressed(?!\sfor)"
    r"|you\sask))|unless|depending|provided|assuming|had\s(?:it|the|its)|at\sfirst|initially|until|were\sit"
    r"|only\swhen)\b"
)
_SAID_BEHIND = late(
    r"\A,?\s(?:or\sso\s|as\s|by\s)?(?:some|many|most|others?|people|critics|readers|they|you|one|he|she"
    r"|according\sto|the\s\w{3,12}\s(?:says?|claims?|said))\b(?![^.!?]{0,40}\bbut\b)"
)
# Behind a verdict: whose it is, or what it does not hold of.
_LIMITED = late(
    r"\A\swhen\s(?!it\scomes|(?:all|everything|both|we|i|you|they)\s|compar|consider|weigh|taken|looking|judged)"
    r"|\A[^.!?①②\n]{0,60}?(?:,\s(?:says?|said|writes|wrote|claims?|claimed)\b|\bat\sleast\b|\bexcept\b|\b(?:way|respect|aspect)s?\sbut\b)"
)
# Behind a verdict: another story that is named in the same breath.
_OR_OTHER = late(
    r"\A[\"')\]]?(?:,?\s(?:or|and/or)\s(?:[a-z]{2,12}\s){0,2}[①②⓪]|\s?/\s?[①②⓪]|,?\sand\s[①②⓪](?:[.,;:!)\n]|\Z))"
)
_BUT = late(r"\s(?:but|yet|however)\b|[,;—–-]\s?(?:though|although)\b")
# Words that give a verdict on the whole, after others on its parts.
OVERALL = late(
    r"\b(?:overall|all\sin\sall|in\sconclusion|to\s(?:conclude|sum\sup)|in\ssum(?:mary)?|on\sbalance"
    r"|on\sthe\swhole|ultimately|in\sthe\send|all\sthings\sconsidered|taken\s(?:together|as\sa\swhole)"
    r"|taking\severything|weighing|altogether"
    r"|everything\sconsidered|in\sgeneral|final(?:ly)?|therefore|thus|hence|as\sa\swhole|verdict"
    r"|my\s(?:choice|pick|answer|vote|decision)|so)\b"
)

_FINAL = r"final\s(?:verdict|answer|decision|choice|judge?ment|pick|ranking|preference|winner|vote|call)"
_ANEW = (
    r"(?:up)?on\s(?:further\s|closer\s|second\s|more\s)?(?:reflection|thought|consideration"
    r"|reconsideration|rereading|reading|review)"
    r"|reconsider\w*|revis(?:e|ed|es|ing|ion)|correct(?:ion|ed|ing)|second\sthoughts?|scratch\sthat"
    r"|actually|wait|or\srather|make\sthat|(?:change|changed|changing)\smy\s(?:mind|answer|verdict|vote)"
    r"|no,\sit|instead|i\smisspoke|i\smeant|strike\sthat|hmm|looking\sagain|rereading"
)
# Words behind which an earlier verdict no longer holds.
REVISES = late(rf"\b(?:{_FINAL}|{_ANEW})\b")

# Those of them that also revise a verdict which was said to be final.
THINKS_ANEW = late(rf"\b(?:{_ANEW})\b")

# Words that take back what stands before them: what follows must say what holds instead.
TAKES_BACK = late(
    r"\b(?:chang(?:e|ed|ing)\smy\s(?:mind|answer|verdict|vote)|scratch\sthat|correction|take\s(?:that"
    r"|it)\sback|on\s(?:further\s|closer\s|second\s)?(?:reflection|thoughts?|consideration)"
    r"|actually,|just\skidding|never\s?mind|wait\b|reconsider\w*|strike\sthat|i\s(?:misspoke|was\swrong)"
    r"|revis(?:e|ed|ing)\smy)"
)

# Words of a label for a part of a story ("Use of dialogue:"); a longer one is a sentence.
_FEW = 3

_REAL_REVISION = late(r"\binstead\sof\b|\bactually\s(?:quite|very|rather|a)\b")
HEADING = late(r"\A[\s>•|+-]{0,6}(?:\(?\d{1,2}[.)]\s)?([^:\n①②]{1,60}?)\s?:\s")
_LAST_LABEL = late(r"((?:[\w'-]{1,20}\s){0,2}[\w'-]{1,20})\s?:\s[^:]*\Z")
_VERDICT_HEADING = late(
    r"\b(?:overall|verdict|answer|winner|conclusion|decision|summary|final|result|judge?ment|preference"
    r"|choice|assessment|evaluation|comparison|reasoning|explanation|reason|rationale|justification|ranking"
    r"|analysis|better|best|so|note|opinion|thoughts?|recommendation|vote|pick|bottom\sline"
    r"|feedback|antwort|fazit|correction|revision|edit|update|in\sshort|dr)\b"
)
PARTS = late(
    r"\b(?:plot\w*|style|stylistic\w*|characters?|characteri[sz]ations?|dialogues?|pac(?:e|ing)|prose"
    r"|coheren(?:ce|t)|relevan(?:ce|t)|empathy|surpris(?:e|ing)|engag(?:ement|ing)|complex(?:ity)?"
    r"|creativ(?:ity|e)|original(?:ity)?"
    r"|structur(?:e|al\w*)|endings?|openings?|beginnings?|middle|settings?|voice|tones?|themes?|emotions?"
    r"|emotional\w*|grammar|language|clarity|flow|depth|novelty|humou?r|description\w*|imagery|craft"
    r"|tension|world-?building|atmosphere|consistency|length"
    r"|technique|fluency|detail\w*|vocabulary|mood|conflict|resolution|logic|readability|interest|adherence"
    r"|criteri(?:on|a)|impact|quality\sof\s\w+)\b"
)


def stated(line: str, begin: int, start: int, stop: int, end: int, mark: str, criterion_words: frozenset[str]) -> str:
    """How the sentence [begin, end) of `line` states a preference at [start, stop).

    `overall`: explicitly overall ("on the whole, B is better"). `plain`: the sentence does not say. `part`: for one
    aspect of the stories. `denied`: not as the judge's preference. `mark` is the sentence's final punctuation mark. A
    preference for the requested criterion, by its `criterion_words`, does not count as `part`."""
    before, behind = line[begin:start], line[stop:end]
    if mark == "?":
        return "denied"
    own = phrases.behind_last(_RESET, before)
    if spoken_of(_NOT_DENIED.sub(" ", own)):
        return "denied"
    if not phrasing.own(own):
        return "denied"
    if not _GOES_ON.match(behind) or (line[start] in "①②" and _OF_THE_STORY.search(before)):
        return "part"
    if before.strip() and _VERDICTS_NAME.match(line, start, stop) and not _ANOTHERS.search(before):
        return "denied"
    if _SAID_BEHIND.match(behind) or _OR_OTHER.match(behind) or _LIMITED.match(behind):
        return "denied"
    if _CONDITION.match(_NOT_DENIED.sub(" ", behind)) or phrases.TEMPLATE.search(line, max(0, begin - 60), start):
        return "denied"
    if _of_a_part(line, begin, own, before, behind, criterion_words):
        return "part"
    return "overall" if OVERALL.search(before) or OVERALL.search(behind[:40]) else "plain"


def spoken_of(own: str) -> bool:
    """Whether the words before negate the preference, make it hypothetical, or give it to others or an earlier time."""
    clause = phrases.behind_last(_CLAUSE, own)
    if _DENIED.search(clause) or _OPINION_DENIED.search(own):
        return True
    ways = (_SUPPOSED, _AT_FIRST, _OTHERS, _SAYS, phrases.ELSEWHERE)
    return any(way.search(own) for way in ways)


def _of_a_part(line: str, begin: int, own: str, before: str, behind: str, criterion_words: frozenset[str]) -> bool:
    heading = HEADING.match(before)
    if heading is not None and _names_a_part(heading.group(1), criterion_words):
        return True
    nearest = _LAST_LABEL.search(before[-60:])
    if nearest is not None and PARTS.search(nearest.group(1)) and _names_a_part(nearest.group(1), criterion_words):
        return True
    opening = _PART_BEFORE.match(own) or _PART_BEFORE.match(own[own.rfind(",") + 1 :]) or _PART_ASIDE.search(own)
    if opening is not None and not _is_known(opening.string[opening.end() :], criterion_words):
        return True
    part = _PART_BEHIND.match(behind)
    if part is not None and not _is_known(behind[part.end() :], criterion_words):
        return True
    whole = OVERALL.search(before) or OVERALL.search(behind[:40])
    return not whole and under_part(line, begin, criterion_words)


def _names_a_part(words: str, criterion_words: frozenset[str]) -> bool:
    # A short label of unknown words counts as an aspect too.
    if _VERDICT_HEADING.search(words) or _is_known(words, criterion_words):
        return False
    return PARTS.search(words) is not None or len(words.split()) <= _FEW


def under_part(line: str, begin: int, criterion_words: frozenset[str]) -> bool:
    """Whether the nearest heading above the sentence at `begin` names an aspect of a story: "### Plot"."""
    line_break = line.rfind("\n", 0, begin + 1)
    for _ in range(6):
        if line_break <= 0:
            return False
        above = line.rfind("\n", 0, line_break)
        text = line[above + 1 : line_break].strip()
        if text and len(text) <= 60 and text[-1] not in ".!?" and not any(c in "①②⓪" for c in text):
            return (
                PARTS.search(text) is not None
                and not _VERDICT_HEADING.search(text)
                and not _is_known(text, criterion_words)
            )
        if text and text[-1] not in ".!?:":
            return False
        line_break = above
    return False


def verdict_heading(text: str) -> bool:
    """Whether the words of a label or heading announce an overall verdict."""
    return _VERDICT_HEADING.search(text) is not None


def revises(before: str) -> bool:
    """Whether the words before a statement withdraw an earlier statement."""
    return any(not _REAL_REVISION.match(before, m.start()) for m in REVISES.finditer(before))


def goes_on_but(behind: str) -> bool:
    """Whether the rest of a sentence withdraws the statement at its beginning."""
    return _BUT.search(behind) is not None


def _is_known(words: str, criterion_words: frozenset[str]) -> bool:
    return bool(criterion_words) and not criterion_words.isdisjoint(re.findall(r"[\w']+", words)[:6])


# Which story or tie the sentences of a comparing answer prefer, overall or for one aspect.

# Half the characters of a sentence that are read, its last ones: this bounds the time for a text without stops.
_REACH = 700

_SIDES = (FIRST, SECOND)


@dataclass(frozen=True, slots=True)
class Statement:
    """A preference at [start, stop) of a `Sheet`'s `line`, in the sentence or label [begin, end).

    `kind` is `form` (an answer: "Verdict: B"), `overall` (explicitly: "on the whole, B is better"), `plain` (it does
    not say), `praise` (no verdict if any statement speaks against it), or, never verdicts, `part` (one aspect) and
    `early` (called a first impression). `side` is the symbol of the preferred story or of a tie, and `position` where
    the story is named. `revises`: it withdraws earlier statements. `direct`: the label at `position` is itself the
    answer."""

    side: str
    kind: str
    start: int
    stop: int
    begin: int
    end: int
    position: int
    revises: bool = False
    direct: bool = False


def sentence_statements(sheet: Sheet, sentences: list[Sentence], criterion_words: frozenset[str]) -> list[Statement]:
    """The preferences that the sentences state, without duplicates."""
    statements: list[Statement] = []
    prefers, ties = possible(PREFERS, sheet.line), possible(TIES, sheet.line)
    for sentence in sentences:
        begin, end = max(sentence.begin, sentence.end - 2 * _REACH), sentence.end
        part = sheet.line[begin:end]
        if FIRST in part or SECOND in part:
            statements += _preferences(
                sheet.line, Sentence(begin, end, sentence.mark), possible(prefers, part), criterion_words
            )
        if tie_phrases := possible(ties, part):
            statements += _ties(sheet.line, Sentence(begin, end, sentence.mark), tie_phrases, criterion_words)
    return statements


def _preferences(line: str, sentence: Sentence, phrases: Phrases, criterion_words: frozenset[str]) -> list[Statement]:
    statements: list[Statement] = []
    for phrase in phrases:
        for match in phrase.pattern.finditer(line, sentence.begin, sentence.end):
            side, position = _winner(match)
            if side is None:
                continue
            how = stated(line, sentence.begin, match.start(), match.end(), sentence.end, sentence.mark, criterion_words)
            if how == "denied":
                continue
            soft = "soft" in match.groupdict() and match.group("soft") is not None
            kind = "praise" if soft and how != "part" else how
            if kind == "praise" and _rivalled(line, match, side, overall=how == "overall"):
                continue
            statements.append(_statement(side, kind, match, sentence, position))
    return statements


def _statement(side: str, kind: str, match: re.Match[str], sentence: Sentence, position: int) -> Statement:
    revised = revises(match.string[sentence.begin : match.start()])
    return Statement(side, kind, *match.span(), sentence.begin, sentence.end, position, revised)


_COMPARES = late(
    r"[^.!?;\n①②]{0,60}?\b(?:more|better|stronger|superior|best|wins?|edge|ahead|most|(?!other|after|under"
    r"|over|never|ever|reader|character|whether|rather|however|writer|together)\w{3,}er)\b"
)


def _rivalled(line: str, match: re.Match[str], side: str, *, overall: bool) -> bool:
    # Praise that is not compared with the other story, or while the other is praised too, is no verdict.
    if not overall and match.groupdict().get("l") is None:
        return True
    other = OTHER[side]
    position = line.find(other)
    while position >= 0:
        if _COMPARES.match(line, position + 1):
            return True
        position = line.find(other, position + 1)
    return False


_CANNOT = late(r"i\s[^①②]{0,30}?(?:can|unable|able|could)")
# Behind "I cannot choose between them": a hindrance, and no tie.
_REASON = late(r",?\s(?:because|without|until|unless|as|since|due|for|if|in\sgood)\b")


def _winner(match: re.Match[str]) -> tuple[str | None, int]:
    # The story is None where winner and loser are the same or unknown.
    groups = match.groupdict()
    winner, loser = groups.get("w"), groups.get("l")
    if winner is not None and loser == winner:
        return None, 0
    if winner is not None:
        return winner, match.start("w")
    if loser in _SIDES:
        return OTHER[loser], match.start("l")
    return None, 0


def _ties(line: str, sentence: Sentence, phrases: Phrases, criterion_words: frozenset[str]) -> list[Statement]:
    statements: list[Statement] = []
    for phrase in phrases:
        for match in phrase.pattern.finditer(line, sentence.begin, sentence.end):
            groups = match.groupdict()
            if groups.get("x") is not None and groups["x"] == groups["y"]:
                continue
            how = stated(line, sentence.begin, match.start(), match.end(), sentence.end, sentence.mark, criterion_words)
            if how == "denied" or (how != "part" and goes_on_but(line[match.end() : sentence.end])):
                continue
            if _CANNOT.match(match.group()) and _REASON.match(line, match.end()):
                continue
            statements.append(_statement(TIE, how, match, sentence, match.start()))
    return statements
