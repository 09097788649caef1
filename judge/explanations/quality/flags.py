"""Rules that flag the five kinds of error which the HANNA study's annotators marked.

They were developed on the even-numbered items (0, 2, 4...) of the study's 100 audited explanations, all by one judge
with Eval-Prompt 3, to mark what the annotators seemed to object to. `judge explain` can report precision and recall on
the odd-numbered items. A rate of flags is not an error rate."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from judge.base.records import Criterion
from judge.explanations.quality.evidence import Place, Reading, Sources, place_of_quote
from judge.explanations.quality.presence import no_explanation


@dataclass(frozen=True, slots=True)
class Explained:
    """One explanation with its story, criterion and rating; None where a value is not known. `answer` is the whole
    answer, or `text` where it is not known. `quoted` lists (scale point, share) for each quoted guideline; the share is
    that of the guideline's sentence that is quoted most."""

    answer: str
    text: str | None
    rating: float | None
    criterion: Criterion | None
    sources: Sources
    story_known: bool
    reading: Reading
    quoted: tuple[tuple[float, float], ...]


_WORD = re.compile(r"[^\W\d_]+")
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=Explanation:)")
_RATING_HEAD = re.compile(r"^\W*(?:rating\W*)?\d(?:[.,]\d)?(?:\s*/\s*\d+)?\W*")
# Words that make a paragraph more than a closing word, and below which a text is short.
_MORE, _SHORT = 12, 40

_MAY_DOUBLE = frozenset({"had", "that", "very", "really", "so", "no"})
# A sentence run into the next, a wrong article, a doubled verb, a past after did.
_BROKEN = (
    re.compile(r"(?<=[a-z]{2})[.!?][A-Z][a-z]"),
    re.compile(r" an? (?:the|an?)\b| a [aeio]\w(?<! on)(?<! eu)\w| an [bcdfgjklmnpqrtvwxyz]\w\w"),
    re.compile(
        r" (?:was|is|were|are) (?:(?:almost |nearly |barely )(?:kept|made|gave|left|lost|took|held)|is|are|was|were)\b"
    ),
    re.compile(r" d(?:oes|id|o)(?: not|n['’]t) \w{2,}ed\b"),
)

_TOLD: tuple[Place, ...] = ("story", "story-prompt")

_TALK_LIST = (
    "about above action actions actual actually add added adds additionally allow allows almost aspect aspects author "
    "based become becomes begin beginning believe benefit benefited bring certain change changes character characters "
    "clear clearly coherence coherent complete completely complex complexity concept concepts connection content could "
    "deep deeper depth describe described describes description descriptions despite detail detailed details develop "
    "developed development dialogue different difficult during easily easy element elements emotion emotional "
    "emotionally emotions empathize empathy ending engage engaged engagement engaging enough entire especially even "
    "events everything example expect expected explain explained explanation explore explored fact feel feeling "
    "feelings felt final find first focus focused follow found further general give given gives good great happen "
    "happened happens however human idea important include included includes incoherences indicate interest interested "
    "interesting into involve involved involves keep kept lack lacked lacking lacks leave level like likely line "
    "little long made main make makes making many match matches maybe might mildly minor moment more most mostly much "
    "multiple narrative need never none only other overall pace part parts people perhaps person plot point predict "
    "predictable predicted present problem prompt protagonist provide provides question quite rate rated rating reach "
    "read reader readers reading real realistic really reason reasonable recognize recognized relate related "
    "relationship relevance relevant same scale scene scenes seem seemed seems sense series setting several show shows "
    "similar simple since situation slightly small some someone something somewhat specific start started still "
    "stories story strong surprise surprised surprising taken tell than that their them then there these they thing "
    "things think this those though thought thoughts through time together told touch turn twist twists under "
    "understand unique until used using very well were what when where which while whole will with without word words "
    "work world would writer writing written your yourself"
)
# Words in which any story is talked about: sharing them with a story says nothing.
_TALK = frozenset(_TALK_LIST.split())


def wrong_guideline(explanation: Explained) -> bool:
    """Whether the explanation quotes guidelines, but not the guideline of its rating."""
    if explanation.criterion is None or explanation.rating is None:
        return False
    half = explanation.criterion.scale.step / 2
    return bool(explanation.quoted) and all(abs(point - explanation.rating) >= half for point, _ in explanation.quoted)


def poor_syntax(explanation: Explained) -> bool:
    """Whether it has a doubled word, a wrong verb form or article, run-on sentences, an unclosed quotation, or breaks
    off."""
    text = explanation.text or ""
    if not text.strip():
        return False
    cut = text.count(" ") >= _MORE and text.rstrip()[-1] not in ".!?…\"”'’)]*"
    open_mark = text.count('"') % 2 == 1 or text.count("“") != text.count("”")
    low = text.lower().split()
    doubled = any(a == b and a.isalpha() and a not in _MAY_DOUBLE for a, b in itertools.pairwise(low))
    return cut or open_mark or doubled or any(rule.search(text) for rule in _BROKEN)


def superfluous_text(explanation: Explained) -> bool:
    """Whether it begins with a copied guideline, mentions guidelines, repeats itself, or another chat turn follows."""
    if "guideline" in explanation.answer.lower() or explanation.reading.runs_on:
        return True
    parts = [part for part in _PARAGRAPH.split(explanation.answer.strip()) if part.strip()]
    if explanation.criterion is not None and sum(len(part.split()) for part in parts[1:]) >= _MORE:
        head = _RATING_HEAD.sub("", parts[0], count=1)
        if head and no_explanation(head, explanation.criterion):
            return True
    return explanation.reading.repeats


def unsubstantiated_claims(explanation: Explained) -> bool:
    """Whether it is only a copied guideline, has a quotation that occurs in no known source, or is short and uses no
    word of story or story-prompt."""
    if no_explanation(explanation.text, explanation.criterion):
        return explanation.text is not None
    if not explanation.story_known or explanation.text is None:
        return False
    if any(place_of_quote(span, explanation.sources) == "nowhere" for span in explanation.reading.quoting.spans):
        return True
    if len(explanation.text.split()) >= _SHORT:
        return False
    task = explanation.sources.get("task")
    words = (
        {word for word in _WORD.findall(explanation.text.lower()) if len(word) > 3}
        - _TALK
        - (task.word_set if task else frozenset())
    )
    return not any(word in explanation.sources[where].word_set for word in words for where in _TOLD)


def incoherence(explanation: Explained) -> bool:
    """Whether the answer quotes the guidelines of two or more scale points."""
    return len(explanation.quoted) > 1


# Error as the study prints it -> its rule.
RULES: Mapping[str, Callable[[Explained], bool]] = {
    "Wrong Guideline": wrong_guideline,
    "Poor Syntax": poor_syntax,
    "Superfluous Text": superfluous_text,
    "Unsubstantiated Claims": unsubstantiated_claims,
    "Incoherence": incoherence,
}


def flags(explanation: Explained) -> dict[str, bool]:
    """Whether each rule, by name, flags the explanation."""
    return {name: rule(explanation) for name, rule in RULES.items()}
