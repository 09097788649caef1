"""Jinja environment for Eval-Prompts, sandboxed and strict: one file without includes, the same text every time, values
unescaped and never interpreted as templates. Unknown names raise an error when a template is compiled."""

from __future__ import annotations

import json
import os
import pickle
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType
from typing import IO, Any

import jinja2
from jinja2 import meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from judge.base.errors import TemplateError, nearest
from judge.inputs.eval_prompts.apart import LENGTH, LONGEST, MEMORY, SECONDS, Apart, TooLongError

# Tests whether a template is simple enough to be rendered in this process: only values, conditions and short loops.

_PLAIN = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.Name,
    nodes.Const,
    nodes.Getattr,
    nodes.If,
    nodes.CondExpr,
    nodes.Test,
    nodes.Compare,
    nodes.Operand,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.For,
    nodes.Filter,
    nodes.Add,
    nodes.Sub,
    nodes.Getitem,
)
_FILTERS = frozenset(
    {"upper", "lower", "trim", "title", "capitalize", "length", "count", "first", "last", "join", "default", "d"}
    | {"int", "string", "wordcount", "abs"}
)
_TESTS = frozenset({"defined", "undefined", "none", "string", "number", "odd", "even", "true", "false"})
_TEXTS = frozenset({"story", "first", "second", "reference", "story_prompt"})
# Loops within loops: criteria and their guidelines take two. Each further one multiplies the time.
_DEEPEST = 2

# Characters of a literal: a longer one in a loop could make a text of any size.
_LONGEST_CONSTANT = 1000


def is_plain(tree: nodes.Template) -> bool:
    """Whether a template renders quickly: it loops only over criteria, guidelines, or a scale's points."""
    return all(_fine(child, 0) for child in tree.iter_child_nodes())


def _fine(node: nodes.Node, depth: int) -> bool:
    if not isinstance(node, _PLAIN):
        return False
    if isinstance(node, nodes.Filter) and node.name not in _FILTERS:
        return False
    if isinstance(node, nodes.Test) and node.name not in _TESTS:
        return False
    if isinstance(node, nodes.Const) and len(str(node.value)) > _LONGEST_CONSTANT:
        return False
    if isinstance(node, nodes.For):
        depth += 1
        if depth > _DEEPEST or node.recursive or not _short(node.iter):
            return False
    return all(_fine(child, depth) for child in node.iter_child_nodes())


def _short(node: nodes.Node) -> bool:
    while isinstance(node, nodes.Getattr):
        node = node.node
    return isinstance(node, nodes.Name) and node.name not in _TEXTS


OFFERED: Mapping[str, str] = {
    "story_prompt": "what the author was given",
    "story": "the text to judge",
    "reference": "the human story for the same story-prompt",
    "criterion": "name, abbreviation, definition, guidelines, scale.min, scale.max, scale.step, scale.labels",
    "points": "the points of the scale, lowest first, or its labels",
}
# What an Eval-Prompt that compares two stories is offered in place of `story`.
COMPARING: Mapping[str, str] = {
    "story_prompt": OFFERED["story_prompt"],
    "first": "the text of the story that is shown first",
    "second": "the text of the story that is shown second",
    "labels": "labels.first, labels.second and labels.tie: what the stories are called, and neither of them",
    "ties": "whether a tie is offered",
    **{name: OFFERED[name] for name in ("reference", "criterion", "points")},
}

# What an Eval-Prompt is offered that asks for several criteria in one answer, in place of `criterion`, `points`.
JOINT: Mapping[str, str] = {
    **{name: OFFERED[name] for name in ("story_prompt", "story", "reference")},
    "criteria": "the criteria that one answer rates: of each its name, abbreviation, definition, guidelines, scale and "
    "points",
}

_OTHER_FILES = (nodes.Include, nodes.Extends, nodes.Import, nodes.FromImport)
# What rendering can raise because of what a template says: Jinja's errors, and plain Python's from its expressions.
# A constant that is infinite or NaN stands in jinja's code as the name inf or nan, which Python does not have.
_TEMPLATE_FAULTS = (
    jinja2.TemplateError,
    TypeError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    NameError,
)
# What only templates do that are rendered apart: too deep, too much, too long.
_LIMITS = (RecursionError, MemoryError, TooLongError)

# Characters of a template.
_LONGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class ScaleView:
    """A criterion's scale in templates. Whole numbers have no decimal point; `labels` is empty without labels."""

    min: float
    max: float
    step: float
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelsView:
    """The words for first story, second story and tie, in templates."""

    first: str
    second: str
    tie: str


@dataclass(frozen=True, slots=True)
class CriterionView:
    name: str
    abbreviation: str
    definition: str
    guidelines: tuple[str, ...]
    scale: ScaleView
    points: tuple[float, ...] | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled template. `uses` are the values that it mentions, e.g. "story" or "criterion.guidelines"."""

    file: Path
    first_line: int
    source: str
    uses: frozenset[str]
    _template: jinja2.Template | Apart

    @property
    def plain(self) -> bool:
        """Whether it only shows values, with conditions and short loops, and is rendered in this process."""
        return not isinstance(self._template, Apart)

    def render(self, values: dict[str, Any]) -> str:
        """The template's text for these values. Raises TemplateError, naming file, line and variable."""
        try:
            return self._template.render(values)
        except (*_TEMPLATE_FAULTS, *_LIMITS) as error:
            raise self._blame(error) from error

    def _blame(self, error: Exception) -> TemplateError:
        line = None
        trace = error.__traceback__
        while trace is not None:  # the innermost frame that is the template's own
            if trace.tb_frame.f_code.co_filename == self._template.filename:
                line = trace.tb_lineno
            trace = trace.tb_next
        return _fault(self.file, self.first_line, self.source, line, _explain(error))


def compile_template(
    source: str, *, file: Path, first_line: int = 1, offered: Mapping[str, str] = OFFERED, here: bool = False
) -> Compiled:
    """A template that begins at `first_line` of `file` and may use the values in `offered`. One newline at its end is
    removed; a line with only a block tag leaves none. Raises TemplateError for wrong syntax and other names. One that
    does more than show values is rendered in a separate process, unless `here`."""
    if len(source) > _LONGEST:
        raise TemplateError(f"{file}: a template has at most {_LONGEST:,} characters")
    environment = _environment()
    try:
        tree = environment.parse(source)
        if not here and not is_plain(tree):
            # Already to look for its names is to compute what is constant in it.
            apart = Apart(source, file, first_line, offered)
            return Compiled(file, first_line, source, apart.uses, apart)
        unknown_names = meta.find_undeclared_variables(tree)
        code: CodeType = environment.compile(source, name=str(file), filename=str(file))
    except (RecursionError, MemoryError) as error:
        raise TemplateError(f"{file}: the template is nested too deeply or needs too much memory") from error
    except (OverflowError, ValueError) as error:
        raise TemplateError(f"{file}: the template holds a number with too many digits") from error
    except jinja2.TemplateSyntaxError as error:
        raise _fault(file, first_line, source, error.lineno, str(error.message)) from error
    for node in tree.find_all(_OTHER_FILES):
        sentence = "an Eval-Prompt is one file, so that its hash says all: no include, import or extends"
        raise _fault(file, first_line, source, node.lineno, sentence)
    for name, line in _names(tree):
        if name in unknown_names and name not in offered and name not in environment.globals:
            raise _fault(file, first_line, source, line, _not_offered("variable", name, offered))
    uses = {name for name, _ in _names(tree) if name in unknown_names and name in offered}
    each = _each_criterion(tree) if "criteria" in offered else frozenset()
    for parent, attribute, line in _attributes(tree, each):
        if parent in unknown_names or parent == "criterion.scale" or each:
            if attribute not in _ATTRIBUTES[parent]:
                allowed = [f"{parent}.{part}" for part in _ATTRIBUTES[parent]]
                raise _fault(file, first_line, source, line, _not_offered("variable", f"{parent}.{attribute}", allowed))
            uses.add(f"{parent}.{attribute}")
    template = environment.template_class.from_code(environment, code, environment.globals)
    return Compiled(file, first_line, source, frozenset(uses), template)


_ATTRIBUTES = {
    "criterion": CriterionView.__slots__,
    "criterion.scale": ScaleView.__slots__,
    "labels": LabelsView.__slots__,
}


class _Sandbox(ImmutableSandboxedEnvironment):
    # The attribute look-up is used for every query.
    def getattr(self, obj: Any, attribute: str) -> Any:
        if type(obj) in (CriterionView, ScaleView) and attribute in obj.__slots__:
            return getattr(obj, attribute)
        return super().getattr(obj, attribute)


@cache
def _environment() -> _Sandbox:
    environment = _Sandbox(
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # a judge reads plain text, not a page
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    # What draws at random would make one query many.
    environment.globals = {"range": environment.globals["range"], "namespace": environment.globals["namespace"]}
    del environment.filters["random"]
    return environment


def _names(tree: nodes.Template) -> Iterator[tuple[str, int]]:
    for node in tree.find_all(nodes.Name):
        if node.ctx == "load":
            yield node.name, node.lineno


def _each_criterion(tree: nodes.Template) -> frozenset[str]:
    loops = [loop for loop in tree.find_all(nodes.For) if isinstance(loop.target, nodes.Name)]
    over = [loop for loop in loops if any(name.name == "criteria" for name in _names_below(loop.iter))]
    return frozenset(loop.target.name for loop in over if isinstance(loop.target, nodes.Name))


def _names_below(node: nodes.Node) -> Iterator[nodes.Name]:
    if isinstance(node, nodes.Name):
        yield node
    yield from node.find_all(nodes.Name)


def _attributes(tree: nodes.Template, each: frozenset[str]) -> Iterator[tuple[str, str, int]]:
    # The names in `each` are loop variables that stand for `criterion`.
    accesses: list[nodes.Getattr | nodes.Getitem] = [*tree.find_all(nodes.Getattr), *tree.find_all(nodes.Getitem)]
    for node in accesses:
        parent, attribute = _spelled(node.node, each), _last(node)
        if parent in _ATTRIBUTES and attribute is not None:
            yield parent, attribute, node.lineno


def _spelled(node: nodes.Node, each: frozenset[str]) -> str | None:
    if isinstance(node, nodes.Name):
        return "criterion" if node.name in each else node.name
    if isinstance(node, nodes.Getattr | nodes.Getitem):
        parent, last = _spelled(node.node, each), _last(node)
        return f"{parent}.{last}" if parent and last else None
    return None


def _last(node: nodes.Getattr | nodes.Getitem) -> str | None:
    if isinstance(node, nodes.Getattr):
        return node.attr
    return str(node.arg.value) if isinstance(node.arg, nodes.Const) else None


def _not_offered(kind: str, name: str, offered: Mapping[str, str] | list[str]) -> str:
    close = nearest(name, offered)
    guess = f"; did you mean {close!r}?" if close else ""
    return f"{kind} {name!r} is not offered{guess} (offered: {', '.join(offered)})"


def _explain(error: Exception) -> str:
    text = str(error) or type(error).__name__
    if not isinstance(error, jinja2.TemplateError):
        return f"{type(error).__name__}: {text}"
    if isinstance(error, jinja2.UndefinedError):
        match = re.search(r"'(\w+)' is undefined|has no attribute '(\w+)'", text)
        if match is not None:
            return f"variable {match[1] or match[2]!r} has no value here"
    return text[:1].lower() + text[1:]


def _fault(file: Path, first_line: int, source: str, line: int | None, sentence: str) -> TemplateError:
    if line is None:
        return TemplateError(f"{file}: {sentence}")
    lines = source.split("\n")
    shown = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    shown = shown if len(shown) <= 120 else shown[:119] + "…"
    number = first_line + line - 1
    return TemplateError(f"{file}, line {number}: {sentence}", hint=f"line {number} reads: {shown}" if shown else None)


# Code of the child process that renders templates. It limits its own time and memory, then renders what its parent
# sends.


def _limit() -> None:
    if os.name == "nt":
        return
    import resource
    import signal

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def over(*_: object) -> None:
        raise TooLongError(f"rendering takes longer than {SECONDS:g} s")

    signal.signal(signal.SIGALRM, over)
    # Whoever ends the parent ends this process by its closed pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def serve() -> None:
    """Render what the parent process requests, until the parent ends."""
    _limit()
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    compiled: dict[tuple[str, ...], Compiled] = {}
    _say(answers, {})
    while head := asked.read(LENGTH):
        _say(answers, _answer(pickle.loads(asked.read(int.from_bytes(head, "big"))), compiled))  # noqa: S301  our parent's


def _answer(request: dict[str, Any], compiled: dict[tuple[str, ...], Any]) -> dict[str, Any]:
    template = request["template"]
    file = Path(template["file"])
    key = (template["source"], template["file"], str(template["first_line"]), *template["offered"])
    try:
        _timer(SECONDS)
        if key not in compiled:
            compiled[key] = compile_template(
                template["source"], file=file, first_line=template["first_line"], offered=template["offered"], here=True
            )
        if request["values"] is None:
            _timer(0)
            return {"uses": sorted(compiled[key].uses)}
        text = compiled[key].render(request["values"])
        _timer(0)
        if len(text) > LONGEST // 4:
            return {"error": f"{file}: the text is longer than {LONGEST // 4:,} characters", "hint": None}
    except TemplateError as error:
        _timer(0)
        return {"error": str(error), "hint": error.hint}
    except (MemoryError, RecursionError, TooLongError) as error:
        _timer(0)
        return {"error": f"{file}: {error or type(error).__name__}", "hint": None}
    return {"text": text}


def _timer(seconds: float) -> None:
    if os.name != "nt":
        import signal

        signal.setitimer(signal.ITIMER_REAL, seconds)


def _say(answers: IO[bytes], reply: dict[str, Any]) -> None:
    body = json.dumps(reply).encode()
    answers.write(len(body).to_bytes(LENGTH, "big") + body)
    answers.flush()
