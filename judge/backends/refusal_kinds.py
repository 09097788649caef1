"""Providers' errors by kind: the first fitting rule of one table for all providers maps status, codes and messages. One
status has many meanings (a 400 can be a wrong key, exhausted credit, a flagged story or an unsupported setting), so
codes and messages come first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judge.backends.refusal_body import ErrorBody, read_error_body, retry_delay
from judge.base.errors import ErrorKind
from judge.base.late_pattern import late

# The settings that a server refuses, by its messages or fields and the body of the request.

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


# Kinds that another attempt may mend without anybody changing anything.
RETRYABLE: frozenset[ErrorKind] = frozenset({"rate", "overload", "server"})


@dataclass(frozen=True, slots=True)
class Refusal:
    """A server's refusal of a request, interpreted.

    `status` is, for an error inside an answer of status 200, the one that it corresponds to. `retry_after` is in
    seconds. `settings` are the refused ones, under the names that were sent, of kind ``capability``. `explicit`: codes
    or messages determine the kind, and not only the status."""

    kind: ErrorKind
    error_body: ErrorBody
    status: int
    retry_after: float | None = None
    settings: tuple[str, ...] = ()
    explicit: bool = True

    @property
    def retryable(self) -> bool:
        """Whether the refused request may succeed later without a change."""
        return self.kind in RETRYABLE


@dataclass(frozen=True, slots=True)
class Rule:
    """Codes and words of one kind of error, except at the HTTP statuses in `unless`."""

    kind: ErrorKind
    codes: frozenset[str]
    words: re.Pattern[str]
    unless: frozenset[int]

    def fits(self, status: int, error_body: ErrorBody) -> bool:
        """Whether an error with this status and this body is of the rule's kind."""
        if status in self.unless:
            return False
        return bool(self.codes & error_body.codes) or self.words.search(error_body.low) is not None


def _rule(kind: ErrorKind, codes: str, *words: str, unless: str = "401 402 404") -> Rule:
    pattern = re.compile("|".join(words) or r"(?!)")
    return Rule(kind, frozenset(codes.split()), pattern, frozenset(int(number) for number in unless.split()))


# Rules that hold before it is examined whether a setting is refused.
BEFORE_SETTINGS: tuple[Rule, ...] = (
    # An answer that ran into its limit while the model was still thinking.
    _rule(
        "truncated",
        "max_tokens_reached",
        r"(max[ _]?(completion[ _]|output[ _])?tokens?|(output|token) limit)\b[^.]{0,60}\b(was |were |been )?reached",
        r"could not finish the message",
    ),
    # Generation of the asked form failed this time.
    _rule("server", "json_validate_failed"),
    # An account that is closed, or a place that is not served.
    _rule(
        "auth",
        "account_deactivated organization_disabled unsupported_country_region_territory",
        r"\b(account|organi[sz]ation|project|access|api key|key)\b[^.]{0,30}\b(has been|have been|was|is) "
        r"(deactivated|disabled|terminated|blocked|revoked|denied|flagged|banned)",
        r"location is not supported|(country|region|territory)\b.{0,30}not supported",
        unless="402",
    ),
    # What the request holds: this story alone.
    _rule(
        "filtered",
        "content_filter content_policy_violation content_policy responsibleaipolicyviolation invalid_prompt moderation "
        "moderation_blocked moderation_error prohibited_content content_filtered data_inspection_failed safety "
        "datainspectionfailed sensitive_content content_moderation content_violation guardrail_intervened 1301",
        r"content[ _-]?(filter|management policy|policy|moderation|safety)|moderation|(was|were|been|is|got) flagged",
        r"responsible ai|usage (policy|policies|guidelines)|content exists risk|considered high[ -]risk",
        r"(inappropriate|sensitive|harmful|unsafe|prohibited)[ _]content|guardrail",
        r"safety (system|filter|reasons|policy)",
        r"violat\w+ .{0,60}(polic|guideline|terms|safety)",
        r"\b(prompt|request|input|response|content|message)s? (was|were|has been|have been|is|are) (blocked|filtered)",
        "敏感|违规|不安全",
    ),
    # More than a whole minute's limit in one request: waiting never helps.
    _rule("context", "", r"request (is |was )?too large"),
    # What was paid for is used up.
    _rule(
        "quota",
        "insufficient_credits insufficient_balance insufficient_funds credit_limit_exceeded billing_not_active "
        "billing_hard_limit_reached billing_error payment_required arrearage out_of_credits budget_exceeded "
        "exceeded_current_quota_error insufficient_user_quota usage_limit_reached 1113",
        r"(insufficient|not enough|too few|out of) (account )?(credit|balance|fund)",
        r"(credits?|balance|funds) (is |are |has been |have been )?(too low|insufficient|depleted|exhausted|used up)",
        r"requires more credits|negative balance|arrears|overdue|payment required|all (available )?credits",
        r"billing (hard )?limit|(spend|spending|key|budget|monthly|weekly)[ -](limit|cap)\b.{0,20}(exceed|reach|hit)",
        r"reached (your|its) (specified |monthly )?(api usage|usage|spending|spend) limits?|budget has been exceeded",
        r"exceeded (your|the) monthly|good standing|enable billing|recharge|余额|欠费",
        unless="401 404",
    ),
)

_RATE = _rule(
    "rate",
    "rate_limit_exceeded rate_limit_error rate_limit_reached ratelimitreached ratelimitexceeded too_many_requests "
    "throttlingexception throttling throttled resource_exhausted model_rate_limit requests_limit_exceeded",
    r"rate[ _-]?limit|too many requests|throttl|\b(requests|tokens) per (second|minute|min|hour)\b|slow down",
    r"(concurrency|concurrent requests?) (limit|quota)|resource (has been )?exhausted",
)

_CONTEXT = _rule(
    "context",
    "context_length_exceeded exceed_context_size_error string_above_max_length request_too_large "
    "context_window_exceeded context_window_exceeded_error model_context_window_exceeded",
    r"context[ _](length|window|size)|maximum context|max[_ ]?model[_ ]?len|too many (input )?tokens",
    r"\b(prompt|input|message|request|text)s? (is |are |was |tokens? )?(too (long|large|big)|exceeds?)",
    r"longer than the (maximum|model)|reduce the length|maximum (input|prompt) length|must have less than \d+ tokens",
    r"exceeds? .{0,40}(context|input (token|length)|number of tokens)|`?inputs`? tokens",
    unless="401 402 404 429",
)

# Rules that hold once no setting is found to be refused.
AFTER_SETTINGS: tuple[Rule, ...] = (
    _rule(
        "api",
        "operationnotsupported unsupported_endpoint unsupported_api_for_model",
        r"v1/responses|responses api|not a chat model|only supported in v1/|not supported in the v1/",
        r"does not support (the )?(chat|generate|messages|completions?)\b|operation does not work with",
        r"chat[ _]template(?!_kwargs)|template (error|not found)|is an? (embeddings?|image|audio|rerank\w*) model",
        unless="401 402 429",
    ),
    _rule(
        "model",
        "model_not_found deploymentnotfound model_not_available model_decommissioned model_not_supported invalid_model "
        "model_deprecated unknown_model modelnotfound model_terminated model_not_exist 1211",
        r"model\b[^.]{0,90}\b(doesn't exist|not exist|not found|not available|decommissioned|not deployed)",
        r"model\b[^.]{0,90}\b(has been|was|is) (deprecated|retired|shut ?down|removed|discontinued|sunset)",
        r"(no such|unknown|invalid|unsupported) model|not a valid model|not found the model|not supported by any prov",
        r"deployment\b[^.]{0,60}(does not exist|not found)|no (allowed )?(endpoints|providers) (found|available)",
        r"no models? (is |are )?loaded|not have access to (the )?model|try pulling it|模型不存在",
        unless="401 402 429",
    ),
    _rule(
        "auth",
        "invalid_api_key api_key_invalid authentication_error unauthenticated unauthorized permission_denied "
        "invalid_authentication_error invalid_access_token access_denied access_terminated_error missing_api_key",
        r"api[ -]?key\b[^.]{0,40}\b(not valid|invalid|incorrect|missing|expired|required|not found|wrong|not provided)",
        r"(invalid|incorrect|missing|wrong|expired|malformed|no|provide)( \w+){0,3} (api[ -]?key|credentials)",
        r"(access|auth|bearer|subscription|api) (token|key)s? (is |are |was )?(missing|invalid|expired|required|not)",
        r"authentication (failed|fails|required)|unauthori[sz]ed|not authenticated|x-api-key|无效的令牌",
        unless="402 429 500 502 503 504 529",
    ),
    _rule(
        "overload",
        "overloaded overloaded_error engine_overloaded server_overloaded model_overloaded unavailable model_loading "
        "unavailable_error service_unavailable capacity_exceeded engine_overloaded_error server_busy",
        r"overloaded|(at|over|no|insufficient) capacity|capacity exceeded|(server|service|system) (is )?busy",
        r"warming up|(currently|model is) loading|loading model|temporarily unavailable|high demand",
        unless="401 402 404 429",
    ),
)

_QUOTA_WORDS = late(r"current quota|quota (exceeded|has been|is exhausted)|exceeded .{0,20}quota|plan and billing")
_WINDOW = late(
    r"per[ _-]?(second|minute|min\b|sec\b|hour)|\b[rt]p[ms]\b|(retry|try again|available) (in|after) (about )?\d"
)
_DAY = late(r"per[ _-]?day|daily|\b[rt]pd\b")
_SETTING_CODES = frozenset({"unsupported_parameter", "unsupported_value", "extra_forbidden", "unknown_parameter"})
_NO_ENDPOINT = late(r"no (endpoints|providers) .{0,40}parameters")
_SERVER_STATUSES = frozenset({408, 409, 421, 424, 425, 460, 499})
_REQUEST_TYPES = frozenset({"invalid_request_error", "badrequesterror", "invalid_argument", "bad_request"})


def read_refusal(
    status: int, headers: Mapping[str, str], body: bytes, sent: Mapping[str, Any] | None = None
) -> Refusal:
    """A server's error: its kind, refused settings and waiting time. `sent` is the refused body; None if unknown."""
    error_body = read_error_body(body)
    meant = _meant_status(status, error_body)
    kind, settings, explicit = _kind(meant, error_body, sent)
    return Refusal(kind, error_body, meant, retry_delay(headers, error_body), settings, explicit)


def _meant_status(status: int, error_body: ErrorBody) -> int:
    # An error inside an answer of status 200 has the status in its body.
    if status != 200:
        return status
    return error_body.status or (400 if error_body.codes & _REQUEST_TYPES else 502)


def _kind(
    status: int, error_body: ErrorBody, sent: Mapping[str, Any] | None
) -> tuple[ErrorKind, tuple[str, ...], bool]:
    # The last value: codes or messages decide the kind.
    for rule in BEFORE_SETTINGS:
        if rule.fits(status, error_body):
            return rule.kind, (), True
    if status == 402:
        return "quota", (), True
    limit = _limit(status, error_body)
    if limit is not None:
        return limit, (), True
    if _CONTEXT.fits(status, error_body) and not _limits_the_answer(error_body):
        return "context", (), True
    if status not in (401, 404, 429) and not any(param == "model" for param in error_body.params):
        settings = refused_settings(error_body, sent, surely=status < 500)
        if settings:
            return "capability", settings, True
    if _NO_ENDPOINT.search(error_body.low) or (error_body.codes & _SETTING_CODES and not error_body.params):
        return "capability", (), True
    for rule in AFTER_SETTINGS:
        if rule.fits(status, error_body):
            return rule.kind, (), True
    return _by_status(status, error_body), (), status not in (400, 403, 422)


def _limit(status: int, error_body: ErrorBody) -> ErrorKind | None:
    # ``rate`` recovers within minutes; ``quota`` lasts the day or until a payment.
    paid = "insufficient_quota" in error_body.codes
    quota = paid or _QUOTA_WORDS.search(error_body.low) is not None
    slow = _RATE.fits(status, error_body) or status == 429
    if not (quota or slow) or status in (401, 404):
        return None
    if any("perday" in code for code in error_body.codes) or re.search(r"limit: 0\b", error_body.low):
        return "quota"
    # A limit that says when it ends, or counts by the minute, is no used-up account, whatever else it speaks of.
    if error_body.delays or _WINDOW.search(error_body.low) or any("perminute" in code for code in error_body.codes):
        return "rate"
    if _DAY.search(error_body.low):
        return "quota"
    # Google says "exceeded your current quota" of every limit, and names this status for all of them.
    return "quota" if paid or (quota and "resource_exhausted" not in error_body.codes) else "rate"


def _limits_the_answer(error_body: ErrorBody) -> bool:
    # Some servers describe an answer's maximum length as a problem of the context window.
    named = any(param in LIMITS for param in error_body.params)
    return named and re.search(r"_tokens\W{0,2} must be (less|at most|smaller|<)", error_body.low) is not None


def _by_status(status: int, error_body: ErrorBody) -> ErrorKind:
    if status in (401, 403):
        return "auth"
    if status == 404 and "model" in error_body.low:
        return "model"
    if status in (404, 405):
        return "address"
    if status == 413:
        return "context"
    if status in (503, 529, 498):
        return "overload"
    if status >= 500 or status in _SERVER_STATUSES:
        return "server"
    return "request"
