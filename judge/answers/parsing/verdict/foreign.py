"""Recognises short verdicts in other languages than English: sentences that say which story is better and nothing else.

This program has no lists of words of denial or supposition in these languages. A sentence must therefore match as a
whole, or up to the reason that it gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from judge.answers.parsing.verdict.sheet import Sentence, Sheet
from judge.answers.parsing.verdict.sides import TIE
from judge.answers.parsing.verdict.statements import Statement

_SIGNS = re.compile(
    "meilleur|gewinnt|gagne|gana|vince|ganha|préfère|choisis|besser|bevorzug|wähle|mejor|prefier|elijo|miglior|preferi|scelgo|melhor|prefiro|escolho"
    "|[更胜选優良好좋낫]|いい|우수|뛰어"
)
_W, _L = "(?P<w>[①②])", "(?P<l>[①②])"
_THE = r"(?:l'|la\s|le\s|die\s|der\s|das\s|il\s|el\s|a\s|o\s)?"
_OPENING = (
    r"(?:(?:à\smon\savis|selon\smoi|dans\sl'ensemble|globalement|je\s(?:pense|trouve)\sque|ich\s(?:denke|finde)"
    r"|en\smi\sopinión|creo\sque|en\sgeneral|secondo\sme|penso\sche|nel\scomplesso|na\sminha\sopinião|acho\sque"
    r"|我认为|我觉得|总的来说|总体来说|总体而言|综上所述|综合来看|因此|所以),?\s?)?"
)
_DEGREE = (
    r"(?:(?:clairement|nettement|légèrement|un\speu|bien|klar|deutlich|etwas|eindeutig|insgesamt|claramente"
    r"|ligeramente|un\spoco|chiaramente|leggermente|ligeiramente)\s)?"
)
_NOUN = r"(?:\s(?:histoire|récit|texte|geschichte|historia|relato|storia|história))?"
_BETTER, _THAN = "(?:meilleure?|mejor|migliore|melhor)", r"(?:que|di|della|do\sque)"
_CHOOSE = (
    r"(?:je\s(?:préfère|choisis)|ich\s(?:bevorzuge|wähle)|(?:yo\s)?(?:prefiero|elijo)"
    r"|(?:io\s)?(?:preferisco|scelgo)|(?:eu\s)?(?:prefiro|escolho))"
)
_SAID = (
    rf"{_THE}{_W}\s(?:est|es|è|é)\s{_DEGREE}(?:la\s|le\s|el\s|il\s|a\s)?{_BETTER}{_NOUN}(?:\s{_THAN}\s{_THE}{_L})?",
    rf"{_THE}{_W}\sist\s{_DEGREE}(?:besser(?:\sals\s{_THE}{_L})?|die\sbessere{_NOUN})",
    rf"(?:insgesamt|meiner\smeinung\snach|daher|deshalb)\sist\s{_THE}{_W}\s{_DEGREE}(?:besser|die\sbessere{_NOUN})",
    rf"{_CHOOSE}\s{_THE}{_W}",
    rf"(?:la\smeilleure|die\sbessere|la\smejor|la\smigliore|a\smelhor){_NOUN}\s(?:est|ist|es|è|é)\s{_THE}{_W}",
    rf"(?:es\s)?gewinnt\s{_THE}{_W}",
    rf"{_THE}{_W}\s(?:gewinnt|gagne|gana|vince|ganha)",
    rf"la\sstoria\smigliore\sè\s{_THE}{_W}",
    rf"{_W}\s?(?:写得|整体|总体)?(?:更好|较好|更优秀|更胜一筹|更佳|更出色|胜出)(?:一些|一点)?",
    rf"{_W}\s?比\s?{_L}\s?(?:更好|好|更优秀|更佳|更出色)",
    rf"我?(?:更喜欢|选择|更倾向于)\s?{_W}",
    rf"更好的(?:故事)?是\s?{_W}",
    rf"{_W}\s?の(?:方|ほう)が(?:優れています|優れている|良いです|良い|いいです|いい)",
    rf"{_W}\s?(?:가|이)\s더\s(?:좋습니다|낫습니다|낫다|좋다|우수합니다|뛰어납니다)",
)
_REASON = (
    r"(?:,?\s(?:car|parce|weil|denn|da|porque|ya\sque|perché|poiché|pois)\b|,?\s?因为)"
    r"(?!.{0,400}\b(?:mais|aber|pero|ma|mas|jedoch|cependant)\b)(?!.{0,400}但)[^?]{0,400}"
)
_PATTERNS = tuple(re.compile(rf"\W{{0,4}}{_OPENING}{said}(?:{_REASON})?[\s\"'*)]{{0,4}}") for said in _SAID)
_ASKS = ("?", "？")
_EVEN = re.compile(
    r"\W{0,4}(?:(?:c'est\s)?(?:une\s)?égalité|match\snul|ex\s(?:æ|ae)quo|(?:es\sist\s)?(?:ein\s)?unentschieden"
    r"|(?:es\s)?(?:un\s)?empate|(?:è\s)?(?:un\s)?pareggio|平局|平手|不分伯仲|引き分け|무승부|ничья|gelijkspel)\W{0,4}"
)


def foreign_statements(sheet: Sheet, sentences: list[Sentence]) -> Iterator[Statement]:
    """Verdicts stated by whole sentences in other languages than English. Words for a tie count only at the beginning
    of the answer.
    """
    line = sheet.line
    even = _EVEN.fullmatch(line, sentences[0].begin, sentences[0].end) if sentences else None
    if even is not None and sentences[0].mark not in _ASKS:
        yield Statement(TIE, "plain", even.start(), even.end(), even.start(), even.end(), even.start())
    if _SIGNS.search(line) is None:
        return
    for sentence in sentences:
        if sentence.mark in _ASKS:
            continue
        for pattern in _PATTERNS:
            match = pattern.fullmatch(line, sentence.begin, sentence.end)
            if match is not None and match.groupdict().get("l") != match.group("w"):
                start, end = sentence.begin, sentence.end
                yield Statement(match.group("w"), "plain", start, match.end(), start, end, match.start("w"))
                break
