"""The pages of one study in which people rate stories: a personal link opens consent, guidelines, practice, stories and
the list of one's own answers. Nobody is shown a system, a judge, another rater, or which texts are checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from judge.base.records import Criterion
from judge.lab.people.store import COMMENT, SKIP, SKIPS, UNSURE, Spent, State, StudyStore
from judge.lab.people.study import Entry, Text
from judge.show.web.owners import Owners
from judge.show.web.pages import static_route
from judge.show.web.work_pages import Kind, WorkPages, handlers, packed, taking, write_pages
from judge.version import __version__

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from judge.show.web.access import Access

PAGES = Kind(
    "Ratings of stories",
    "people-page",
    "people.css",
    "people_form.html",
    ("clock.js", "keep.js", "work.js", "people_parts.js", "people.js"),
)
ANSWERS = "judge-people-answers/1"


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    study: str
    rater: str = Field(min_length=1, max_length=80)
    own: str = Field(default="", max_length=200)
    message: str = Field(min_length=1, max_length=100)


class _Answers(_Message):
    item: int = Field(ge=0, lt=2**31)
    values: dict[str, float | str | None]
    before: dict[str, float | str | None] = Field(default_factory=dict)
    note: str | None = Field(default=None, max_length=20_000)
    note_before: str | None = Field(default=None, max_length=20_000)
    seconds: float = 0
    visible: float = 0
    wall: float = 0
    facts: dict[str, str | float | bool | None] = Field(default_factory=dict, max_length=20)


class _Event(_Message):
    kind: str = Field(max_length=20)
    facts: dict[str, str | float | bool | None] = Field(default_factory=dict, max_length=20)


def save_answers(store: StudyStore, owners: Owners, text: bytes) -> tuple[int, Any]:
    """Status and reply to a page's message with answers: what is stored of the place, with 409 where some came too late
    to count, and a sentence where the study was closed."""
    given = _Answers.model_validate_json(text)
    if refusal := _refusal(store, owners, given):
        return refusal
    fields, before = dict(given.values), dict(given.before)
    if given.note is not None:
        fields[COMMENT], before[COMMENT] = given.note or None, given.note_before or None
    spent = Spent(given.seconds, given.visible, given.wall)
    state = store.save(
        given.rater, given.item, fields, message=given.message, before=before, spent=spent, facts=given.facts
    )
    if state.late and store.closed():
        return 403, _CLOSED
    return (409 if state.late else 200), shown_state(given.item, state)


def save_event(store: StudyStore, owners: Owners, text: bytes) -> tuple[int, Any]:
    """Status and reply to a page's message about consent, a break or the end."""
    given = _Event.model_validate_json(text)
    if refusal := _refusal(store, owners, given):
        return refusal
    store.note(given.rater, given.kind, message=given.message, facts=given.facts)
    return 200, {"kept": given.kind}


def shown_state(place: int, state: State) -> dict[str, Any]:
    """What counts of a place, as pages keep it."""
    values: dict[str, Any] = dict(state.values) | dict.fromkeys(state.unsure, UNSURE)
    values |= {SKIP: state.skip} if state.skip else {}
    return {"item": place, "values": values, "note": state.comment, "seconds": state.seconds, "revision": state.seq}


def _refusal(store: StudyStore, owners: Owners, given: _Message) -> tuple[int, str] | None:
    if given.study != store.study_id:
        return 409, "This server holds another study now. Your answers stay in this browser."
    if not owners.owns(given.rater, given.own):
        return 403, "Answers come from the page of a person's own link alone."
    if given.rater in store.withdrawn():
        return 403, "You have left this study, and nothing more is kept."
    return None


def rater_task(store: StudyStore, rater: str) -> dict[str, Any]:
    """Data for the page of one rater: texts in the rater's own order, criteria, earlier answers. What an entry is for
    is told of practice alone."""
    with store.reading():
        texts, entries = store.texts(), store.entries(rater)
        states = {str(i): shown_state(i, store.state_in(rater, i)) for i in range(len(entries))}
        events = [kind for kind, _, _ in store.events(rater)]
    return {
        "study": store.study_id,
        "rater": rater,
        "store": f"judge-people:{store.study_id}:{rater}",
        "consent": store.meta["consent"],
        "criteria": [_criterion(criterion, store) for criterion in store.criteria],
        "together": store.together,
        "pairs": store.pairs,
        "labels": not store.pairs and any(criterion.scale.labels for criterion in store.criteria),
        "items": [_item(place, entry, texts) for place, entry in enumerate(entries)],
        "states": {key: state for key, state in states.items() if state["revision"]},
        "practised": {},
        "events": events,
        "skips": SKIPS,
        "version": __version__,
        "guidelines": store.meta["guidelines"],
        "save": "/ratings",
        "event": "/events",
        "download": None,
    }


def _item(place: int, entry: Entry, texts: Mapping[int, Text]) -> dict[str, Any]:
    """One place: its prompt and its one or two texts. Of practice it is told what should be rated lower: the place of
    the whole story (`lower`), or on which side of a pair the whole one stands (`whole`)."""
    text = texts[entry.text]
    practice = entry.use == "practice"
    item = {"id": place, "prompt": text.story_prompt, "text": text.text, "practice": practice}
    if entry.beside is not None:
        item["beside"] = texts[entry.beside].text
        return item | ({"whole": int(text.damage is not None)} if practice else {})
    return item | ({"lower": entry.of} if practice and entry.of is not None else {})


# Keys of the answers to a comparison, as they stand on the buttons.
_KEYS = {"Left": "←", "Right": "→", "Tie": "t", "Both bad": "x"}


def _criterion(criterion: Criterion, store: StudyStore) -> dict[str, Any]:
    points = criterion.scale.points()
    guidelines: Sequence[str] = criterion.guidelines or ("",) * len(points)
    shown: list[dict[str, Any]] = [
        {"value": point, "label": criterion.scale.text_of(point), "text": text}
        for point, text in zip(points, guidelines, strict=False)
    ]
    if store.pairs:
        shown = [point | {"key": _KEYS[str(point["label"])]} for point in shown]
    elif store.may_be_unsure(criterion):
        shown.append({"value": UNSURE, "label": UNSURE.capitalize(), "text": "", "key": "0"})
    return {"key": criterion.name, "definition": criterion.definition, "points": shown}


def application(store: StudyStore, access: Access) -> Starlette:
    """The web application of a study; every answer is on disk before it is confirmed."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    pages, owners = WorkPages(PAGES, access), owners_of(store)
    routes = [
        Route("/", lambda _: pages.message(PAGES.brand, _NO_LINK, 200)),
        Route("/rate", _work(store, pages, owners)),
        taking("/ratings", partial(save_answers, store, owners)),
        taking("/events", partial(save_event, store, owners)),
        static_route(),
    ]
    return Starlette(routes=routes, exception_handlers=handlers(""))


def owners_of(store: StudyStore) -> Owners:
    """The personal links of a study's raters."""
    return Owners(store, store.study_id, "/rate")


_CLOSED = "This study is closed. Answers that come now are kept, and do not count. Thank you."
_NO_LINK = "Your stories open by your own link: ask for it the person who invited you."


def _work(store: StudyStore, pages: WorkPages, owners: Owners) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        rater = request.query_params.get("name", "")
        own = owners.given(rater, request.query_params, request.cookies)
        # Whether a pseudonym exists is not told to somebody without its key.
        if rater not in store.raters() or not owners.owns(rater, own):
            return pages.message("This link opens nothing", _NO_LINK, 403)
        if rater in store.withdrawn():
            return pages.message("You have left this study", "Nothing more is asked of you, or kept. Thank you.", 403)
        if store.closed():
            return pages.message("This study is closed", "Thank you for your work. Nothing more is asked of you.", 200)
        who = {"study": store.study_id, "rater": rater, "own": own}
        return owners.remember(pages.work(rater_task(store, rater) | {"own": own, "who": who}), rater)

    return endpoint


# HTML files for raters who cannot reach the server: self-contained, without network requests. Answers stay in the
# browser until they are saved as a file, which `judge people import` takes.


def write_pack(store: StudyStore, folder: Path) -> list[Path]:
    """Write `rate-NAME.html` for each rater who takes part. Raises SpecError where the folder cannot be written."""
    gone = store.withdrawn()
    return write_pages(folder, {f"rate-{r}.html": packed_page(store, r) for r in store.raters() if r not in gone})


def packed_page(store: StudyStore, rater: str) -> str:
    """The offline page of one rater."""
    nowhere: dict[str, Any] = {"save": None, "event": None, "states": {}, "events": []}
    file = {"download": {"format": ANSWERS}, "file": f"answers-{rater}.json"}
    return packed(PAGES, rater_task(store, rater) | nowhere | file)
