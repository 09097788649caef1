"""Words and patterns around a label of a scale (such as Yes) that decide whether it is stated as the answer or used as
an ordinary word.

Patterns are for lower-case text with straight apostrophes.
"""

from __future__ import annotations

import re

from judge.answers.parsing.words.vocabulary import word_set

INTERJECTIONS = word_set("yes no ja nein oui non si sí sì sim não да нет hai はい いいえ 是 否")
"""Labels that are an answer by themselves: a clause may follow without a stop ("No the story does not")."""

AFTER_INTERJECTION = word_set(
    "the this these those a an it its it's i i'd we there they he she that's although though while because since as "
    "however but overall my both each every all most some in for to by with on at"
)
"""Words that may follow an interjection and make no noun phrase with it, as "no doubt" and "no one" are."""

AFTER_LABEL = word_set("because since as although though but")
"""Words that may follow any label that opens an answer."""

AFTER_STATED = AFTER_LABEL | word_set(
    "overall here regarding considering given due based for to that with on in and if while where when rather however "
    "from"
)
"""Words that may follow a label behind "the answer is" or "Answer:"."""

NEW_SENTENCE = word_set(
    "the this these i it its explanation although while overall there my reason reasoning because since as despite "
    "justification however rationale comment"
)
"""Words with which a sentence begins behind a label without a stop."""

ANSWER_NOUNS = word_set(
    "rating score grade mark answer verdict evaluation assessment judgment judgement conclusion response decision "
    "choice label opinion classification class category selection output result vote pick option "
    "réponse antwort respuesta risposta resposta bewertung urteil note nota"
)
"""Nouns for a label: "the answer is no"."""

LABEL_NAMES = word_set(
    "label decision choice class classification category selection prediction option vote pick ans winner rated graded "
    "scored classified labelled labeled"
)
"""Words before a colon, and in keys of JSON, that announce a label and would not announce a number."""

ANSWERING = word_set("answer respond reply vote conclude classify label")
"""Verbs that state a label beside those that state a number."""

ABOUT_THE_REQUEST = word_set("question prompt request task criterion test asked being posed above following")
"""Words of a label that name what was asked: "To answer the question:"."""

CONCLUDING = word_set(
    "so thus hence therefore overall finally ultimately conclusion summary short brief sum conclude summarise "
    "summarize then accordingly consequently altogether all"
)
AROUND_CONCLUDING = CONCLUDING | word_set(
    "in to the a my i i'd say would end and but that is as it up on balance whole personally honestly for me well ok "
    "okay clearly definitely probably likely considered things everything"
)
"""Fillers of a concluding sentence, one of `CONCLUDING` among them: "So, in short, no."."""

HEDGE = re.compile(
    r"\b(?:mostly|partly|partially|somewhat|largely|mainly|slightly|half|almost|nearly|quite|pretty|rather|very|fairly"
    r"|extremely|reasonably|really|kind of|sort of|more or less|(?:a )?(?:borderline|qualified|tentative|weak|soft|mild"
    r"|low|high|lukewarm))\s{1,2}\Z"
)
"""A degree before a label that makes it another answer: "mostly yes", "quite good"."""

OPENER = re.compile(
    r"\W*(?:(?:sure|certainly|of course|ok|okay|well|alright|great question|good question|understood|absolutely"
    r"|definitely|clearly|honestly|overall|an?|hmm+|so|let's see|thank you|thanks)\W+){0,3}"
)
"""Words that may precede a label that opens the answer."""

SELF = re.compile(
    r"\b(?:i|we)(?:'d| would| do| must| have to| tend to| will| can only)?"
    r"(?: also| still| therefore| thus| personally| generally| overall)?\s{1,2}\Z"
)
"""The judge as the subject of a label that is a verb: "I strongly agree"."""

SAYS = re.compile(
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
"""The judge's own answer in words that the rules of numbers do not know; only the end of a sentence's beginning."""

NUMBERED = re.compile(r"(?<![\w.])\d{1,2}(?:\s?(?:/|out of)\s?\d{1,2})?\s{0,2}(?:[-–—:=(]|\)(?=\s))\s{0,2}\Z")
"""A number of the same point right before the label: "4 - Agree", "3/5 (Good"."""

UNCHECKED = re.compile(r"(?:\[\s{0,2}\]|[☐□○⬜])\s{0,2}\Z")
CHECKED = re.compile(r"(?:\[\s?[x✓✔]\s?\]|[☑☒✅✔✓◉●])\s{0,2}\Z")
"""Boxes before a label, as forms have them."""

INITIAL = re.compile(r"\.\s(?:[A-Z]\.|(?!The\b|This\b|It\b|I\b|A\b|An\b|My\b)[A-Z]\w+\s[A-Z]\w)")
"""Behind one letter, on the text in its own case: the letter begins a name ("F. Scott Fitzgerald")."""

LINE_LABEL = re.compile(r"\W{0,8}(?:a|ans|answer|final answer|verdict|label)\s?(?:[):.=]|\s[-–—])\s{0,3}\W{0,6}")
"""A whole line before a label: "A) ", "Answer - "."""

DEPENDS = re.compile(
    r"[\s,;–—-]{0,4}(?:but )?(?:only )?(?:if(?! (?:anything|at all|you ask)\b)|unless|provided|depending|assuming)\b"
)
"""Behind a label that opens an answer: the answer hangs on a condition."""

CONCEDES = re.compile(r"[^.!?\n]{0,200}[\s,;](?:but|however|yet|nevertheless|nonetheless|though|although|still)\b")
"""A sentence that opens with a label and goes on to take it back: "Yes, the premise is familiar, but"."""

BESIDE = word_set("but and also yet or then maybe perhaps partly partially mostly well a in part ways other")
"""Words between two labels that are both the answer: "yes, but also no"."""

DECLINES = re.compile(
    r"\W*no\W{1,3}(?:sorry\W{1,3})?(?:but )?i(?:'m sorry,? (?:but )?i)? ?"
    r"(?:can't|cannot|can not|won't|will not|am unable to|am not able to|must decline to|refuse to|'m unable to"
    r"|'m not able to|do not|don't) (?:assist|help|comply|fulfil|fulfill|engage|answer|rate|judge|evaluate|assess"
    r"|provide|respond|continue|complete|process|do)\b(?: \w+){0,2} (?:this|that|the|your|it|you|an?|such|any)\b"
)
"""An answer whose "No" declines the request."""

ACCEPTS = re.compile(
    r"\W*yes\W{1,3}(?:(?:of course|sure|certainly)\W{1,3})?i(?:"
    r"(?:'d be|'m| would be| am) (?:happy|glad|able|ready) to|(?:'ll| will| can) (?:certainly |gladly )?"
    r"(?:help|assist|evaluate|assess|rate|judge|analy[sz]e|do (?:that|this|so)|provide|take a look))\b"
)
"""An answer whose "Yes" accepts the request."""

WITHHELD = re.compile(
    r"\W*(?:the |this |your )?(?:content|response|output|answer|message|request|text|prompt|generation)s?"
    r"(?: (?:was|is|were|has been|have been|got))? (?:blocked|filtered|removed|withheld|censored|flagged|redacted)"
    r"(?:[^\n]{0,80})\W*"
)
"""The whole text of an answer that a filter put in place of the judge's."""
