"""Phrases in which a judge mentions a rating without giving it, for lower case and straight apostrophes; see
`assertion`."""

from __future__ import annotations

import re

from judge.base.late_pattern import late


def _any(*phrases: str) -> str:
    # Each argument holds related alternatives, separated by bars.
    return "(?:" + "|".join(phrases) + ")"


def _word(*phrases: str) -> re.Pattern[str]:
    return re.compile(rf"\b{_any(*phrases)}\b")


_WOULD = r"(?:would|could|might|may|\w+'d)"
_UNITS = r"(?:\s(?:stars?|points?|rating|score|out of \w+))?"
_OPENS = r"(?:\A|[,;(—–]\s*)\W*"
# Words in -er that compare nothing, so that "with the other" is not "with a better".
_NOT_COMPARED = _any(
    "other|river|mother|father|brother|sister|winter|summer|never|ever|letter|matter|after|under|over|water",
    "character|reader|writer|order|number|power|chapter|hunter|soldier|danger|master|monster|daughter|together",
    "whether|rather|however|narrator|clever|tender|bitter|sober|proper|wonder|corner|border|tower|flower",
)
_COMPARATIVE = _any(
    "more|better|less|fewer|different|another|other|proper|real|actual|stronger|little|few|some|any",
    rf"(?!{_NOT_COMPARED}\b)\w{{3,}}er",
)

# Behind it, what came before in the sentence no longer bears on the rating ("..., but I give it a 3").
RESET = late(r"(?:[,;:—–(]\s*|\s)(?:so|but|yet|therefore|thus|hence|nevertheless|nonetheless)\s")

CLAUSE_END = late(
    r"[,;:—–(|]|\s-\s|\b(?:and|or|because|since|although|though|while|whereas|which|where|when)\s(?!an?\s)"
)

# Phrases that hold a word of the other patterns and mean nothing of the kind ("without a doubt", "if I had " "to
# rate").
ASIDE = _word(
    "no more (?:and|or) no less|not (?:only|just|merely|least)|even if|as if|had i to",
    "(?:without|no) (?:(?:an?y?|much|further) )?(?:doubt|question|hesitation|reservations?|ado|problem|trouble|qualms)",
    "(?:wonder(?:s|ed|ing)?|unclear|unsure|know|knows|see|decide|matter|ask|asks) if",
    "if (?:i|we) (?:had|have|were|must|am|was|need|needed)(?: to| asked| forced| pressed| obliged| required)? ?(?:to )?"
    "(?:rate|score|grade|choose|pick|give|assign|judge|put|say|decide|settle)",
    "if (?:i must|you ask me|asked|forced|pressed|pushed|anything)",
)

# Phrases of a rating under a condition that does not hold.
HYPOTHETICAL = late(
    _any(
        r"\A\W*(?:then |and |or )?(?:had|were|should) (?:i|we|it|he|she|they|the|this|that|its|there|his|her"
        r"|their|an?)\b",
        r"\b(?:if|unless|provided that|as long as|suppos(?:e|ing)|imagin(?:e|ing)|assum(?:e|ing)|pretend(?:ing)?)\b",
        r"\b(?:were it|had it|hypothetically|in a world|with the same)\b",
        rf"{_OPENS}(?:without|but for|barring|absent|minus|excepting)\b",
        rf"\bwith (?:an?|just an?|only an?|slightly|just|only)?\s?{_COMPARATIVE}\b[^.!?\n]*\b{_WOULD}\b",
        rf"{_OPENS}with (?:an? |slightly |just )?{_COMPARATIVE}\b[^.!?\n:]{{0,60}}"
        r",[^.!?\n:,]{0,20}\b(?:rating|score):",
        r"\b(?:on|in) (?:another|a(?:ny)? different|an?y? other|my (?:best|worst)|other|a (?:good|bad|better"
        r"|worse|kinder"
        r"|harsher|generous|lenient|harsh|strict|kind)) (?:days?|moods?|world|context|genre|reading|week|case"
        r"|circumstances|life|universe|light)\b",
        r"\b(?:another|(?:one|a) more) (?:\w+ )?(?:draft|pass|edit|revision|round|rewrite)\b",
        r"\bas an? (?:film|movie|book|novel|poem|essay|game|song)\b",
    )
)

# A rating that was given by another source, or at another time.
ELSEWHERE = late(
    _any(
        r"\baccording to (?!the (?:scale|guideline|criteri|rubric|definition)|my\b)",
        r"\bas (?:the|an?|his|her) (?!guideline|scale|criteri|rubric|definition)\w+ (?:says?|said|puts? it|writes?"
        r"|wrote|claims?|tells)\b",
        r"\bin (?:the|an?) (?:\w+ )?(?:study|paper|experiment|survey|dataset|poll|contest|competition|class|workshop"
        r"|article)\b",
        r"\b(?:usually|normally|typically|often|sometimes|ordinarily|in the past|yesterday|last (?:time|week"
        r"|month|year)"
        r"|tend to|whenever|every time)\b",
    )
)

# Openings behind which a rating may be given or only be imagined.
UNSURE = late(
    _any(
        rf"{_OPENS}(?:ignoring|disregarding|forgetting|leaving aside|setting aside|apart from|aside from|except for"
        r"|excluding|discounting)\b",
        rf"\bwith an? [^.!?\n]*\b{_WOULD}\b",
        r"\b(?:seems?|seemed|feels?|felt|looks?|looked|reads?|sounds?|sounded) (?:\w+ )?(?:like|as)\b",
    )
)

AT_FIRST = _word(
    "at first|initially|originally|previously|formerly|earlier on",
    "first (?:glance|sight|look|impression|impulse|instinct|thought|guess|reaction|inclination|reading)",
    "initial (?:rating|score|grade|mark|verdict) (?:was|had|would)",
)

# The judge or the story as the subject of a clause of its own.
OWN_SUBJECT = late(
    r"\b"
    + _any(
        "i|i'd|i'll|i'm|i've|we|we'd|my (?:final |overall |own )?(?:rating|score|verdict|answer|grade)",
        "(?:the|this) (?:story|text|narrative|tale|piece|work)|it's",
        r"it (?=(?:is|deserves|gets|earns|scores|merits|rates|receives|warrants)\b)",
    )
    + r"(?![\w'])"
)

# A word whose object is the clause that follows, so that its denial reaches that clause ("I do not think " "the
# story").
HOLDS_A_CLAUSE = late(
    r"\b"
    + _any(
        "think|believe|say|says|feel|mean|see|claims?|certain|sure|convinced|true|clear|doubts?|that|why|how|what",
        "suggests?|argues?|insists?|agree|pretend|makes?|let|hope|wish|than|of|if|whether",
    )
    + r"\s+\Z"
)

DENIED = _word(
    r"not|never|no|nor|neither|nothing|nobody|none|hardly|barely|scarcely|cannot|\w+n't|rather than|instead of",
    r"doubt\w*|refus\w+|declin\w+|hesita\w+|reluctan\w+|tempt\w+|unwilling|avoid\w*|refrain\w*|prevent\w*|fail\w*|lack\w*",
    r"miss(?:es|ed)?|almost|nearly|(?:keep|keeps|kept|stop|stops|stopped|holds?|held) [^.!?\n]*\bfrom",
    "(?:short|shy|north|south) of|(?:far|away) from|nowhere near|near(?: to)?|close to|verge of",
    r"too \w+ (?:to|for)|(?:wrong|unfair|unjust|hard|difficult|impossible|generous|harsh|absurd|premature|foolish|silly"
    r"|easy|mistake|kind|cruel|wrong of me) (?:to|for)",
    r"(?:better|worse|more|less|higher|lower|other|greater|stronger|weaker) than|(?:as|so) \w+ as",
    r"at (?:least|most)|up to|good enough for|resembl\w+|approach\w*|border\w* on",
)

# Phrases of what the judge wanted, considered or could do, and did not.
INTENDED = _word(
    "(?:was|were|had|been|felt|am|being|is) (?:just |almost |only |half |also )?(?:about to|going to (?!be)|tempted"
    "|ready to|set to|prepared to|planning|hoping|minded|close to|thinking|considering|wavering|torn"
    "|supposed|asked|told"
    "|ordered|instructed|expected|encouraged|urged|invited)",
    "(?:was|were|had|felt) (?:just |almost |only )?(?:going|inclined|leaning|planned|intended|wanted|hoped|meant|set"
    "|drawn)",
    "wanted|want|wish|planned|meant|intended|hoped|considered|consider (?:giving|rating|a)|contemplat\\w+"
    "|debated|toyed",
    "wondered|pondered|thought (?:about|of)|think (?:about|of)|see (?:giving|rating|it getting|how|why)|imagine",
    "might|may|could|first (?:thought|gave|rated|would|said|wanted|considered|had|put|scored)",
)

_PEOPLE = _any(
    "humans?|people|readers?|raters?|annotators?|critics?|reviewers?|experts?|users?|crowd|crowd ?workers|workers",
    "estimates?|judges|jury|audience|colleagues?|teachers?|friends?|others?|everyone|everybody|someone|somebody|nobody",
    "anyone|anybody|students?|editors?|scholars?|some|many|most|few|you|he|she|they|authors?|writers?|narrators?",
    r"hero|heroine|characters?|protagonist|prompt|guidelines?|instructions?|gpt\S*|chatgpt|claude|gemini|llama|models?",
    "goodreads|amazon|imdb|wikipedia|another|one",
)
_RATES = _any(
    "rates?|rated|gave|gives?|given|scores?|scored|award(?:s|ed)?|grades?|graded|marks?|marked|judged?|said|says?|claims?",
    "claimed|thinks?|thought|believes?|believed|asks?|asked|wants?|wanted|told|tells?|assign(?:s|ed)?|calls?|called",
    "considers?|considered|finds?|found|ranks?|ranked|puts?|writes?|wrote|argues?|argued|insists?|insisted|suggests?",
    "suggested|would|might|may|could|can|will|demands?|requests?|expects?|hopes?|requires?|define[sd]?|describe[sd]?",
)
OTHERS_RATE = late(rf"\b{_PEOPLE}\b(?: \w+){{0,5}}? {_RATES}\b")

_OTHER = "previous|prior|earlier|last|other|first|second|third|next|reference|original|former|old|older|final"
_PARTS = _any(
    "story|stories|draft|version|one|text|attempt|half|part|scene|chapter|paragraph|tale|piece|sentence|act|section",
)
_OTHER_OBJECT = _any(
    r"\b(?:story|text|draft|version|response|answer|candidate|essay) (?:[a-z0-9]|one|two|three) "
    "(?=was|is|gets?|got|deserves|received)",
    rf"\b(?:{_OTHER}) {_PARTS}\b",
)
OTHER_OBJECT = late(_OTHER_OBJECT)

EXAMPLE = late(
    r"(?:\be\.g\.?,?|\bfor (?:example|instance),?|\bexamples?,?:?|\bsuch as|\bsay,)\s{0,2}"
    r"(?:an?\s)?(?:(?:rating|score)\s)?(?:of\s)?(?:an?\s)?\Z"
)
# The form of an answer rather than an answer: "Example output: ...", within a label's reach of the number.
TEMPLATE = late(
    r"(?:\b(?:examples?|samples?|templates?|placeholder|format(?:ted)?|illustration)\b"
    r"|\b(?:look|looks|looking|read|reads) like(?: this| so)?\b)"
    r"[^.!?\n]{0,24}[:：]\s{0,4}[^.!?\n]{0,30}\Z"
)

GERUND = late(r"\A\W*(?:giving|rating|scoring|calling|awarding|assigning|marking|grading|choosing|picking)\b")
# With `GERUND`: "Giving it a 2 would be unfair".
BEING_AFTER = late(rf"{_UNITS}[\"']?\s(?:would|is|was|seems?|feels?|might|could|may)\b")

_FIT = "appropriate|fair|fitting|my|suitable|right|good|reasonable|accurate|just|adequate|apt"
ONLY_SPOKEN_OF = late(
    rf"{_UNITS}(?:\s\([^()\n]{{0,20}}\))?(?:\son\s(?:this|the|that|a)\sscale)?[\"']?\s"
    + _any(
        rf"(?:would|could|might|may)(?!\s(?:be|seem)\s(?:an?\s)?(?:{_FIT})\b)\b",
        r"(?:requires?|needs?|means?|indicates|represents|describes|denotes|signifies|corresponds|stands?\sfor|isn't)\b",
        r"(?:is|was|seems?|feels?)\s(?:too|out\sof|reserved|defined|meant|for|not|what|when|where|given\sto|only\sfor|overly"
        r"|unduly|an?\s(?:story|text))\b",
    )
)
BY_OTHERS = late(rf"{_UNITS}\s(?:by|from|according\sto)\s(?!me\b|us\b|my\b|1\b|the\s(?:scale|guidelines|criteri))")
TO_ANOTHER = late(
    _any(
        rf"{_UNITS}\s(?:to|for)\s(?:an?\s(?:similar|different|other)|another|other|stories|texts|any|every|such|those|most"
        r"|many|some|someone|anyone|people|readers|children)\b",
        rf"{_UNITS}[^.!?\n,;]{{0,20}}?\s(?:to|for|on)\s(?:the|its|my|his|her|their)\s(?:\w+\s)?{_OTHER_OBJECT}",
    )
)
# On the text in its own case: "a 2 on Goodreads".
PLACE_NAME = late(r"(?:\s(?:stars?|points?|out of \w+|/\s?\w+))?\s(?:on|at|in)\s(?:the\s)?([A-Z]\w+)")

CONDITION_AFTER = _word(
    "if|unless|had (?:it|the|this|i|there|its)|were (?:it|the|this|its|there)|assuming|until|only when|at"
    " first|initially",
    "without (?!(?:a|any|much) (?:doubt|question|hesitation|reservation))|but for|in another|except for",
    r"on (?:another|a good|a bad|other|a different) \w+|last (?:time|year|week|month)",
    rf"with (?:an? |slightly )?{_COMPARATIVE}",
)
NOT_A_CONDITION = late(
    r"\b(?:even|as|wonder|unclear|unsure|know) if\b|\bif (?:only|not|any|anything|at all|you|i (?:may|had to))\b"
)
SUFFIX_END = late(r"[,;:—–(]|\b(?:because|since|as|although|though|but|and|which|while)\b")

TOPIC = late(
    r"\W*(?:in terms of|as far as|for|regarding|as for|as to|concerning|on|with (?:regard|respect) to"
    r"|when it comes to)\s"
    r"((?:[^\W\d_]+\s?){1,3})"
)
HEADING = late(r"\W*((?:[\w'-]+ ){0,3}[\w'-]+)\s?:\s")


def behind_last(stop: re.Pattern[str], text: str) -> str:
    """The text behind the last match of `stop`; all of it without one."""
    start = 0
    for match in stop.finditer(text):
        start = match.end()
    return text[start:]
