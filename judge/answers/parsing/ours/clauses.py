"""Whether the clause before a number states it as a rating, who gives the rating, and how plainly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from judge.answers.parsing import phrases
from judge.answers.parsing import vocabulary as words
from judge.answers.parsing.ours.mentions import Mention
from judge.answers.parsing.vocabulary import DOUBTFUL, LIKELY, PLAIN, Names
from judge.base.late_pattern import late
from judge.base.records import Scale

# An answer prepared for the search for ratings: lower case, simplified markup and quotation marks, all characters at
# their original positions.

_TOKEN = late(r"[^\W_]+(?:'[^\W_]+)?|[.!?;:,\n—–(){}\[\]<>|=→\-：，。；！？、]")
_PARENTHESIS = late(r"\([^()\n]{0,80}\)|\[[^\[\]\n]{0,20}\]")
# Ends what stands before a label in its line: the mark that closes a quotation, or a heading's marks.
_BEFORE_A_LABEL = late(r"(?:(?<=[\w.!?,'])[\"”]|\#{1,6})\s{1,2}(?=(?:(?:overall|final|my)\s)?(?:rating|score|grade)\b)")
_SCALE_RANGE = late(
    r"(?:(?<=\bscale of )|(?<=\bscale from ))(\d{1,3})\s?[-–]\s?(\d{1,3})\b"
    r"|(?<!\d)(\d{1,3})\s?[-–]\s?(\d{1,3})(?=[ -](?:point )?scale\b)"
)
# Characters before a number that are read for what it counts. The bound keeps the time of long answers linear.
_WINDOW = 130


@dataclass(frozen=True, slots=True)
class Page:
    """A cleaned answer; `low` is its lower-case copy of equal length, `last` the end of its text without white
    space."""

    text: str
    low: str
    names: Names
    scale: Scale
    last: int

    def tokens_before(self, position: int) -> list[str]:
        """Words and punctuation marks in the 130 characters before a position, without text in parentheses."""
        window = self.low[max(0, position - _WINDOW) : position]
        if ")" in window or "]" in window:
            window = _PARENTHESIS.sub(" ", window)
        if '"' in window or "”" in window or "#" in window:
            window = _BEFORE_A_LABEL.sub(" . ", window)
        if "scale" in window:
            window = _SCALE_RANGE.sub(r"\1\3 to \2\4", window)
        tokens: list[str] = _TOKEN.findall(window)
        return tokens

    def part(self, begin: int, end: int) -> Page:
        """The page with all text outside [begin, end) replaced by spaces, so that positions stay."""
        before, after = " " * begin, " " * (len(self.low) - end)
        text, low = (before + whole[begin:end] + after for whole in (self.text, self.low))
        return replace(self, text=text, low=low, last=end)

    def sentence(self, start: int, stop: int) -> tuple[int, int, str]:
        """(start, end, final punctuation mark) of the sentence around [start, stop); the mark is "" at a line's end."""
        first = max(0, start - _REACH)
        begin = first
        for match in _SENTENCE_STOP.finditer(self.low, first, start):
            if not _ABBREVIATION.search(self.low, max(0, match.start() - 4), match.start() + 1):
                begin = match.end()
        for match in _NUMBER_THEN_CAPITAL.finditer(self.text, begin, start):
            begin = match.end()
        last = _SENTENCE_LAST.search(self.low, stop, min(len(self.low), stop + _REACH))
        if last is None:
            return begin, min(len(self.low), stop + _REACH), ""
        return begin, last.start(), last.group()[:1].strip()

    def word_at(self, position: int) -> str:
        """The first word at or after a position, in lower case."""
        match = _WORD.match(self.low, position)
        return match.group(1) if match else ""


# Characters to each side in which a sentence may end: an answer without stops would take quadratic time.
_REACH = 400

_SENTENCE_STOP = late(r"[.!?;][\"'”’»)\]]{0,2}\s|\n|[。！？]")
_NUMBER_THEN_CAPITAL = late(
    r"(?:\d|\b(?i:zero|one|two|three|four|five|six|seven|eight|nine|ten))[\"'”’»)\]*_]{0,4}\s+(?=[A-Z])"
)
_SENTENCE_LAST = late(r"[.!?;](?=[\"'”’»)\]]{0,2}(?:\s|\Z))|\n|[。！？]")
_ABBREVIATION = late(r"(?:\be\.g|\bi\.e|\bvs|\betc|\bmr|\bdr|\bcf|\bno)\.\Z")
_WORD = late(r"[\s\"'”»)\]}]{0,6}([^\W\d_]+(?:'[^\W_]+)?)")


def page(text: str, names: Names, scale: Scale) -> Page:
    """A text prepared for the search: lower case, simplified markup and quotation marks, positions unchanged."""
    low = words.lowered(text)
    for mark, plain in (("*", " "), ("_", " "), ("`", " "), ("’", "'"), ("~", " "), ("\\", " ")):
        if mark in low:
            low = low.replace(mark, plain)
    return Page(text, low, names, scale, len(text.rstrip()))


_RANGE_OPENERS = words.word_set("between from somewhere anywhere around")
_OWN_WORDS = words.STORY | words.SUBJECT | words.RATING
_KNOWN_TO_RATE = _OWN_WORDS - {"one"}
_JOINTS = words.word_set(
    "and but so which because since while although though when yet or where whereas however as then also again either"
)
_OPINIONS = words.word_set("clear evident obvious sure certain convinced confident positive agree")
_FIT = words.word_set(
    "appropriate fitting fair right correct suitable best reasonable accurate honest just proper actual true overall "
    "final current adequate apt deserved earned justified numerical numeric resulting present precise personal own"
)
_YIELDS = words.word_set(
    "justifies justify justifying merits meriting warrants warranting supports supporting suggests suggesting earns "
    "earning receives receiving deserves deserving yields yielding resulting results leads leading assigning gets "
    "getting hence thus"
)
_JUDGE, _ONE = "judge", "one"
_DETERMINERS = words.word_set(
    "another the other a an this that previous human llm ai each every fellow first second third one"
)
_SAYS = words.word_set(
    "claims claim claimed says said thinks thought believes believed writes wrote argues argued insists insisted "
    "suggests suggested hopes hoped wishes wished pretends wants wanted doubt doubts doubted that asks asked"
)
_REVISES = late(
    r"final\s(?:rating|score|answer|verdict|assessment|judg|grade|mark|evaluation|decision)"
    r"|(?:up)?on\s(?:further\s|closer\s|second\s)?(?:reflection|thought|consideration|reconsideration|reading|review)"
    r"|reconsider|\brevis(?:e|ed|es|ing|ion)\b|\bcorrect(?:ion|ed|ing)\b|second\sthought|scratch\sthat|\A\s*actually\b|\bwait\b|\bor\srather\b|\bmake\sthat\b"
    r"|\b(?:lower|rais|chang|adjust|updat|upgrad|downgrad|reduc|increas|bump)\w*\s[^.\n]{0,30}\bto\b"
)
_KNOWN = words.GLUE | words.STATE | words.STORY | words.SUBJECT | words.RATING | words.STORY_STATE
_MODAL = words.word_set("would should i'd we'd")
_ARTICLES = words.word_set(
    "a an un une um uma una eine einen solid strong low high good decent fair respectable clear weak definite easy firm"
)
_LINKS = words.word_set("is of be at as was to with")
_BEING = words.word_set("is was it's that's be")
_PRONOUNS = words.word_set("it this that one it's that's")


@dataclass(frozen=True, slots=True)
class Clause:
    """What the clause before a number says of it. `states` is the tier of its statement (1 = plainest, 0 = none);
    `named`/`other`: it names the requested/another criterion; `whole`: words that can state a rating reach back to its
    beginning; `joined`: words connect number and rating; `counted`: the word before may be numbered ("Story 2/5")."""

    states: int = 0
    named: bool = False
    other: bool = False
    denied: bool = False
    whole: bool = False
    joined: bool = False
    counted: bool = False


def clause_before(page: Page, before: list[str], mention: Mention) -> Clause:
    """What the clause before a number says of it. Words are read backwards as long as they can state a rating."""
    run: list[str] = []
    stop = ""
    for i in range(len(before) - 1, -1, -1):
        token = before[i]
        earlier = before[i - 1] if i else ""
        # "Another judge" and "one reviewer" are people, "I judge" and "this one" are not.
        noun = earlier in _DETERMINERS if token == _JUDGE else token == _ONE and earlier not in ("this", "that")
        if not noun and (token in _KNOWN or page.names.is_asked(token)):
            run.append(token)
            continue
        if page.names.is_other(token):
            # A name further from the number is not its subject.
            return Clause(other=len(run) <= 5)
        stop = token
        break
    run.reverse()
    while run and mention.high is not None and run[-1] in _RANGE_OPENERS:
        run.pop()
    if stop in words.COMPARED or ("which" in run and not words.COMPARED.isdisjoint(before[-len(run) - 4 :])):
        return Clause(other=True)
    if stop.endswith(("打", "给", "給")) and page.low.startswith("分", mention.stop):
        return Clause(1)
    if (
        stop in words.DENIAL
        or stop.endswith("n't")
        or (stop not in _YIELDS and _conditional(run))
        or not words.BOUND.isdisjoint(run[-3:])
    ):
        return Clause(denied=True)
    whole = not stop or stop in words.STOPS
    if stop in ("has", "have") and _ends_in_the_story(before[: -len(run) - 1]):
        stop = "deserves"
    tier, named = _weigh(page, run, stop, whole, mention)
    if tier and stop == "," and run[0] in words.STATE and _KNOWN_TO_RATE.isdisjoint([*before[: -len(run)], *run[1:]]):
        tier = DOUBTFUL  # "One reviewer, unimpressed, went for a 2": nobody we know rates here
    own = not words.SUBJECT.isdisjoint(before) and not words.STATE.isdisjoint(before)
    joined = whole or stop in _JOINTS or not _OWN_WORDS.isdisjoint(run) or named or (bool(run) and own)
    counted = bool(run) and run[-1] in words.STORY - _PRONOUNS
    return Clause(tier, named, whole=whole, joined=joined, counted=counted)


def _ends_in_the_story(tokens: list[str]) -> bool:
    return (
        len(tokens) >= 2
        and tokens[-1] in words.STORY - _PRONOUNS
        and tokens[-2] in ("the", "this", "target", "my", "given")
        and words.PREPOSITIONS.isdisjoint(tokens[-4:-2])
    )


def _conditional(run: list[str]) -> bool:
    # Such as "would have given it a", "nearly a", or "to give it a" without a subject.
    if "nearly" in run:
        return True
    if "have" in run:
        index = run.index("have")
        if index and run[index - 1] in _MODAL and run[index + 1 : index + 2] != ["to"]:
            return True
    if "to" not in run[:-1]:
        return False
    index = run.index("to")
    before, after = set(run[:index]), set(run[index:])
    if before & (words.SUBJECT | words.STATE | words.RATING):
        return False
    return bool(after & (words.STATE | words.STORY_STATE))


def _weigh(page: Page, run: list[str], stop: str, whole: bool, mention: Mention) -> tuple[int, bool]:
    """(tier, or 0 if no rating is stated; whether the requested criterion is named), by subject and closeness to the
    number."""
    # An unknown word before the run may be the real subject ("Humans rated it a 2"), an adjective ("the average rating
    # is 2") or a reporting verb ("claims that it deserves a 2").
    named = any(page.names.is_asked(w) for w in run)
    if not run:
        return 0, named
    tokens, last = set(run), run[-1]
    subject = not words.SUBJECT.isdisjoint(tokens)
    if stop in words.OTHER_PEOPLE and not subject:
        return 0, named
    if not whole and stop not in _JOINTS and run[0] in words.STORY - _PRONOUNS:
        # "The baseline text received a": a word that is not known says which story.
        return 0, named
    article, linked = last in _ARTICLES, last in _LINKS
    close = article or linked or mention.out_of is not None
    if mention.kind == "word" and not close:
        return 0, named
    states = not words.STATE.isdisjoint(tokens)
    rating = not words.RATING.isdisjoint(tokens)
    story = not words.STORY.isdisjoint(tokens)
    does = tokens & words.STORY_STATE
    joined = whole or stop in _JOINTS
    if (subject and (states or rating)) or (named and (article or linked or does) and (does or whole)):
        return 1, named
    if rating and linked and stop in _FIT:
        return 2, named
    if story and does and (article or (linked and last != "is") or does - _BEING):
        return _of_the_story(run, stop, whole, joined), named
    if whole and ((states and (story or article)) or (rating and (linked or article))):
        return 1, named
    if rating and linked:
        return (2 if joined or stop in _YIELDS else DOUBTFUL), named
    if states and story and joined:
        return 2, named
    return 0, named


def _of_the_story(run: list[str], stop: str, whole: bool, joined: bool) -> int:
    """How plainly (1 = plainest, 0 = not) a clause such as "the story deserves a" states a rating."""
    first = next((i for i, w in enumerate(run) if w in words.STORY), 0)
    verb = next((i for i, w in enumerate(run) if w in words.STORY_STATE), len(run))
    fresh = (first > 0 and not words.STOPS.isdisjoint(run[:first])) or run[0] in (
        "the",
        "this",
        "my",
        "given",
        "target",
    )
    if joined:
        firm = set(run) & words.STORY - _PRONOUNS or (whole and set(run) & words.STORY_STATE - _BEING)
        return 0 if verb < first and not whole else PLAIN if firm else LIKELY
    if verb < first:
        # "rated it a": who rated stands before the run, and is not known.
        return 0
    if stop in _SAYS:
        return 0
    if fresh and set(run) & words.STORY - _PRONOUNS:
        return 1
    if run[first] not in _PRONOUNS and first == 0:
        return 0
    return LIKELY if stop in _OPINIONS else DOUBTFUL


def revises(page: Page, mention: Mention) -> bool:
    """Whether the sentence or label before a number marks it as the final rating."""
    behind = behind_revision(page, mention.start)
    # "Final rating: 3 Engagement (2)": the last word was spoken with the number before.
    return behind is not None and not any(c.isdigit() for c in behind)


def behind_revision(page: Page, position: int) -> str | None:
    """The text from words of revision ("my final rating is") to a position in their sentence; None without them."""
    before = page.low[max(0, position - 110) : position].rstrip(" \n")
    cut = max(before.rfind(stop) for stop in (". ", "! ", "? ", "\n", ".\n"))
    sentence, end = before[cut + 1 :], -1
    for match in _REVISES.finditer(sentence):
        end = match.end()
    return sentence[end:] if end >= 0 else None


# Checks whether the sentence around a number states it as the judge's own rating of this story, or only mentions it.

Assertion = Literal["asserted", "doubtful", "denied"]

_FORMS = ("label", "leading", "line", "boxed")
# "Rating: 4?" asks; a question mark further behind ends another thought.
_FEW_CHARACTERS = 24


def assertion(page: Page, mention: Mention, form: str) -> Assertion:
    """Whether a number's sentence gives it as the judge's rating. `form` is how it is stated, such as `label`."""
    begin, end, mark = page.sentence(mention.start, mention.stop)
    before, after = page.low[begin : mention.start], page.low[mention.stop : end]
    if mark == "?" and (form not in _FORMS or len(after) <= _FEW_CHARACTERS):
        return "denied"
    if phrases.TEMPLATE.search(page.low, max(0, begin - 40), mention.start) or _struck_out(page.text, mention):
        return "denied"
    if form == "boxed":
        return "asserted"
    core = phrases.ASIDE.sub(" ", phrases.behind_last(phrases.RESET, before))
    if phrases.HYPOTHETICAL.search(core) or phrases.ELSEWHERE.search(core):
        return "denied"
    if form == "label":
        return "asserted"
    if _only_spoken_of(page, mention, core, after):
        return "denied"
    if form in _FORMS:
        return "denied" if phrases.CONDITION_AFTER.match(after.lstrip(" ,")) else "asserted"
    if _conditioned(after) or _about_another(page, core) or phrases.EXAMPLE.search(before):
        return "denied"
    if phrases.AT_FIRST.search(core) or _not_given(core):
        return "denied"
    return "doubtful" if phrases.UNSURE.search(core) else "asserted"


def is_template(text: str, position: int) -> bool:
    """Whether the words before a position introduce an example of an answer."""
    return phrases.TEMPLATE.search(text[max(0, position - 60) : position].lower()) is not None


def _struck_out(text: str, mention: Mention) -> bool:
    line = text.rfind("\n", 0, mention.start) + 1
    end = text.find("\n", mention.stop)
    after = text[mention.stop :] if end < 0 else text[mention.stop : end]
    return "~~" in after and text.count("~~", line, mention.start) % 2 == 1


def _not_given(core: str) -> bool:
    # Denied, only intended, given by other people, or received by something other than the story.
    clause = phrases.behind_last(phrases.CLAUSE_END, core)
    own = clause
    for match in phrases.OWN_SUBJECT.finditer(clause):
        if not phrases.HOLDS_A_CLAUSE.search(clause, 0, match.start()):
            own = clause[match.start() :]
    ways = (phrases.DENIED, phrases.INTENDED, phrases.OTHER_OBJECT, phrases.OTHERS_RATE)
    return any(way.search(own) for way in ways)


def _only_spoken_of(page: Page, mention: Mention, core: str, after: str) -> bool:
    # Such as "a 2 would be too harsh", "2 by people", "2 on Goodreads".
    if phrases.ONLY_SPOKEN_OF.match(after) or phrases.BY_OTHERS.match(after) or phrases.TO_ANOTHER.match(after):
        return True
    if phrases.GERUND.search(core) and phrases.BEING_AFTER.match(after):
        return True
    name = phrases.PLACE_NAME.match(page.text, mention.stop)
    return name is not None and not _is_known_word(page, name.group(1).lower())


def _conditioned(after: str) -> bool:
    # Such as "a 2 if it had an ending".
    stop = phrases.SUFFIX_END.search(after)
    near = phrases.NOT_A_CONDITION.sub(" ", after[: stop.start()] if stop else after)
    return phrases.CONDITION_AFTER.search(near) is not None


def _about_another(page: Page, core: str) -> bool:
    # Such as "In terms of style, it is a 2".
    topic = phrases.TOPIC.match(core) or phrases.HEADING.match(core)
    return topic is not None and any(page.names.is_other(word) for word in topic.group(1).split())


def _is_known_word(page: Page, word: str) -> bool:
    return (
        page.names.is_asked(word) or page.names.is_other(word) or word in ("story", "scale", "terms", "general", "my")
    )
