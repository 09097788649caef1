"""Words by which judges state ratings, grouped by their function in the sentence."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The set of the whitespace-separated words of a text."""
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
    "rated scored given graded deserve earn merit earned received gains be"
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
