"""The settings that a server refuses, by its messages or fields and the body of the request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from judge.backends.server_refusals.body import ErrorBody
from judge.base.late_pattern import late

# The two names of the longest answer.
LIMITS = ("max_tokens", "max_completion_tokens")

# Settings that may be refused where the request is not at hand.
_KNOWN = frozenset(
    {*LIMITS, "n", "seed", "temperature", "top_p", "stop", "logprobs", "top_logprobs", "response_format"}
    | {"structured_outputs", "system"}
)

_NO_SETTING = frozenset({"model", "messages", "prompt"})

# A name that a server may use -> the names under which it is sent.
_OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "max_tokens": LIMITS,
    "max_completion_tokens": LIMITS,
    "max_output_tokens": LIMITS,
    "max_new_tokens": LIMITS,
    "num_predict": LIMITS,
    "candidate_count": ("n",),
    "num_completions": ("n",),
    "num_generations": ("n",),
    "best_of": ("n",),
    "random_seed": ("seed",),
    "stop_sequences": ("stop",),
    "stop_words": ("stop",),
    "response_logprobs": ("logprobs",),
    "log_probs": ("logprobs",),
    "top_log_probs": ("top_logprobs",),
    "response_schema": ("response_format",),
    "response_mime_type": ("response_format", "structured_outputs"),
    "response_json_schema": ("response_format",),
    "text.format": ("response_format",),
    "thinking_config": ("thinking_config", "thinkingConfig"),
    "thinking_budget": ("thinking_config", "thinkingConfig"),
    "thinking_level": ("thinking_config", "thinkingConfig"),
    "include_thoughts": ("thinking_config", "thinkingConfig"),
    "json_schema": ("response_format",),
    "json_object": ("response_format",),
    "guided_choice": ("structured_outputs",),
    "guided_json": ("response_format",),
}

# Plain words for a setting.
_PHRASES: tuple[tuple[re.Pattern[str], str], ...] = (
    (late(r"(multiple|several|one|single) (completions?|candidates?|generations?|choices?)\b"), "n"),
    (late(r"number of (completions|candidates|generations|choices)"), "n"),
    (late(r"(completion|candidate) (choices?|count)"), "n"),
    (late(r"stop (sequences?|words?|strings?|tokens?)"), "stop"),
    (late(r"log[- ]prob(abilitie)?s"), "logprobs"),
    (late(r"structured[- ]outputs?|json[- ]?(mode|schema)|response format|output schema"), "response_format"),
    (late(r"thinking[ -](mode|budget|level)"), "thinkingConfig"),
    (late(r"thinking[ -](mode|budget|level)"), "thinking_config"),
    (late(r"(guided|constrained) (decoding|generation|choice)"), "structured_outputs"),
    (
        late(r"(system|developer) (role|messages?|instructions?|prompts?)\b|role.{0,12}'(system|developer)'"),
        "system",
    ),
)

# Names that are English words too: they count in quotation marks, or beside a word for a parameter.
_WORDLIKE = frozenset({"n", "stop", "seed", "system"})

_REFUSES = late(
    r"unsupported|not (?:currently |yet )?support|n't support|no support|unknown|unrecogni[sz]ed|unexpected|extraneous"
    r"|not (?:permitted|allowed|enabled|available|accepted|compatible|implemented|valid|applicable|recogni[sz]ed)"
    r"|unavailable|deprecated|no longer|must (?:be|not|equal|have)|should (?:be|not)|cannot|can't|can not|only|invalid"
    r"|incompatible|range|expected|forbid|removed?|at most|at least|exceed|too (?:large|high|small|low)"
    r"|less than|greater than|maximum|minimum|mutually|both|is not a|disabled|requires?|denied|prohibited|not exist"
)

_OF_VALUE = late(
    r"too (?:large|high|small|low|big)|at most|at least|maximum|minimum|range|greater than|less than|below|above|exceed"
    r"|[<>]=?\s*\d|integer_|must be (?:between|a |an |positive)|expected (?:a|an) "
)
_IS_REFUSAL = frozenset(
    {"unsupported_parameter", "unsupported_value", "unknown_parameter", "extra_forbidden", "unsupported_params"}
    | {"invalid_json_schema", "integer_below_min_value", "integer_above_max_value", "decimal_above_max_value"}
    | {"decimal_below_min_value", "unexpected_keyword_argument", "unrecognized_parameter"}
)


def refused_settings(error_body: ErrorBody, sent: Mapping[str, Any] | None, *, surely: bool = True) -> tuple[str, ...]:
    """Names, as sent, of the refused settings. `sent` is the body, None if unknown. Without `surely`, for a status that
    is about the server, the message must say that a setting is not supported."""
    names = _sendable(sent)
    refuses = bool(error_body.codes & _IS_REFUSAL) or _REFUSES.search(error_body.low) is not None
    in_fields = _unique(name for param in error_body.params for name in _of_path(param, names))
    if in_fields and surely:
        return in_fields
    if not refuses or (
        not surely and not re.search(r"support|only one|unknown|not (?:permitted|allowed)", error_body.low)
    ):
        return ()
    quoted = _quoted(error_body.low, names)
    if quoted:
        return quoted
    return _unique([*_bare(error_body.low, names), *_in_phrases(error_body.low, names)])


def speaks_of_value(error_body: ErrorBody) -> bool:
    """Whether the server refuses the value of a setting and not the setting itself."""
    return _OF_VALUE.search(" ".join([error_body.low, *error_body.codes])) is not None


def most_allowed(error_body: ErrorBody, sent: int) -> int:
    """Most answers per call that the message allows, if below `sent`; 1 if it gives none."""
    pattern = r"(?:at most|maximum(?: value)?(?: of| is)?|less than or equal to|<=|≤|up to|1 (?:and|to)|1,|1-)\s*(\d+)"
    allowed = [int(number) for number in re.findall(pattern, error_body.low)]
    return max((number for number in allowed if 1 <= number < sent), default=1)


def _sendable(sent: Mapping[str, Any] | None) -> frozenset[str]:
    if sent is None:
        return _KNOWN
    names = set(sent) - _NO_SETTING
    messages = sent.get("messages") or ()
    if any(isinstance(message, Mapping) and message.get("role") == "system" for message in messages):
        names.add("system")
    return frozenset(names)


def _unique(names: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _sent_as(word: str, names: frozenset[str]) -> list[str]:
    plain = _plain(word)
    same = [name for name in names if _plain(name) == plain]
    return same or [name for name in _BY_PLAIN_NAME.get(plain, ()) if name in names]


def _plain(word: str) -> str:
    # `max_output_tokens`, `maxOutputTokens` and `max-output-tokens` become equal.
    return re.sub(r"[^a-z0-9]", "", word.lower())


_BY_PLAIN_NAME = {_plain(name): meant for name, meant in _OTHER_NAMES.items()}


def _of_path(path: str, names: frozenset[str]) -> list[str]:
    # Such as `body.n`, `messages[0].role`, `response_format.json_schema`
    if re.match(r"messages?[.\[]", path) and path.endswith("role") and "system" in names:
        return ["system"]
    parts = re.split(r"[.\[\]/#]+", path)
    for depth, part in enumerate(parts):
        # `reasoning.effort` and `text.format` are one setting each.
        if settings := _sent_as(part, names) or _sent_as(".".join(parts[: depth + 1]), names):
            return settings
    return []


def _quoted(low: str, names: frozenset[str]) -> tuple[str, ...]:
    # In quotation marks, backticks or brackets, or as keys of a quoted object.
    words = re.findall(r"[`'\"“\[({]\s*([a-z_][\w.]*(?:\[\d+\])?[\w.]*)\s*(?:[`'\"”\])}]|['\"]?:)", low)
    words += re.findall(r"['\"`]([a-z_][\w.]*)['\"`]", low)
    exact = [word for word in words if word in names]
    return _unique(name for word in exact or words for name in _of_path(word, names))


def _bare(low: str, names: frozenset[str]) -> list[str]:
    # A name that is also an English word counts only if it is used as a name.
    for words in (names, {word for word, meant in _OTHER_NAMES.items() if names & set(meant)}):
        settings = []
        for word in sorted(words):
            spelled = rf"(?<![\w-]){re.escape(word).replace('_', '_?')}(?![\w-])"
            for match in re.finditer(spelled, low):
                if word not in _WORDLIKE or _meant(low, match.start(), match.end()):
                    settings.append((match.start(), _sent_as(word, names)))
                    break
        if settings:
            return [name for _, named in sorted(settings) for name in named]
    return []


def _meant(low: str, start: int, end: int) -> bool:
    before, after = low[max(0, start - 48) : start], low[end : end + 24]
    if re.match(r"\s*(?:[:=<>≤≥]|parameter\b|argument\b|value\b|must\b|should\b|is (?:not|un)|is only)", after):
        return True
    if re.match(r"\s*(?:can|has to|does|greater|larger|other than|not (?:supported|allowed))\b", after):
        return True
    return (
        re.search(r"(?:parameter|argument|field|option|property|key|input|setting|of)s?\b[^.;]{0,32}$", before)
        is not None
    )


def _in_phrases(low: str, names: frozenset[str]) -> list[str]:
    settings = []
    for pattern, name in _PHRASES:
        match = pattern.search(low)
        if match is not None:
            # A choice among points is sent as `structured_outputs`, JSON as `response_format`.
            meant = name if name in names else {"response_format": "structured_outputs"}.get(name, name)
            if meant in names:
                settings.append((match.start(), meant))
    return [name for _, name in sorted(settings)]
