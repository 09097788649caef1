"""Words that introduce a judge's own verdict: "so I would say that", "in the end". Only known words count: too many can
attribute a verdict to others, make it conditional or limit it, to list these instead."""

from __future__ import annotations

import re

from judge.answers.parsing.words.vocabulary import word_set

_LEADS = word_set(
    "i we i'd i'll i'm i've would will must have has had to can do did am is are be been was it it's this that these "
    "those there the a an my our own me us say saying said think believe feel find conclude concluded argue maintain "
    "determined "
    "consider judge decide decided hold know see found reached suggest suggests makes make making leads "
    "lead leaves leave brings confident convinced certain sure inclined tempted going forced happy ready opinion view "
    "mind judgement judgment assessment evaluation estimation verdict conclusion decision answer choice pick vote "
    "preference winner result edge nod win prize victory advantage favor favour reason reasons clear evident obvious "
    "apparent plain fair safe seems appears seem appear looks feels therefore thus hence so and but yet because since "
    "as for why which what in on at of by with from all overall ultimately finally taken together altogether two both "
    "stories between final better story one other considered considering things everything balance whole end summary "
    "short sum brief then now here given definitely certainly probably likely simply just also still undoubtedly "
    "easily however nevertheless nonetheless though although while whereas even very slight slightly strong strongly "
    "clearly much far only not doubt without no question let's well ok okay yes hmm actually indeed truly really "
    "honestly personally frankly reflection second thought thoughts reading closer consideration careful stands "
    "accordingly consequently narrowly marginally comfortably up down out comes come goes whichever way more most "
    "points point comparison compared analysis above tl dr conclude evaluated weighing if anything weighed "
    "combined aspects criteria factors elements facts better best stronger superior wins correct "
    "preferred tie draw call equal again based hand time too gives sense feeling impression perspective "
    "give giving tips scale scales balance falls opt settle settled go"
)
_LAST_CLAUSE = re.compile(r"[,;—–(|>]\s?|\s-\s|/\s?")
_WORD = re.compile(r"[^\W\d_][\w']*")
# Openings behind which a verdict holds in one case, for one part, or for others.
_ONLY_THEN = re.compile(
    r"(?:\A|[,;:—–(]\s)\W{0,6}(?:(?:and|but|so|or)\s)?(?:without\s(?!(?:an?y?\s)?(?:doubt|question|hesitation))"
    r"|with\s(?:an?|more|some|another|less|fewer|better)\s|once\s|whenever\s|after\s(?:a|some|another)\s(?:re|edit)"
    r"|when\s(?!it\scomes|we(?:igh|\scompare|\sconsider)|i\s(?:weigh|compare|consider)|weigh|compar|consider|all"
    r"|taken|looking)|(?:apart|aside|except|excepting|besides|provided|granted|say|let|sometimes|had|should|were)\b"
    r"|(?:as|so)\slong\sas|by\s(?!far|an?\s|all|every|any))"
    r"|\b(?:supposed|alleged|reported|purported|presumab|ostensib|theoretical|seeming|apparent|occasional|rare|usual"
    r"|typical)ly\b|\brumou?red\b|\bi\s(?:doubt|fear|wonder)\b|\byet\sto\b|\bsee\s(?:why|how)\b"
)
# The A of "Q:" and "A:" looks like a name.
_ANSWER_MARK = re.compile(r"\W{0,3}①\s?")
# Openings of a clause that leaves the verdict standing; of a part or a condition among them, others tell.
_CONCEDES = re.compile(
    r"\W{0,8}(?:\d{1,2}[.)]\s)?(?:(?:and|but|so|yet)\s)?(?:while|whereas|although|though|even\s(?:though|if)|despite|in\sspite\sof"
    r"|notwithstanding|given(?!\san?\b)|because|since|as\s(?:it(?!\s(?:begins|opens|starts|ends|goes|closes))|both|they|its|there|an?\s(?:\w+\s)?(?:judge|reader|expert|evaluator|editor|critic|ai))"
    r"|considering|comparing|weighing|having|after\s(?:\w+ing|careful|much|due|thorough|reflection|consideration|an?\scareful|all)|based|due\sto|owing|thanks\sto|for|with\s(?:its|their|that|this|all)"
    r"|in|on|to\s(?!an?\b|the\b|some|most|many)|from|by|all|it|it's|i|i'd|we|both|neither|each|this|that|these|there|the|not|overall|when|looking"
    r"|between|of|if|taking|taken\s(?:together|as\sa\swhole|all)|everything|what|my|our|they|no|hence|stories|two|putting|put|simply|one|once|regarding"
    r"|concerning|under|at|judged|judging|purely|solely|as\sfor)\b"
)
_NAME = re.compile("[①②⓪]")
_DIALOGUE = re.compile(r"[ \t][-–—][ \t]")
# Words before a colon: more are a sentence.
_HEADING_WORDS = 5


def own(before: str, *, names: bool = False) -> bool:
    """Whether the words before a verdict introduce it as the judge's own. With `names`, they may name stories: "A is
    better: [[A]]"."""
    if _ONLY_THEN.search(before) or _DIALOGUE.match(before):
        return False
    if not _may_open(before, names):
        return False
    start = 0
    for match in _LAST_CLAUSE.finditer(before):
        start = match.end()
    heading, _, clause = before[start:].rpartition(":")
    return _leads_up(clause, names) and (_leads_up(heading, names) or _is_heading(heading))


def _may_open(before: str, names: bool) -> bool:
    # Up to a comma: it may name a story, or give a reason or a concession, but not a condition or a place.
    opening, comma, _ = before.partition(",")
    if not comma or _NAME.search(opening) is not None:
        return True
    clause = opening[opening.rfind(":") + 1 :]
    return _CONCEDES.match(clause) is not None or _leads_up(clause, names)


def _leads_up(words: str, names: bool) -> bool:
    if names:
        words = _NAME.sub(" ", words)
    return all(word in _LEADS or word.endswith("ly") for word in _WORD.findall(words))


def _is_heading(words: str) -> bool:
    heading_words = _WORD.findall(words)
    return _ANSWER_MARK.fullmatch(words) is not None or (
        len(heading_words) <= _HEADING_WORDS and not any(c in words for c in "①②◌")
    )
