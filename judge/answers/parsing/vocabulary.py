"""Words by which judges state ratings, grouped by their function in the sentence."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from judge.base.late_pattern import late

# Tiers: how plainly a number is stated as a rating. A lower tier is plainer.

# In so many words, or in the form that prompts ask for.
PLAIN = 1

# In a form that mostly states a rating.
LIKELY = 2

# By a number that is a line or the last sentence.
STANDING = 3

# In a way that may mean something else: it is not read, yet an answer that states nothing plainer is ambiguous.
DOUBTFUL = 4

# By a number that is not read by itself, yet contradicts one that only a sentence states.
POSSIBLE = 5

# Another quantity under a label of its own: the words before that label do not make it a rating.
FOREIGN = 9


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


SUBJECT = word_set("i i'd i'll i'm i've we we'd we'll my our je ich yo eu я mon meine mi minha")

STATE = word_set(
    "rate rated rating score scored grade graded give gave giving given assign assigned assigning award awarded "
    "awarding evaluate evaluated assess assessed mark marked judge judged rank ranked put place placed choose chose "
    "chosen pick picked select selected settle settled opt opted go went going land landed lean "
    "leaning set deem consider say said "
    "lower lowered raise raised change changed revise revised adjust adjusted update updated upgrade upgraded "
    "downgrade downgraded reduce reduced increase increased bump bumped call think believe feel "
    # other languages
    "donne donnerais attribue attribuerais gebe bewerte vergebe würde geben doy daría otorgo "
    "califico dou daria darei assegno "
    "valuto ставлю оцениваю"
)

# What a story does with a rating: "the story deserves a 4".
STORY_STATE = word_set(
    "deserves earns merits gets receives warrants scores rates achieves is was stands sits lands falls it's that's "
    "rated scored given graded deserve earn merit receive earned received gains be"
)

RATING = word_set(
    "rate rating ratings score scores grade "
    "mark stars star points verdict answer evaluation assessment result judgment "
    "judgement conclusion overall total value output response final number boxed opinion revision correction "
    # other languages
    "note noten bewertung punktzahl wertung gesamtbewertung punkte puntuación puntuacion calificación calificacion "
    "valoración valoracion puntaje valutazione voto punteggio nota pontuação pontuacao avaliação avaliacao "
    "classificação évaluation evaluation cote notation beoordeling cijfer betyg ocena hodnocení puan değerlendirme "
    "评分 評分 得分 分数 分數 打分 评级 評価 評点 点数 スコア 점수 평점 평가 оценка оценки рейтинг балл баллы"
)

# Rating words that also mean something else: the number must then stand alone.
WEAK_RATING = word_set("note nota mark value result number total output response overall final points star stars")

STORY = word_set(
    "it this that story stories story's text narrative tale piece work passage fiction excerpt "
    "target one itself its them it's that's"
)

GLUE = word_set(
    "a an the of as at with on for in to be by would will should must can have am do also only just still so then "
    "therefore thus hence overall personally ultimately honestly finally probably likely about around roughly "
    "approximately nearly solid strong firm good fair decent respectable high low generous full mere quite really "
    "even fully perhaps level terms scale criterion guidelines guideline provided given based above these this those "
    "numeric numerical assigned suggested revised corrected updated adjusted initial original new here is are was "
    "your which from like want inclined confident confidently comfortably somewhere between either out "
    "regarding following considering all using according below follows me us respective down up back final "
    "reflection toward towards here's further closer second thought consideration reconsideration "
    "upon after conclusion summary "
    "short entire present clear weak definite easy "
    "total whole together everything into account instead nonetheless nevertheless und et y la le une un de una eine "
    "historia histoire geschichte à de lui cette der die diese dieser mit storia"
)

# A word of these before the statement turns it into what was not given.
DENIAL = word_set(
    "not never nor than rather without if unless almost hardly cannot no neither until short prevent "
    "prevents prevented preventing before initially originally first tempted hesitant reluctant hesitate were "
    "could might may couldn't beyond under over"
)

OTHER_PEOPLE = word_set(
    "he she they you people who critics readers everyone someone somebody nobody teacher judge reviewers reviewer "
    "audience others many some"
)

# What may follow a rating in running text; a noun that follows makes it a count ("3 wishes").
AFTER = word_set(
    "because since as for on in out due based with and but given overall star stars point points while although "
    "though when rating score from which that at here if rather instead or regarding considering where however "
    "reflecting reflects due indicating meaning showing not only mainly primarily largely thanks à pour auf "
    "für sur por "
    "para per para a to weil da porque car perché 分 点 점 点。 点满分 балл балла баллов "
    "punkte points puntos punti sterne étoiles "
    "estrellas sur von su из would is being seems geben vergeben"
)

# Openings of an explanation that follows the rating without a stop between them.
OPENING = word_set(
    "the this i it its explanation although while a in overall there my reason because since as despite justification "
    "however rationale comment comments here and for on based due even most some although one at reasoning"
)

COUNTED = word_set("star stars point points")

# What a judge thinks of a story, with its degree: "Somewhat coherent (2)".
OPINION = word_set(
    "yes no good bad ok okay fair poor excellent great average moderate decent weak strong perfect terrible valid "
    "invalid natural unnatural interesting uninteresting dull boring engaging coherent incoherent relevant irrelevant "
    "very somewhat slightly mostly fairly quite pretty rather not partly partially completely highly extremely"
)

# Stories that stand beside the one that is judged; their ratings are not its own.
COMPARED = word_set("human reference")

# Right before the number they make it a bound, not a rating: "above a 3".
BOUND = word_set("above below from beyond under over")

# Labels of quantities beside the rating: "My confidence: 2/5".
QUANTITY = word_set(
    "confidence confident certainty certain readability difficulty page part chapter length importance weight priority "
    "number count probability percentage version temperature time age rank ranking words deducted deductions bonus "
    "error"
)

PREPOSITIONS = word_set("in of from to by about for with on at into within inside through")

# What ends a label or a clause.
STOPS = frozenset(".!?;:,\n—–(){}[]<>|=→-：，。；！？、")


# Words by which an answer may name the requested criterion or another criterion.

# Aspects that judges rate unasked. A number beside one of them is not the rating of the criterion asked for.
_ASPECTS = word_set(
    "relevance coherence empathy surprise engagement complexity plot pacing dialogue dialog grammar originality "
    "creativity style characters character characterization setting fluency grammaticality likability likeability "
    "consistency suspense humor humour realism ending opening theme tone vocabulary cohesion clarity prose writing "
    "spelling punctuation language narration imagery depth emotion readability worldbuilding"
)
# Letters that a cognate shares (cohere-nt, cohére-nce); fewer would make other words alike.
_STEM = 6


@dataclass(frozen=True, slots=True)
class Names:
    """Words that may name the requested criterion (all of its name) or other criteria and aspects (only the last).
    `asked_stem` begins the requested name, as inflected forms do."""

    asked: frozenset[str]
    asked_stem: str
    others: frozenset[str]

    def is_asked(self, word: str) -> bool:
        """Whether a lower-case word names the requested criterion; inflected and related words do too (coherent,
        cohérence)."""
        return word in self.asked or (
            len(word) >= _STEM and len(self.asked_stem) == _STEM and fold(word).startswith(self.asked_stem)
        )

    def is_other(self, word: str) -> bool:
        """Whether a lower-case word names another criterion or aspect."""
        return word in self.others and not self.is_asked(word)


@lru_cache(maxsize=256)
def names(asked: str, others: tuple[str, ...]) -> Names:
    """The words that name the criteria; cached. If `asked` is empty, every known aspect names the requested
    criterion."""
    asked_words = frozenset(_words(asked)) or _ASPECTS
    stem = fold(_words(asked)[0])[:_STEM] if _words(asked) else ""
    other_words = {_words(other)[-1] for other in others if _words(other)}
    return Names(asked_words, stem, frozenset((other_words | _ASPECTS) - asked_words))


_Found = TypeVar("_Found")
# Of a text with more numbers, labels or names only the first 100 and the last 200 are read, to bound the time.
_MOST = 300


def first_and_last(found: list[_Found]) -> list[_Found]:
    """All of a text's numbers, labels or names or, of more than 300, the first 100 and the last 200."""
    return found if len(found) <= _MOST else found[:100] + found[-200:]


def lowered(text: str) -> str:
    """The text in lower case, every character at its position: a letter that would become two stays as it is."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def fold(word: str) -> str:
    """The word without accents."""
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


def _words(name: str) -> list[str]:
    return name.lower().replace("_", " ").replace("-", " ").split()


# Words and patterns around a label of a scale (such as Yes) that decide whether it is stated as the answer or used as
# an ordinary word.

# Labels that are an answer by themselves: a clause may follow without a stop ("No the story does not").
INTERJECTIONS = word_set("yes no ja nein oui non si sí sì sim não да нет hai はい いいえ 是 否")

# Words that may follow an interjection and make no noun phrase with it, as "no doubt" and "no one" are.
AFTER_INTERJECTION = word_set(
    "the this these those a an it its it's i i'd we there they he she that's although though while because since as "
    "however but overall my both each every all most some in for to by with on at"
)

# Words that may follow any label that opens an answer.
AFTER_LABEL = word_set("because since as although though but")

# Words that may follow a label behind "the answer is" or "Answer:".
AFTER_STATED = AFTER_LABEL | word_set(
    "overall here regarding considering given due based for to that with on in and if while where when rather however "
    "from"
)

# Words with which a sentence begins behind a label without a stop.
NEW_SENTENCE = word_set(
    "the this these i it its explanation although while overall there my reason reasoning because since as despite "
    "justification however rationale comment"
)

# Nouns for a label: "the answer is no".
ANSWER_NOUNS = word_set(
    "rating score grade mark answer verdict evaluation assessment judgment judgement conclusion response decision "
    "choice label opinion classification class category selection output result vote pick option "
    "réponse antwort respuesta risposta resposta bewertung urteil note nota"
)

# Words before a colon, and in keys of JSON, that announce a label and would not announce a number.
LABEL_NAMES = word_set(
    "label decision choice class classification category selection prediction option vote pick ans winner rated graded "
    "scored classified labelled labeled"
)

# Verbs that state a label beside those that state a number.
ANSWERING = word_set("answer respond reply vote conclude classify label")

# Words of a label that name what was asked: "To answer the question:".
ABOUT_THE_REQUEST = word_set("question prompt request task criterion test asked being posed above following")

CONCLUDING = word_set(
    "so thus hence therefore overall finally ultimately conclusion summary short brief sum conclude summarise "
    "summarize then accordingly consequently altogether all"
)
# Fillers of a concluding sentence, one of `CONCLUDING` among them: "So, in short, no.".
AROUND_CONCLUDING = CONCLUDING | word_set(
    "in to the a my i i'd say would end and but that is as it up on balance whole personally honestly for me well ok "
    "okay clearly definitely probably likely considered things everything"
)

# A degree before a label that makes it another answer: "mostly yes", "quite good".
HEDGE = late(
    r"\b(?:mostly|partly|partially|somewhat|largely|mainly|slightly|half|almost|nearly|quite|pretty|rather|very|fairly"
    r"|extremely|reasonably|really|kind of|sort of|more or less|(?:a )?(?:borderline|qualified|tentative|weak|soft|mild"
    r"|low|high|lukewarm))\s{1,2}\Z"
)

# Words that may precede a label that opens the answer.
OPENER = late(
    r"\W*(?:(?:sure|certainly|of course|ok|okay|well|alright|great question|good question|understood|absolutely"
    r"|definitely|clearly|honestly|overall|an?|hmm+|so|let's see|thank you|thanks)\W+){0,3}"
)

# The judge as the subject of a label that is a verb: "I strongly agree".
SELF = late(
    r"\b(?:i|we)(?:'d| would| do| must| have to| tend to| will| can only)?"
    r"(?: also| still| therefore| thus| personally| generally| overall)?\s{1,2}\Z"
)

# The judge's own answer in words that the rules of numbers do not know; only the end of a sentence's beginning.
SAYS = late(
    r"(?:\A|[^\w'])(?:so|thus|hence|therefore|then|and|but|overall)?,?\s?"
    r"(?:the|my|our)\s(?:\w+\s)?(?:answer|verdict|rating|grade|label|judge?ment|decision|choice|conclusion|classification)"
    r"(?:\s(?:to|for|on|of|here|regarding)(?:\s[\w']+){0,8})?"
    r"\s(?:is|would be|has to be|must be|should be|remains|will be|comes out as|leans)"
    r"(?:\s(?:therefore|thus|hence|clearly|definitely|simply|still|a|an|that of|to be))?"
    r"\s?[:\"']{0,2}\s?\Z"
    r"|(?:\A|[^\w'])i(?:'d| would|'ll| will| must| have to| should|'m going to| am going to)?\s"
    r"(?:therefore |thus |hence |then |also |still )?"
    r"(?:answer|respond|reply|vote|choose|pick|select|conclude|opt for|go with|settle on|classify|label|rate|grade"
    r"|judge)(?:\s(?:this|the|that|its|it|story|text|ending|question|with|as|a|an|to be|on|for|here)){0,6}"
    r"\s?[:\"']{0,2}\s?\Z"
)

# A number of the same point right before the label: "4 - Agree", "3/5 (Good".
NUMBERED = late(r"(?<![\w.])\d{1,2}(?:\s?(?:/|out of)\s?\d{1,2})?\s{0,2}(?:[-–—:=(]|\)(?=\s))\s{0,2}\Z")

UNCHECKED = late(r"(?:\[\s{0,2}\]|[☐□○⬜])\s{0,2}\Z")
# Boxes before a label, as forms have them.
CHECKED = late(r"(?:\[\s?[x✓✔]\s?\]|[☑☒✅✔✓◉●])\s{0,2}\Z")

# Behind one letter, on the text in its own case: the letter begins a name ("F. Scott Fitzgerald").
INITIAL = late(r"\.\s(?:[A-Z]\.|(?!The\b|This\b|It\b|I\b|A\b|An\b|My\b)[A-Z]\w+\s[A-Z]\w)")

# A whole line before a label: "A) ", "Answer - ".
LINE_LABEL = late(r"\W{0,8}(?:a|ans|answer|final answer|verdict|label)\s?(?:[):.=]|\s[-–—])\s{0,3}\W{0,6}")

# Behind a label that opens an answer: the answer hangs on a condition.
DEPENDS = late(
    r"[\s,;–—-]{0,4}(?:but )?(?:only )?(?:if(?! (?:anything|at all|you ask)\b)|unless|provided|depending|assuming)\b"
)

# A sentence that opens with a label and goes on to take it back: "Yes, the premise is familiar, but".
CONCEDES = late(r"[^.!?\n]{0,200}[\s,;](?:but|however|yet|nevertheless|nonetheless|though|although|still)\b")

# Words between two labels that are both the answer: "yes, but also no".
BESIDE = word_set("but and also yet or then maybe perhaps partly partially mostly well a in part ways other")

# An answer whose "No" declines the request.
DECLINES = late(
    r"\W*no\W{1,3}(?:sorry\W{1,3})?(?:but )?i(?:'m sorry,? (?:but )?i)? ?"
    r"(?:can't|cannot|can not|won't|will not|am unable to|am not able to|must decline to|refuse to|'m unable to"
    r"|'m not able to|do not|don't) (?:assist|help|comply|fulfil|fulfill|engage|answer|rate|judge|evaluate|assess"
    r"|provide|respond|continue|complete|process|do)\b(?: \w+){0,2} (?:this|that|the|your|it|you|an?|such|any)\b"
)

# An answer whose "Yes" accepts the request.
ACCEPTS = late(
    r"\W*yes\W{1,3}(?:(?:of course|sure|certainly)\W{1,3})?i(?:"
    r"(?:'d be|'m| would be| am) (?:happy|glad|able|ready) to|(?:'ll| will| can) (?:certainly |gladly )?"
    r"(?:help|assist|evaluate|assess|rate|judge|analy[sz]e|do (?:that|this|so)|provide|take a look))\b"
)

# The whole text of an answer that a filter put in place of the judge's.
WITHHELD = late(
    r"\W*(?:the |this |your )?(?:content|response|output|answer|message|request|text|prompt|generation)s?"
    r"(?: (?:was|is|were|has been|have been|got))? (?:blocked|filtered|removed|withheld|censored|flagged|redacted)"
    r"(?:[^\n]{0,80})\W*"
)
