"""Phrases by which judges prefer one of two stories: group `w` is preferred, `l` the other, and `soft` marks praise
that alone is no verdict ("more engaging"). Gaps are bounded, so that a pattern takes linear time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from judge.answers.parsing.vocabulary import word_set
from judge.base.late_pattern import late

# Words that introduce a judge's own verdict: "so I would say that", "in the end". Only known words count: too many
# can attribute a verdict to others, make it conditional or limit it, to list these instead.

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
_LAST_CLAUSE = late(r"[,;—–(|>]\s?|\s-\s|/\s?")
_WORD = late(r"[^\W\d_][\w']*")
# Openings behind which a verdict holds in one case, for one part, or for others.
_ONLY_THEN = late(
    r"(?:\A|[,;:—–(]\s)\W{0,6}(?:(?:and|but|so|or)\s)?(?:without\s(?!(?:an?y?\s)?(?:doubt|question|hesitation))"
    r"|with\s(?:an?|more|some|another|less|fewer|better)\s|once\s|whenever\s|after\s(?:a|some|another)\s(?:re|edit)"
    r"|when\s(?!it\scomes|we(?:igh|\scompare|\sconsider)|i\s(?:weigh|compare|consider)|weigh|compar|consider|all"
    r"|taken|looking)|(?:apart|aside|except|excepting|besides|provided|granted|say|let|sometimes|had|should|were)\b"
    r"|(?:as|so)\slong\sas|by\s(?!far|an?\s|all|every|any))"
    r"|\b(?:supposed|alleged|reported|purported|presumab|ostensib|theoretical|seeming|apparent|occasional|rare|usual"
    r"|typical)ly\b|\brumou?red\b|\bi\s(?:doubt|fear|wonder)\b|\byet\sto\b|\bsee\s(?:why|how)\b"
)
# The A of "Q:" and "A:" looks like a name.
_ANSWER_MARK = late(r"\W{0,3}①\s?")
# Openings of a clause that leaves the verdict standing; of a part or a condition among them, others tell.
_CONCEDES = late(
    r"\W{0,8}(?:\d{1,2}[.)]\s)?(?:(?:and|but|so|yet)\s)?(?:while|whereas|although|though|even\s(?:though|if)|despite|in\sspite\sof"
    r"|notwithstanding|given(?!\san?\b)|because|since|as\s(?:it(?!\s(?:begins|opens|starts|ends|goes|closes))|both|they|its|there|an?\s(?:\w+\s)?(?:judge|reader|expert|evaluator|editor|critic|ai))"
    r"|considering|comparing|weighing|having|after\s(?:\w+ing|careful|much|due|thorough|reflection|consideration|an?\scareful|all)|based|due\sto|owing|thanks\sto|for|with\s(?:its|their|that|this|all)"
    r"|in|on|to\s(?!an?\b|the\b|some|most|many)|from|by|all|it|it's|i|i'd|we|both|neither|each|this|that|these|there|the|not|overall|when|looking"
    r"|between|of|if|taking|taken\s(?:together|as\sa\swhole|all)|everything|what|my|our|they|no|hence|stories|two|putting|put|simply|one|once|regarding"
    r"|concerning|under|at|judged|judging|purely|solely|as\sfor)\b"
)
_NAME = late("[①②⓪]")
_DIALOGUE = late(r"[ \t][-–—][ \t]")
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


@dataclass(frozen=True, slots=True)
class Phrase:
    """A pattern of words that prefer a story. Every match has one of `signs`, which are searched first, to save
    time."""

    signs: tuple[str, ...]
    pattern: re.Pattern[str]


def _words(text: str) -> tuple[str, ...]:
    # "_" inside a word becomes a space.
    return tuple(word.replace("_", " ") for word in text.split())


Phrases = Sequence[Phrase]


def possible(phrases: Phrases, part: str) -> list[Phrase]:
    """The phrases that may match in a part of a line, because it contains one of their substrings."""
    possible_phrases = []
    for phrase in phrases:
        for sign in phrase.signs:
            if sign in part:
                possible_phrases.append(phrase)
                break
    return possible_phrases


_SIDE = "[①②]"
_ADVERB = (
    r"(?:(?!hardly|barely|scarcely|nearly|equally|possibly|supposedly|allegedly|initially|similarly|usually|typically"
    r"|merely|only|previously|formerly|normally|early|likely\sto|generally\sconsidered)\w{2,15}ly"
    r"|much|far|a\sbit|a\slittle|a\stouch|just|still|also|even|by\sfar|somewhat|rather|quite|very"
    r"|in\smy\s(?:opinion|view)"
    r"|to\sme|for\sme|to\smy\smind|on\sbalance|on\sthe\swhole|in\sthe\send|in\sgeneral|therefore|thus|hence"
    r"|indeed|likely"
    r"|again|altogether|all\sin\sall|overall|here|then|now|significantly|so|the\smore|way|miles|leagues"
    r"|without\s(?:a\s)?doubt"
    r"|without\squestion|no\sdoubt|hands\sdown|not\sonly|as\sa\swhole|i\s(?:think|believe|feel|would\ssay|find))"
)
_MORE = rf"(?:,?\s{_ADVERB},?){{0,4}}"
_KIND = (
    r"(?:story|one|text|narrative|piece|tale|option|output|answer|summary|response|version|candidate|work|entry|submission|choice|pick"
    r"|of\sthe\stwo(?:\sstories)?|read|writing|of\s(?:writing|fiction|work|storytelling|literature|prose|art))"
)
_THAN = (
    rf"(?:\s(?:than|to|over)\s(?P<l>{_SIDE}|the\sother(?:\s(?:one|story|text|piece))?|its\s(?:rival"
    rf"|counterpart|competitor)|the\salternative)(?!'s))"
)
_GOOD = r"better|stronger|superior|preferable|preferred|best|strongest"
_PRAISE = (
    r"more\s(?:compelling|engaging|enjoyable|effective|satisfying|interesting|impressive|successful"
    r"|convincing|captivating"
    r"|appealing|polished|accomplished|memorable|rewarding|complete)"
)
_BAD = (
    r"worse|weaker|inferior|worst|weakest|less\s(?:good|compelling|engaging|enjoyable|effective|satisfying|successful)"
)
_IS = (
    r"(?:is|was|remains|(?:feels|reads)\s(?:as|like)|seems|appears|proves|emerges(?:\sas)?|stands\sout\sas|comes\s(?:across|out)(?:\sas)?"
    r"|ends\sup(?:\sas)?|has\sto\sbe|must\sbe|is\sfor\sme|is\sto\sme)(?:\s(?:to\sbe|as))?"
)
_I = (
    r"(?:\b(?:i|we)(?:'d|'ll|'m|\swould|\swill|\sam|\sare|\smust|\sshould|\shave\sto|\sdo|\shad\sto"
    r"|\scan\sonly|'m\sgoing\sto"
    r"|\sam\sgoing\sto)?)"
)
_CHOOSE = (
    r"(?:prefer|preferred|choose|chose|choosing|pick|picked|picking|select|selected|selecting|favou?r"
    r"|favou?red|vote\sfor"
    r"|voting\sfor|voted\sfor|go\swith|going\swith|went\swith|go\sfor|going\sfor|opt\sfor|opting\sfor"
    r"|opted\sfor|side\swith|siding\swith"
    r"|lean(?:ing)?\s(?:more\s)?(?:towards?|to)|inclined\s(?:to\s(?:pick|choose|prefer|go\swith|favou?r)|towards?)"
    r"|settle\s(?:on|for)|settled\son|answer(?:\swith)?|say|conclude\sfor|decide\s(?:on|for|in\sfavou?r\sof)"
    r"|come\sdown\son\sthe\sside\sof)"
)
_PRIZE = r"(?:edge|win|nod|victory|vote|preference|slight\sedge|advantage|point|prize|crown|upper\shand|verdict|title)"

_BETTER = (
    rf"(?P<w>{_SIDE})(?:\sstory|\sone)?(?:,?\s{_ADVERB},?){{0,2}}\s{_IS}{_MORE}\s(?:(?:the|my"
    rf"|a)\s)?(?:{_ADVERB}\s){{0,2}}"
)

PREFERS: tuple[Phrase, ...] = (
    Phrase(
        _words("better stronger superior prefer best strongest winner favo more_"),
        late(
            rf"{_BETTER}(?:{_GOOD}|winner|clear\swinner|overall\swinner|favou?rite"
            rf"|(?P<soft>{_PRAISE}))(?:\s{_KIND}){{0,2}}{_THAN}?(?![\w'-])"
        ),
    ),
    Phrase(
        _words("choice pick winner answer vote preference selection verdict favo prefer choose"),
        late(
            rf"(?P<w>{_SIDE})(?:\swould\sbe|\sis|\sgets|\shas|\shas\sto\sbe|\sremains|\swins|\stakes|\searns"
            rf"|\sreceives){_MORE}\s(?:my|the\sone\si(?:'d|\swould)?|the\sstory\si|what\si|our)"
            rf"{_MORE}\s(?:(?:overall|final|clear|personal|first)\s)?(?:choice|pick|winner|answer|vote|preference"
            rf"|selection|verdict|favou?rite"
            rf"|prefer(?:red)?|(?:(?:would|'d)\s)?(?:choose|pick|prefer))(?:\s(?:story|one|choice|pick))?{_THAN}?(?![\w'-])"
        ),
    ),
    Phrase(
        _words("win won prevail triumph take ahead on_top rank carries gets_the edge advantage upper_hand above"),
        late(
            rf"(?P<w>{_SIDE}){_MORE}\s(?:(?:should|has\sto|must|deserves\sto|does"
            rf"|to)\s)?{_ADVERB}?\s?(?:wins?|won|prevails?|triumphs?|takes?\s(?:it|the\s{_PRIZE}|this\sone)"
            rf"|comes?\s(?:out\s)?(?:on\stop|ahead)|ranks?\s(?:first|higher|above)|carries\sthe\sday"
            rf"|gets\sthe\s{_PRIZE}|edges\s(?:it|ahead)|edges\sit\sout"
            rf"|has\s(?:the|an|a\sslight|a\sclear)\s(?:overall\s|slight\s|clear\s)?(?:edge|advantage|upper\shand)"
            rf"|is\s(?:slightly\s|clearly\s)?ahead|stands\sabove|pulls\sahead)"
            rf"(?:\s(?:out|over|of|against|than))?(?:\s(?P<l>{_SIDE}|the\sother(?:\s(?:one|story|text"
            rf"|piece))?)(?!'s))?(?![\w'-])"
        ),
    ),
    Phrase(
        _words("beat outp outsh surpass outdo tops bests trumps exceeds outcl outr edge overshadow wins"),
        late(
            rf"(?P<w>{_SIDE}){_MORE}\s(?:beats?|outperforms?|outshines?|surpasses|outdoes|tops|bests|trumps|exceeds"
            rf"|outclasses|outranks"
            rf"|edges(?:\sout)?|edged\sout|overshadows|wins\s(?:out\s)?(?:over|against))\s(?P<l>{_SIDE}"
            rf"|the\sother(?:\s(?:one|story|text|piece))?)(?!['\w])"
        ),
    ),
    Phrase(
        _words(
            "prefer choos chose pick select favo vot _with go_for going_for opt lean inclin settle answer conclude "
            "decide come_down"
        ),
        late(
            rf"{_I}{_MORE}\s{_CHOOSE}{_MORE}\s(?:the\s)?(?P<w>{_SIDE})(?:\s(?:over|to|rather\sthan|instead\sof"
            rf"|above)\s(?P<l>{_SIDE}|the\sother(?:\sone)?)(?!'s))?(?![\w'])"
        ),
    ),
    Phrase(
        _words("better more higher best most above first ahead"),
        late(
            rf"{_I}{_MORE}\s(?:like|liked|enjoy|enjoyed|rate|rated|rank|ranked|value|place"
            rf"|put){_MORE}\s(?P<w>{_SIDE}){_MORE}\s(?:better|more|higher|best|most"
            rf"|above|first|ahead\sof)(?:\s(?:than\s|of\s)?(?P<l>{_SIDE}|the\sother(?:\sone)?)(?!'s))?(?![\w'-])"
        ),
    ),
    Phrase(
        _words("find found consider deem judge declare call rate think believe make"),
        late(
            rf"{_I}{_MORE}\s(?:find|found|consider|deem|judge|declare|call|rate|think|believe"
            rf"|make){_MORE}\s(?P<w>{_SIDE}){_MORE}(?:\sto\sbe|\sas)?\s(?:the\s)?(?:{_ADVERB}\s){{0,2}}"
            rf"(?:{_GOOD}|winner|(?P<soft>{_PRAISE}))(?:\s{_KIND}){{0,2}}{_THAN}?(?![\w'-])"
        ),
    ),
    Phrase(
        _words("makes"),
        late(
            rf"\bmakes\s(?P<w>{_SIDE})\s(?:(?:the|my)\s)?(?:{_ADVERB}\s){{0,2}}(?:{_GOOD}|(?:clear\s|overall\s)?winner)"
            rf"(?:\s{_KIND}){{0,2}}{_THAN}?(?![\w'-])"
        ),
    ),
    Phrase(
        _words("giv award hand grant goes go_ belong fall lean tip"),
        late(
            rf"\b(?:give|giving|award|awarding|hand|grant|gives|goes|go|belongs|fall|falls|awarded|leans?"
            rf"|tips?){_MORE}\s(?:(?:the|my|a)\s(?:overall\s|slight\s|final\s)?{_PRIZE}\s)?(?:to|towards?"
            rf"|in\sfavou?r\sof)\s(?P<w>{_SIDE})(?:\sover\s(?P<l>{_SIDE}))?(?!['\w])"
        ),
    ),
    Phrase(
        _words("_it_to _this_one_to"),
        late(rf"{_I}{_MORE}\s(?:give|giving|award|hand){_MORE}\s(?:it|this\sone)\sto\s(?P<w>{_SIDE})(?!['\w])"),
    ),
    Phrase(
        _words("give award hand grant"),
        late(
            rf"\b(?:give|gives|award|awarding|hand|grant)\s(?P<w>{_SIDE})\s(?:the|my|a)\s(?:overall\s|slight\s"
            rf"|final\s|clear\s)?{_PRIZE}(?:\sover\s(?P<l>{_SIDE}))?(?!['\w])"
        ),
    ),
    Phrase(
        _words("preference vote"),
        late(
            rf"\b(?:preference\s(?:is\s)?(?:for|goes\sto|lies\swith|leans\sto(?:wards)?)|vote\s(?:is\s)?(?:for"
            rf"|goes\sto))\s(?P<w>{_SIDE})(?:\sover\s(?P<l>{_SIDE}))?(?!['\w])"
        ),
    ),
    Phrase(
        _words(
            "winner verdict answer choice pick prefer decision judg vote selection conclusion favo better best "
            "stronger superior winning"
        ),
        late(
            rf"\b(?:(?:the|my|our|an?|this)\s)?(?:(?:final|overall|clear|clearly|own|personal|ultimate|correct|obvious"
            rf"|definite|slight)\s){{0,2}}"
            rf"(?:winner|verdict|answer|choice|pick|preference|decision|judge?ment|vote|selection|conclusion|favou?rite"
            rf"|(?:better|best|stronger|superior|preferred|winning|preferable)\s(?:story|one|text|narrative"
            rf"|output|response|answer|summary|of\sthe\stwo(?:\sstories)?|piece|option|choice|tale|version)"
            rf"|(?:story|one)\s(?:that\s)?i\s(?:would\s)?(?:prefer|choose|pick|favou?r|like\s(?:better|more|best)))"
            rf"(?:\s(?:here|overall|for\sme|in\smy\s(?:opinion|view)|between\sthe\stwo(?:\sstories)?"
            rf"|of\sthe\stwo(?:\sstories)?|in\sthis\scase|in\sthis\scomparison|of\sthis\scomparison|is\sclear"
            rf"|for\s(?:the|this)\s(?:given\s)?(?:instruction|task|question)))?"
            rf"(?:\s(?:is|was|would\sbe|has\sto\sbe|must\sbe|goes\sto|remains|falls\son"
            rf"|should\sbe))(?:{_MORE})(?:\s(?:that|for|to\sbe|thus))?\s(?P<w>{_SIDE})(?:\s(?:over"
            rf"|rather\sthan)\s(?P<l>{_SIDE}))?(?![\w'])"
        ),
    ),
    Phrase(
        _words("_by_"),
        late(
            rf"(?P<l>{_SIDE})\s(?:is|was){_MORE}\s(?:outperformed|outshone|surpassed|beaten|outdone|bested"
            rf"|edged\sout|topped|overshadowed|outclassed)\sby\s(?P<w>{_SIDE})(?!['\w])"
        ),
    ),
    Phrase(
        _words("loses falls lags pales trails match compete rank comes_"),
        late(
            rf"(?P<l>{_SIDE}){_MORE}\s(?:loses(?:\sout)?\sto|falls\s(?:short\sof|behind|below)"
            rf"|lags\s(?:well\s)?behind|pales\s(?:beside|next\sto|in\scomparison\s(?:to|with)|compared\s(?:to"
            rf"|with))|trails(?:\sbehind)?"
            rf"|is\sno\smatch\sfor|cannot\s(?:match|compete\swith)|ranks\s(?:below|behind|lower\sthan)"
            rf"|comes\s(?:in\s)?second\s(?:to|behind))\s(?P<w>{_SIDE})(?!['\w])"
        ),
    ),
    Phrase(
        _words("worse weaker inferior worst weakest less_"),
        late(
            rf"(?P<l>{_SIDE})\s{_IS}{_MORE}\s(?:(?:{_BAD})(?:\s{_KIND}){{0,2}}\s(?:than"
            rf"|to)\s(?P<w>{_SIDE})(?!['\w])|the\s(?:{_ADVERB}\s)?(?:weaker|worse|inferior)\s(?:story|one|text"
            rf"|piece|of\sthe\stwo(?:\sstories)?)(?![\w'-]))"
        ),
    ),
    Phrase(
        _words("_as_"),
        late(
            rf"(?P<l>{_SIDE})\s(?:is|was)(?:n't|\snot){_MORE}\s(?:(?:quite|nearly|nowhere\snear"
            rf"|half)\s)?as\s(?:good|strong|effective|successful|compelling|engaging|enjoyable"
            rf"|satisfying)(?:\sa\sstory)?\sas\s(?P<w>{_SIDE})(?!['\w])"
        ),
    ),
    Phrase(
        _words("weaker worse inferior"),
        late(
            rf"\b(?:the|my)\s(?:weaker|worse|inferior)\s(?:story|one|text|of\sthe\stwo(?:\sstories)?)\s(?:is"
            rf"|was)\s(?P<l>{_SIDE})(?!['\w])"
        ),
    ),
    Phrase(
        _words("it's it_is it_has it_must it_would"),
        late(
            rf"\bit(?:'s|\sis|\shas\sto\sbe|\smust\sbe|\swould\sbe){_MORE}\s(?P<w>{_SIDE})(?=\s?(?:[.!;—–]|\Z)"
            rf"|,?\s(?:because|for\sme|by\sa)\b)"
        ),
    ),
)

_EQUAL = (
    r"(?:equally\s(?:good|strong|well\smatched|matched|well-matched|compelling|effective|engaging"
    r"|successful|enjoyable|satisfying|impressive|worthy|bad|weak|poor)|(?:about|just|roughly"
    r"|more\sor\sless|of)?\s?(?:equal|tied|even|on\s(?:a\s)?par|evenly\smatched|well\smatched"
    r"|indistinguishable|interchangeable|(?:about\s|exactly\s|much\s)?the\ssame|of\sequal\s(?:quality|merit"
    r"|strength|value)|equal\sin\s(?:quality|merit|strength)|comparable\sin\squality|neck\sand\sneck))"
)
_BOTH = (
    r"(?:both(?:\s(?:stories|texts|of\sthem|are))?|the\s(?:two\s)?(?:stories|two|texts)|the\stwo|the\stexts"
    r"|they(?:'re)?|[①②]\sand\s[①②]|these\s(?:two\s)?(?:stories|texts)|stories\s[①②]\sand\s[①②])"
)
TIES: tuple[Phrase, ...] = (
    Phrase(
        _words("⓪"),
        late(
            r"(?:\b(?:it's|it\sis|this\sis|that's|that\sis|call\s(?:it|this)|declare(?:\s(?:it|this))?|result\sis"
            r"|outcome\sis|(?:it|this|comparison)\s(?:ends|results)\sin|it\swould\sbe|(?:is|are)\sin"
            r"|consider\s(?:it|this)"
            r"|verdict\sis|answer\sis|judge\s(?:it|this)|choose|pick|select|vote\sfor|go\swith|settle\s(?:on|for)"
            r"|answer|conclusion\sis|decision\sis|say\sit's|say)(?:\s(?:a|an|to\sbe|essentially|basically"
            r"|practically|simply|therefore|thus|really|clearly|honestly|for|effectively"
            r"|close\sto\scall:)){0,3})\s⓪(?![\w'-])"
        ),
    ),
    Phrase(
        _words("equal tied even par matched indist interch same compar neck"),
        late(
            rf"\b(?:{_BOTH})(?:,?\s{_ADVERB},?){{0,2}}(?:\s(?:are|were|seem|feel|come\sout|stand|rank|end\sup|is"
            rf"|look))?{_MORE}\s{_EQUAL}(?![\w'-])".replace(r"\b(?:", r"(?:(?<!\w)", 1)
        ),
    ),
    Phrase(
        _words("neither"),
        late(
            r"\bneither(?:\s(?:story|one|text|of\s(?:them|the\stwo|these)(?:\sstories)?"
            r"|[①②]\snor\s[①②]))?(?:\s(?:is|was|seems|stands\sout\sas|emerges\sas|comes\sout"
            r"|proves))(?:\s(?:clearly|really|obviously|truly|distinctly|definitively|significantly|to\sbe|the"
            r"|a)){0,3}\s(?:better|stronger|superior|winner|clear\swinner|ahead|on\stop|preferable)(?:\s(?:one"
            r"|story))?(?:\s(?:than|to)\s(?:the\sother|another)(?:\s(?:one|story))?)?(?![\w'-])"
        ),
    ),
    Phrase(
        _words("no_"),
        late(
            r"\b(?:there\sis|there's|i\s(?:have|see|find)|i'd\ssay\sthere\sis)\s(?:really\s)?no\s(?:clear\s|real\s"
            r"|obvious\s|strong\s|overall\s|meaningful\s)?(?:winner|preference|difference\sin\squality"
            r"|better\sstory|better\sone)(?:\s(?:here|between\s(?:them|the\stwo(?:\sstories)?"
            r"|[①②]\sand\s[①②])))?(?![\w'-])"
        ),
    ),
    Phrase(
        _words("can unable _able could"),
        late(
            r"\bi\s(?:really\s|honestly\s|simply\s|just\s)?(?:cannot|can't|can\snot|could\snot|couldn't"
            r"|am\sunable\sto|am\snot\sable\sto)\s(?:really\s|honestly\s)?(?:(?:choose"
            r"|pick)(?:\s(?:a\swinner|one|a\sbetter\sone|a\sfavou?rite))?\s(?:between|among)\s(?:them"
            r"|the\stwo(?:\sstories)?|these(?:\s(?:two|stories|two\sstories))?|[①②]\sand\s[①②])|(?:choose|pick"
            r"|prefer)\sone\sover\sthe\sother)(?![\w'-])"
        ),
    ),
    Phrase(
        _words("too_close have_a"),
        late(r"(?:\btoo\sclose\sto\scall|\bi\s(?:do\snot|don't)\shave\sa\s(?:clear\s)?preference)(?![\w'-])"),
    ),
    Phrase(
        _words("_as_"),
        late(
            r"(?<!not\s)(?<!n't\s)(?<!quite\s)(?<!nearly\s)(?P<x>[①②])\sis\s(?:just\s|exactly\s"
            r"|every\sbit\s)?as\s(?:good|strong|effective|enjoyable)\sas\s(?P<y>[①②])(?!['\w])"
        ),
    ),
)
