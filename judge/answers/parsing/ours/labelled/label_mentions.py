"""Finds the labels of a scale in an answer."""

from __future__ import annotations

import re
from functools import lru_cache

from judge.answers.parsing.ours.clauses import Page
from judge.answers.parsing.ours.mentions import Mention
from judge.answers.parsing.words.vocabulary import INITIAL

# Of a text with more labels only the first 100 and the last 200 are read, to bound the time.
_MOST = 300


def label_mentions(page: Page) -> list[Mention]:
    """Each whole-word label, the longest at its position, as a mention with its code. Of more than 300, only the first
    100 and last 200 are kept, so that the time stays bounded."""
    pattern, codes = _pattern(page.scale.labels)
    matches = [_mention(match, codes) for match in pattern.finditer(page.low)]
    return matches if len(matches) <= _MOST else matches[:100] + matches[-200:]


def label_at(page: Page, mention: Mention) -> str:
    """The label at a mention, in lower case."""
    return page.scale.labels[int(mention.value)].lower()


def is_small_letter(page: Page, mention: Mention) -> bool:
    """Whether a label of one capital letter (a grade A) occurs in lower case: "a" is mostly the article."""
    label = page.scale.labels[int(mention.value)]
    return len(label) == 1 and label.isupper() and not page.text[mention.start].isupper()


def is_initial(page: Page, mention: Mention) -> bool:
    """Whether a label of one letter (such as the grade A) is an initial in a name."""
    alone = len(page.scale.labels[int(mention.value)]) == 1
    return alone and INITIAL.match(page.text, mention.stop) is not None


def plain_words(label: str) -> list[str]:
    """Words of a label in the form that is searched: lower case, without markup, straight quotation marks."""
    for mark in "*_`~\\":
        label = label.replace(mark, " ")
    return label.replace("’", "'").lower().split()


@lru_cache(maxsize=64)
def _pattern(labels: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, int]]:
    codes = {" ".join(plain_words(label)): code for code, label in enumerate(labels)}
    forms = []
    for words in sorted(codes, key=len, reverse=True):
        spelled = r"\s{1,3}".join(re.escape(word) for word in words.split())
        # "A+", "A-", "C#" and "A.I." are no grades A and C.
        forms.append(spelled + (r"(?![+#])(?![-−](?:\W|\Z))(?!\.\w)" if len(words) == 1 else r"(?!\+)"))
    before, behind = r"(?<!\w)(?<!\w-)(?<!\w')", r"(?!\w)(?!['-]\w)(?!\.\d)"
    first = r"" if not all(words[:1].isalnum() for words in codes) else r"\b"
    return re.compile(f"{before}{first}(?:{'|'.join(forms)}){behind}"), codes


def _mention(match: re.Match[str], codes: dict[str, int]) -> Mention:
    code = codes[" ".join(match.group().split())]
    return Mention(match.start(), match.end(), match.end(), float(code), "digits")
