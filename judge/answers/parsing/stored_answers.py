"""Parses a journal's answers by the run's criteria, answer form, stories and the Eval-Prompt's own pattern; expected
ratings by log-probabilities; and the fingerprint of a parser's code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import Any

import orjson

from judge.answers.parsing import LOADED, PARSERS, Parser
from judge.answers.parsing.answer_tokens import Mass, follow_labels, follow_numbers, position, read_tokens
from judge.answers.parsing.joint import joint_judgments
from judge.answers.parsing.verdict import Shares, parse_verdict, soft_verdict
from judge.base import records
from judge.base.errors import TELLS_INTACT, RunFolderError
from judge.base.fingerprint import fingerprint, fingerprint_file
from judge.base.records import CHOICES, Answer, Criterion, Judgment, Query, Response, Scale, Status, Structured, Verdict

# Fingerprint of a parser's source code, whose changes can change how stored answers are read.

_OURS = "judge.answers.parsing."
# Seconds by which a file's time may lag behind the clock.
_CLOCK = 0.05


def code_of(parser: str) -> str | None:
    """Fingerprint that changes whenever the named parser's code may have changed; None where none can be computed."""
    ours = _our_code()
    if ours is None:
        return None
    if parser in PARSERS:
        return fingerprint([parser, ours]) if PARSERS[parser].startswith(_OURS) else None
    entries = [entry for entry in entry_points(group="judge.parsers") if entry.name == parser]
    installed = _installed(entries[0]) if entries else None
    return None if installed is None else fingerprint([parser, ours, installed])


@lru_cache(maxsize=1)
def _our_code() -> str | None:
    # None where sources are newer than the code that this process imported.
    package = Path(__file__).parent
    try:
        files = [*sorted(package.rglob("*.py")), Path(str(records.__file__))]
        if Path(__file__) not in files:  # no sources were installed
            return None
        if max(file.stat().st_mtime for file in files) > LOADED - _CLOCK:
            return None
        sources = {file.relative_to(package.parents[1]).as_posix(): fingerprint_file(file) for file in files}
    except (OSError, ValueError):
        return None
    try:
        patterns = version("google-re2")
    except PackageNotFoundError:
        patterns = None
    return fingerprint([sys.version, patterns, sources])


def _installed(entry: EntryPoint) -> list[str] | None:
    # [entry point, package, version]; None without a version or for an editable install.
    package = entry.dist
    if package is None or not package.version:
        return None
    origin = package.read_text("direct_url.json")
    if origin and (orjson.loads(origin).get("dir_info") or {}).get("editable"):
        return None
    return [entry.value, package.name, package.version]


# Expected rating over the points of a scale, from the token log-probabilities at the position where the answer states
# its rating.

# A mean over a smaller mass would be a ratio of rounding errors.
_TOLERANCE = 1e-9
_PAIR = 2


def expected_judgment(judgment: Judgment, response: Response, scale: Scale) -> Judgment:
    """The judgment with its stated rating replaced by the expected rating. Without a rating, or imputed, it stays.

    Flags give the share of the probability outside the scale (or not reported by the server), and the undecided share:
    `outside=0.031`, `undecided=0.2`. The status is `no_rating` where the rating's tokens cannot be located in the
    log-probabilities, or no probability is on the scale (flag `no_logprobs`), and where the reported numbers are no
    probabilities: one is above 1, or they add up to more than 1 (flag `unusable_logprobs`)."""
    if judgment.rating is None or "imputed" in judgment.flags:
        return judgment
    if judgment.span is None:
        return _lost(judgment, "no_logprobs")
    tokens = read_tokens(response.logprobs)
    start = position(tokens, response.text, judgment.span[0])
    if start is None:
        return _lost(judgment, "no_logprobs")
    if scale.labels:
        forms = {" ".join(label.lower().split()): float(code) for code, label in enumerate(scale.labels)}
    else:
        forms = {f"{point:g}": float(point) for point in scale.points()}
    mass = Mass(dict.fromkeys(forms.values(), 0.0))
    (follow_labels if scale.labels else follow_numbers)(tokens[start:], "", 1.0, forms, mass)
    if mass.improbable:
        return _lost(judgment, "unusable_logprobs")
    on_scale = sum(mass.points.values())
    if on_scale <= _TOLERANCE:
        return _lost(judgment, "no_logprobs")
    rating = sum(point * p for point, p in mass.points.items()) / on_scale
    if len(scale.labels) > _PAIR and not scale.ordered:
        # Between labels without an order there is no expected one: the label that was stated stays.
        rating = judgment.rating
    flags = [*judgment.flags, f"outside={max(0.0, 1 - on_scale - mass.undecided):.3f}"]
    if mass.undecided > _TOLERANCE:
        flags.append(f"undecided={mass.undecided:.3f}")
    return replace(judgment, rating=rating, flags=tuple(flags))


def _lost(judgment: Judgment, flag: str) -> Judgment:
    return replace(judgment, status="no_rating", rating=None, span=None, flags=(*judgment.flags, flag))


def read_response(
    parser: Parser, response: Response, query: Query, criteria: Iterable[str] = ()
) -> tuple[Judgment, ...]:
    """The judgments of a new answer: one, or one for each criterion that the query rates. `criteria` names those of the
    run."""
    if query.criteria:
        return joint_judgments(parser, response, query.criteria, story=query.story.text)
    judgment = parser.parse(
        response,
        query.criterion,
        structured=query.structured,
        other_criteria=[name for name in criteria if name != query.criterion.name],
        story=query.story.text,
        rating_pattern=query.rating_pattern,
    )
    if query.scoring == "logprobs":
        judgment = expected_judgment(judgment, response, query.criterion.scale)
    return (judgment,)


def _no_text(_story: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class StoredAnswers:
    """A parser with what is needed to read a run's journal. `expected`: ratings are expected values over
    log-probabilities. `patterns` maps an Eval-Prompt to its `rating_pattern`, `joint` one that rates several criteria
    to these. `text_of` gives a story's text by its id, "" where unknown."""

    parser: Parser
    criteria: Mapping[str, Criterion]
    structured: Structured
    expected: bool
    patterns: Mapping[str, str] = field(default_factory=dict)
    text_of: Callable[[str], str] = _no_text
    joint: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of_run(
        cls,
        parser: Parser,
        criteria: Iterable[Criterion],
        definition: Mapping[str, Any],
        text_of: Callable[[str], str] = _no_text,
    ) -> StoredAnswers:
        """The parser with the facts of a run from its criteria and stored definition."""
        return cls(
            parser,
            {criterion.name: criterion for criterion in criteria},
            definition["structured"],
            definition.get("scoring", "text") == "logprobs",
            definition.get("rating_patterns", {}),
            text_of,
            definition.get("joint", {}),
        )

    def with_texts(self, text_of: Callable[[str], str]) -> StoredAnswers:
        """A copy that has the stories' texts, for example from an open journal."""
        return replace(self, text_of=text_of)

    def criteria_of(self, eval_prompt: str) -> int:
        """Number of criteria that an answer to this Eval-Prompt rates."""
        return len(self.joint[eval_prompt]) if eval_prompt in self.joint else 1

    def judgments(self, answer: Answer) -> list[tuple[str, Judgment]]:
        """(criterion, judgment) for each criterion that the answer rates; without a response, the status says why. The
        query's flags come first."""
        joint = self.joint.get(answer.eval_prompt)
        names = [answer.criterion] if joint is None else joint
        if answer.response is None:
            status: Status = "filtered" if answer.outcome == "filtered" else "not_answered"
            return [(name, Judgment(status, flags=answer.flags)) for name in names]
        for name in names:
            if name not in self.criteria:
                raise RunFolderError(
                    f"a journal holds an answer about {name!r}, and its definition has no such criterion",
                    hint=TELLS_INTACT,
                )
        story = self.text_of(answer.story)
        read: Iterable[Judgment]
        if joint is not None:
            read = joint_judgments(self.parser, answer.response, [self.criteria[name] for name in names], story=story)
        else:
            criterion = self.criteria[answer.criterion]
            judgment = self.parser.parse(
                answer.response,
                criterion,
                structured=self.structured,
                other_criteria=[name for name in self.criteria if name != answer.criterion],
                story=story,
                rating_pattern=self.patterns.get(answer.eval_prompt),
            )
            read = [expected_judgment(judgment, answer.response, criterion.scale) if self.expected else judgment]
        if answer.flags:
            read = [replace(judgment, flags=(*answer.flags, *judgment.flags)) for judgment in read]
        return list(zip(names, read, strict=True))

    def judgment(self, answer: Answer) -> Judgment:
        """The judgment of an answer, for `answer.criterion`."""
        return dict(self.judgments(answer))[answer.criterion]


# Parses a journal's comparisons, using facts of the run: labels, answer form, criterion, stories.


def read_verdict(response: Response, query: Query) -> Verdict:
    texts = (query.story.text, "" if query.other is None else query.other.text)
    return parse_verdict(
        response, query.choices, structured=query.structured, criterion=query.criterion.name, stories=texts
    )


def was_read(parser: Parser, response: Response, query: Query, criteria: Iterable[str] = ()) -> tuple[bool, bool]:
    """Whether a rating (of each criterion) or, in a comparison, a preference can be read from a new answer, and whether
    it has an explanation. `criteria` names those of the run."""
    if query.choices:
        verdict = read_verdict(response, query)
        return verdict.preference is not None, bool(verdict.explanation)
    judgments = read_response(parser, response, query, criteria)
    return all(each.rating is not None for each in judgments), any(each.explanation for each in judgments)


@dataclass(frozen=True, slots=True)
class StoredVerdicts:
    """What is needed to read a journal of comparisons. `choices` are the labels offered; `scored`: log-probabilities
    were requested; `second` maps a query's key to the story shown second; `text_of` gives a text by id, "" where
    unknown."""

    choices: tuple[str, ...]
    structured: Structured
    scored: bool
    second: Mapping[str, str]
    text_of: Callable[[str], str]

    @classmethod
    def of_run(
        cls, definition: Mapping[str, Any], compared: Mapping[str, tuple[str, str]], text_of: Callable[[str], str]
    ) -> StoredVerdicts:
        """The facts from a run's definition. `compared` maps a query key to (pair, story shown second)."""
        choices = CHOICES if definition["ties"] else CHOICES[:2]
        scored = definition.get("scoring", "text") == "logprobs"
        second = {key: story for key, (_, story) in compared.items()}
        return cls(choices, definition["structured"], scored, second, text_of)

    def verdict(self, answer: Answer) -> Verdict:
        """The verdict of an answer; without a response, its status says why. The query's flags come first."""
        if answer.response is None:
            return Verdict("filtered" if answer.outcome == "filtered" else "not_answered", flags=answer.flags)
        stories = (answer.story, self.second.get(answer.query_key, ""))
        verdict = parse_verdict(
            answer.response,
            self.choices,
            structured=self.structured,
            criterion=answer.criterion,
            stories=tuple(map(self.text_of, stories)),
        )
        return replace(verdict, flags=(*answer.flags, *verdict.flags)) if answer.flags else verdict

    def shares(self, answer: Answer, verdict: Verdict) -> Shares | None:
        """Probability shares of first story, second story and tie; None where they were not requested or cannot be
        computed."""
        if not self.scored or answer.response is None:
            return None
        return soft_verdict(
            verdict, answer.response, self.choices, structured=self.structured, criterion=answer.criterion
        )
