"""The server of the page of `judge try`: a form, the expected cost of its queries, and answers as they arrive. The
control answers as soon as the form is sent; the judge is asked in the background."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from judge.asking.execution.session import settings_of
from judge.asking.run_definition.spec import RunSpec
from judge.backends import Backend, open_backend, split_judge
from judge.backends.surface import has_model
from judge.base.errors import JudgeError, SpecError, unknown
from judge.base.records import Story
from judge.inputs.criteria import CriteriaSet, load_criteria, shipped_criteria
from judge.lab.trial.questions import Asking, Questions, expected_cost, questions, with_both
from judge.lab.trial.sheet import (
    PREFERRED,
    Answered,
    Sheet,
    Trial,
    append,
    ask_once,
    budget_of,
    by_key,
    in_order,
    record,
    sheet,
)
from judge.show.web.pages import Pages, in_words, plain_text, read_body, static_route

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from judge.show.web.access import Access


# Trials that were started from the page of `judge try`. They run in the background, and are kept in memory until
# newer trials replace them.

# Trials that are asked at the same time.
AT_ONCE = 2

# Ended trials stay for a page that is loaded again; the oldest go, so that memory stays bounded.
_KEPT = 16
_STOPPED = "stopped from the page"


@dataclass(slots=True)
class Asked:
    """One trial started from the page; `control` is None where the judge itself is the control. Times are of a
    monotonic clock. `trouble` is the sentence of an error, "" without one."""

    trial: Trial
    control: dict[str, Answered] | None
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None
    trouble: str = ""
    task: asyncio.Task[None] | None = None

    @property
    def seconds(self) -> float:
        """Seconds so far or, once it has ended, in all."""
        return (self.ended or time.monotonic()) - self.began

    @property
    def sheet(self) -> Sheet:
        return sheet(self.trial.questions, self.trial.answers, self.control)


class Busy(Exception):  # noqa: N818  not an error of anybody's
    """The maximum number of simultaneous trials is in progress."""


class Trials:
    """All trials of one server, in memory."""

    def __init__(self, spec: RunSpec, output: Path | None) -> None:
        self.opening = False
        self._spec = spec
        self._output = output
        self._budget = budget_of(spec)
        self._known: OrderedDict[str, Asked] = OrderedDict()
        self._backend: Backend | None = None
        self._lock = asyncio.Lock()

    def get(self, name: str) -> Asked | None:
        """A trial by name; None for one unknown or no longer kept."""
        return self._known.get(name)

    def check_room(self) -> None:
        """Raise Busy where the maximum number of trials is in progress."""
        if sum(trial.ended is None for trial in self._known.values()) >= AT_ONCE:
            raise Busy

    def begin(self, questions: Questions, control: dict[str, Answered] | None) -> str:
        """Random name of a trial started in the background. Raises Busy."""
        self.check_room()
        name = secrets.token_urlsafe(16)
        asked = Asked(Trial(questions, budget=self._budget), control)
        asked.task = asyncio.create_task(self._ask(asked))
        self._known[name] = asked
        while len(self._known) > _KEPT:
            oldest = next(key for key, trial in self._known.items() if trial.ended is not None)
            del self._known[oldest]
        return name

    async def stop(self, asked: Asked) -> None:
        """Stop a trial: no more queries are sent."""
        asked.trial.stop(_STOPPED)
        if asked.task is not None:
            await asyncio.wait({asked.task}, timeout=2)

    async def close(self) -> None:
        for trial in self._known.values():
            if trial.ended is None:
                await self.stop(trial)
        if self._backend is not None:
            await self._backend.close()

    async def _ask(self, asked: Asked) -> None:
        try:
            answers = await asked.trial.ask(await self._open())
            if asked.trial.cause is not None:
                asked.trouble = in_words(asked.trial.cause)
            if self._output is not None:
                lines = [record(answer, self._spec.judge) for answer in answers]
                await asyncio.to_thread(append, self._output, lines)
        except JudgeError as error:
            asked.trouble = in_words(error)
            asked.trial.give_up(str(error))
        finally:
            asked.ended = time.monotonic()

    async def _open(self) -> Backend:
        # Opened and tested on the first call; after a failure, the next call tries again.
        async with self._lock:
            if self._backend is None:
                self.opening = True
                backend = await asyncio.to_thread(open_backend, self._spec.judge, settings_of(self._spec, None))
                try:
                    await backend.probe()
                except BaseException:
                    await backend.close()
                    raise
                finally:
                    self.opening = False
                self._backend = backend
            return self._backend


# Messages from the page of `judge try`: the form's texts and criteria set, within limits of length. The judge is not
# part of a message, since it is fixed when the server starts.

# Characters of a text: 10,000 words, three times the longest story of the studies' datasets.
MOST = 60_000

OWN, OTHER = "your story", "the second story"
_Text = Annotated[str, StringConstraints(max_length=MOST)]


class Message(BaseModel):
    """The content of the form; "" = not given."""

    model_config = ConfigDict(extra="forbid", strict=True)
    criteria: Annotated[str, StringConstraints(max_length=200)]
    story: _Text
    story_prompt: _Text = ""
    reference: _Text = ""
    other: _Text = ""

    @property
    def own(self) -> Story:
        """The story that is judged."""
        return self._story(OWN, self.story)

    @property
    def second(self) -> Story | None:
        """The story to compare with, or None."""
        return self._story(OTHER, self.other) if self.other.strip() else None

    def _story(self, name: str, text: str) -> Story:
        return Story(name, self.story_prompt.strip(), "unknown", text, self.reference.strip() or None)


def read_message(text: bytes) -> Message:
    """The form in a request's body. Raises SpecError for the person who filled it in."""
    try:
        return Message.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        name = " ".join(str(part) for part in first["loc"]).replace("_", "-")
        if first["type"] == "string_too_long":
            raise SpecError(f"{name} has more than {MOST:,} characters", hint="this page takes short stories") from None
        raise SpecError(f"{name + ': ' if name else ''}{first['msg']}") from None


_TEMPLATES = Path(__file__).parent / "templates"
_EMPTY = "Paste a story first."


@dataclass(frozen=True, slots=True)
class Before:
    """Texts with which the form is filled at first."""

    story: str = ""
    story_prompt: str = ""
    reference: str = ""
    other: str = ""


def trial_app(asking: Asking, access: Access, *, before: Before | None = None, output: Path | None = None) -> Starlette:
    """The web application of `judge try`; answers are appended to `output`. Raises JudgeError where the judge, its
    Eval-Prompts or the criteria set cannot be used."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    page = _Page(asking, Pages(_TEMPLATES, access), before or Before(), output)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        yield
        await page.trials.close()

    routes = [
        Route("/", page.form),
        Route("/cost", _written(page.cost), methods=["POST"]),
        Route("/ask", _written(page.ask), methods=["POST"]),
        Route("/answers/{name}", page.answers),
        Route("/stop/{name}", page.stop, methods=["POST"]),
        static_route(),
    ]
    return Starlette(routes=routes, exception_handlers={JudgeError: _sentence}, lifespan=life)


class _Page:
    def __init__(self, asking: Asking, pages: Pages, before: Before, output: Path | None) -> None:
        self._asking = asking
        self._pages = pages
        self._before = before
        self._output = output
        names = dict.fromkeys([asking.criteria, *shipped_criteria()])
        self._sets: dict[str, CriteriaSet] = {name: load_criteria(name) for name in names}
        # Whatever is wrong with the command line is said before the page is opened.
        split_judge(asking.judge)
        own, both = (with_both(asking, compares=compares) for compares in (False, True))
        example = Message(criteria=asking.criteria, story="A story.", other="Another.", reference="A third.")
        questions(own, example.own)
        self.trials = Trials(questions(both, example.own, example.second).spec, output)
        # The control's model and parsers are read now, not while the first reader waits.
        _ask_control(questions(both.by_control, example.own, example.second))

    def form(self, _: Request) -> Response:
        sets = [
            (name, criteria_set.description, len(criteria_set.criteria)) for name, criteria_set in self._sets.items()
        ]
        return self._pages.response(
            "try/form.html",
            judge=self._asking.judge,
            control=self._asking.is_control,
            sets=sets,
            chosen=self._asking.criteria,
            before=self._before,
            most=MOST,
            output=None if self._output is None else str(self._output),
        )

    async def cost(self, message: Message) -> dict[str, Any]:
        try:
            _, asked = await asyncio.to_thread(self._prepared, message)
            cost = await asyncio.to_thread(expected_cost, asked)
        except JudgeError as error:
            return {"ready": False, "words": in_words(error)}
        return {"ready": True, "words": cost.words}

    async def ask(self, message: Message) -> dict[str, Any]:
        self.trials.check_room()
        asking, asked = await asyncio.to_thread(self._prepared, message)
        control = None
        if not self._asking.is_control:
            of_control = questions(asking.by_control, message.own, message.second)
            control = by_key(await asyncio.to_thread(_ask_control, of_control))
        name = self.trials.begin(asked, control)
        begun = self.trials.get(name)
        if begun is not None and begun.task is not None and control is None:
            # The control answers at once: its answers need no second request.
            await asyncio.wait({begun.task}, timeout=2)
        return {"name": name, **self._shown(begun)}

    async def answers(self, request: Request) -> Response:
        from starlette.responses import JSONResponse

        asked = self.trials.get(request.path_params["name"])
        if asked is None:
            return plain_text("This trial is no longer stored. Start it again.", 404)
        return JSONResponse(self._shown(asked), headers={"cache-control": "no-store"})

    async def stop(self, request: Request) -> Response:
        asked = self.trials.get(request.path_params["name"])
        if asked is not None:
            await self.trials.stop(asked)
        return await self.answers(request)

    def _prepared(self, message: Message) -> tuple[Asking, Questions]:
        if message.criteria not in self._sets:
            raise JudgeError(unknown("criteria set", message.criteria, self._sets))
        if not message.story.strip():
            raise JudgeError(_EMPTY.rstrip("."))
        asking = with_both(replace(self._asking, criteria=message.criteria), compares=message.second is not None)
        return asking, questions(asking, message.own, message.second)

    def _shown(self, asked: Asked | None) -> dict[str, Any]:
        if asked is None:  # pushed out by newer ones between two lines
            return {"done": True, "html": ""}
        sheet = asked.sheet
        html = self._pages.text(
            "try/answers.html",
            asked=asked,
            sheet=sheet,
            opening=self.trials.opening,
            preferred=PREFERRED,
            in_order=in_order,
            share=_share,
            control=self._asking.is_control,
            # Criteria on whose human ratings the control was not fitted.
            unfitted=[row.criterion.name for row in sheet.rated if not has_model(row.criterion.name)]
            if sheet.control or self._asking.is_control
            else [],
            output=None if self._output is None else str(self._output),
        )
        return {"done": asked.ended is not None, "html": html}


def _ask_control(asked: Questions) -> list[Answered]:
    """In a separate event loop, called in another thread, so that other requests do not wait."""
    return asyncio.run(ask_once(asked))


def _share(criterion: Any, rating: float) -> float:
    """Position on the scale in per cent, drawn as a bar's length."""
    scale = criterion.scale
    return 100 * (rating - scale.min) / (scale.max - scale.min) if scale.max > scale.min else 100.0


def _written(work: Callable[[Message], Any]) -> Callable[[Request], Any]:
    # Too many trials in progress give a sentence with status 429.
    async def endpoint(request: Request) -> Response:
        from starlette.responses import JSONResponse

        try:
            return JSONResponse(await work(read_message(await read_body(request))))
        except Busy:
            return plain_text(f"{AT_ONCE} trials are being answered already. Stop one, or wait.", 429)

    return endpoint


async def _sentence(_: Request, error: Exception) -> Response:
    return plain_text(in_words(error) if isinstance(error, JudgeError) else str(error), 422)
