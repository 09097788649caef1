"""The pages of one audit as a web application: welcome, items, second round, results. Annotators see how far others
are. No page for annotators links to `/results` (rates, agreement), which would bias them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar
from urllib.parse import parse_qs

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from judge.base.errors import JudgeError, SpecError
from judge.base.wording import PLAIN, Advice, written
from judge.explanations.audit.adjudication import adjudicate, disputes
from judge.explanations.audit.answers_file import practise
from judge.explanations.audit.rows import ItemState, clean_name
from judge.explanations.audit.store import ADJUDICATION, ANNOTATION, AuditStore, ChangedElsewhereError, snapshot
from judge.show.web import audit_annotators as tasks
from judge.show.web.audit_annotators import Annotators, packed_task
from judge.show.web.owners import NotOwnerError, lasting
from judge.show.web.pages import in_words, read_body, static_route
from judge.show.web.work_pages import Kind, WorkPages, handlers, packed, status_of, taking, where_wrong, write_pages

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from judge.show.web.access import Access


# Checks of the answers that the pages of an audit of explanations send. Answers are committed to the audit's file,
# and confirmed after the commit.

_Value = Annotated[int, Field(ge=0, le=1)]


class RefusedError(Exception):
    """A message with answers is refused, with an HTTP status and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    audit: str
    annotator: str = Field(min_length=1, max_length=200)
    own: str = Field(default="", max_length=200)
    round: Literal[1, 2]


class _ItemMessage(_Message):
    message: str = Field(min_length=1, max_length=100)
    item: int = Field(ge=1, lt=2**31)
    values: dict[str, _Value | None]
    note: str | None = Field(default=None, max_length=20_000)
    seconds: float = Field(ge=0, le=1e7, allow_inf_nan=False)
    # What the page showed before the change; packs and pages of earlier versions do not say.
    before: dict[str, _Value | None] | None = None
    note_before: str | None = Field(default=None, max_length=20_000)

    @property
    def remarks(self) -> dict[str, Any]:
        """What is stored beside the values."""
        seen = {"seen": self.before, "seen_note": self.note_before}
        return {"note": self.note, "seconds": self.seconds, "message": self.message, **seen}


class _PracticeMessage(_Message):
    practice: int = Field(ge=1, lt=2**31)
    values: dict[str, _Value]


# Whether a key is that of a name.
Owns = Callable[[str, str], bool]


def save_answers(store: AuditStore, owns: Owns, text: bytes) -> dict[str, Any]:
    """What is stored of an item after an annotator's message `text` of round 1. `owns` says whether the key in it is
    that of the annotator's name."""
    message = _read(_ItemMessage, store, owns, text, ANNOTATION)
    state = store.answer(message.annotator, message.item, message.values, **message.remarks)
    return _stored(message.item, state, done=state.done)


def save_settled(store: AuditStore, owns: Owns, text: bytes) -> dict[str, Any]:
    """What is stored of an item after an adjudicator's message `text`, as `save_answers`."""
    message = _read(_ItemMessage, store, owns, text, ADJUDICATION)
    disputed = next((dispute.disputed for dispute in disputes(snapshot(store)) if dispute.item == message.item), ())
    state = adjudicate(store, message.annotator, message.item, message.values, **message.remarks)
    return _stored(message.item, state, done=set(disputed) <= state.values.keys())


def _stored(item: int, state: ItemState, *, done: bool) -> dict[str, Any]:
    """`revision` is the number of the annotator's changes to it."""
    return {
        "item": item,
        "done": done,
        "values": dict(state.values),
        "note": state.note,
        "seconds": state.seconds or 0,
        "revision": state.revision,
    }


def save_practice(store: AuditStore, owns: Owns, text: bytes) -> dict[str, Any]:
    """The practice item's number and whether all answers are given, after the message `text`."""
    message = _read(_PracticeMessage, store, owns, text, ANNOTATION)
    values = dict.fromkeys((category.key for category in store.categories), None) | message.values
    return {"practice": message.practice, "done": practise(store, message.annotator, message.practice, values)}


_M = TypeVar("_M", bound=_Message)


def _read(kind: type[_M], store: AuditStore, owns: Owns, text: bytes, round_no: int) -> _M:
    try:
        message = kind.model_validate_json(text)
    except ValidationError as error:
        raise RefusedError(400, where_wrong(error)) from error
    if message.audit != store.audit_id:
        raise RefusedError(409, "This server holds another audit now. Your answers stay in this browser.")
    if message.round != round_no:
        raise RefusedError(400, f"round: answers of round {message.round} do not belong here")
    if not owns(message.annotator, message.own):
        raise RefusedError(403, f"Answers of {message.annotator} come from the page of that person's own link alone.")
    return message


PAGES = Kind(
    "judge audit",
    "audit-page",
    "audit.css",
    "audit_form.html",
    (
        *("audit_text.js", "clock.js", "keep.js", "work.js", "audit_parts.js", "audit_reading.js"),
        *("audit_between.js", "audit_keys.js", "audit.js"),
    ),
)


def application(store: AuditStore, access: Access) -> Starlette:
    """The web application of an audit; every answer is on disk before it is confirmed."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    pages, owners = WorkPages(PAGES, access), Annotators(store)
    routes = [
        Route("/", lambda _: _welcome_page(store, pages)),
        Route("/start", _start(store, pages, owners, ANNOTATION), methods=["POST"]),
        Route("/annotate", _work(store, pages, owners, ANNOTATION)),
        Route("/results", _results(store, pages)),
        Route("/adjudicate", _work(store, pages, owners, ADJUDICATION)),
        Route("/adjudicate/start", _start(store, pages, owners, ADJUDICATION), methods=["POST"]),
        taking("/answers", partial(_replied, store, owners, save_answers)),
        taking("/practice", partial(_replied, store, owners, save_practice)),
        taking("/settled", partial(_replied, store, owners, save_settled)),
        static_route(),
    ]
    return Starlette(routes=routes, exception_handlers=handlers(" The audit begins at /"))


def lasting_key(store: AuditStore) -> str:
    """The access key for other machines, stored in the audit, so that links sent out survive a restart."""
    return lasting(store, "page_key")


def introduction(store: AuditStore) -> dict[str, Any]:
    """Facts for welcome and offline pages: numbers of items, categories, practice, and hidden facts."""
    # The time that others needed is left out, because it could influence how long an annotator takes.
    return {
        "count": store.item_count,
        "categories": store.categories,
        "practice": len(store.practice),
        "blind": store.blind,
    }


def _welcome_page(
    store: AuditStore, pages: WorkPages, trouble: str = "", name: str = "", status: int = 200
) -> Response:
    with store.reading():
        only_adjudicating = set(store.annotators(ADJUDICATION)) - set(store.annotators())
        names = [name for name in store.registered() if name not in only_adjudicating]
        shown = [(name, store.done_count(name), store.item_count) for name in names]
    return pages.response(
        "audit_welcome.html",
        status,
        title=_TITLE,
        annotators=shown,
        trouble=trouble,
        name=name,
        audit=store.audit_id,
        **introduction(store),
    )


def _refused(store: AuditStore, pages: WorkPages, round_no: int, sentence: str, name: str, status: int) -> Response:
    if round_no == ANNOTATION:
        return _welcome_page(store, pages, sentence, name, status)
    back = ("/results", "Back to the results")
    return pages.message("Settle disagreements", sentence, status, wrong=True, back=back)


def _start(store: AuditStore, pages: WorkPages, owners: Annotators, round_no: int) -> Callable[[Request], Any]:
    """Claims a name from a form for the sender, and redirects to the personal link."""
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import RedirectResponse

    async def endpoint(request: Request) -> Response:
        form = parse_qs((await read_body(request)).decode("utf-8", "replace"))
        given = (form.get("name") or [""])[0]
        try:
            name = await run_in_threadpool(owners.take, given, request.cookies, register=round_no == ANNOTATION)
        except JudgeError as error:
            status = 403 if isinstance(error, NotOwnerError) else status_of(error)
            return await run_in_threadpool(_refused, store, pages, round_no, in_words(error), given, status)
        where = "/annotate" if round_no == ANNOTATION else "/adjudicate"
        return owners.remember(RedirectResponse(owners.link(name, where), 303), name)

    return endpoint


def _work(store: AuditStore, pages: WorkPages, owners: Annotators, round_no: int) -> Callable[[Request], Response]:
    from starlette.responses import RedirectResponse

    def endpoint(request: Request) -> Response:
        given = request.query_params.get("name", "")
        # Nobody becomes an annotator by a link alone, or a misspelt one would be a further rater. Whoever settles
        # disagreements is made known by the first answer.
        if not given.strip() or (round_no == ANNOTATION and given not in store.registered()):
            return RedirectResponse("/" if round_no == ANNOTATION else "/results", 303)
        name = clean_name(given)
        own = owners.given(name, request.query_params, request.cookies)
        if not owners.owns(name, own):
            return _refused(store, pages, round_no, in_words(NotOwnerError(name)), name, 403)
        task = tasks.TASKS[round_no](store, name) | {"own": own}
        doing = "Annotating" if round_no == ANNOTATION else "Settling disagreements"
        return owners.remember(pages.work(task, f"{doing} as {name}"), name)

    return endpoint


def _results(store: AuditStore, pages: WorkPages) -> Callable[[Request], Response]:
    def endpoint(_: Request) -> Response:
        # Statistics need numpy and scipy, which the annotators' pages do without.
        from judge.base.printing.output import html_table
        from judge.explanations.audit.printed import audit_tables
        from judge.explanations.audit.report import report

        audit = snapshot(store)
        tables, trouble = [], ""
        try:
            tables = [html_table(table, copies=False) for table in audit_tables(report(audit))]
        except SpecError as error:
            trouble = f"{written(error.sentence, PLAIN)}."
        all_ = disputes(audit)
        open_ = [entry for entry in all_ if entry.open]
        finished = {(entry.item, entry.annotator) for entry in audit.annotation.answers if entry.done}
        done = Counter(item for item, _ in finished)
        numbers = {"open": len(open_), "disputed": len(all_), "twice": sum(count > 1 for count in done.values())}
        return pages.response("audit_results.html", title="Results", tables=tables, trouble=trouble, **numbers)

    return endpoint


def _replied(
    store: AuditStore, owners: Annotators, save: Callable[[AuditStore, Owns, bytes], dict[str, Any]], text: bytes
) -> tuple[int, Any]:
    """Status and reply to a message with answers."""
    try:
        return 200, save(store, owners.owns, text)
    except ChangedElsewhereError as error:
        item = _ItemMessage.model_validate_json(text).item
        return 409, _stored(item, error.state, done=error.state.done)
    except RefusedError as error:
        return error.status, str(error)


# HTML files of an audit for annotators who cannot reach the server, self-contained, without network requests. Answers
# stay in the browser until the annotator saves them as a file, which `judge audit import` imports.

_TITLE = "Judge explanations of ratings"


def write_pack(store: AuditStore, annotators: Sequence[str], folder: Path) -> list[Path]:
    """Write `audit-NAME.html` for each annotator; only importing answers registers them. Raises SpecError for an
    invalid name or one that occurs twice, and where the folder cannot be written."""
    names = [clean_name(name) for name in annotators]
    folded = [name.casefold() for name in names]
    for name in names:
        if folded.count(name.casefold()) > 1:
            raise SpecError(
                Advice("{annotators} names {!r} twice", name), hint="two people by one name would count as one rater"
            )
    pages: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        stem = "audit-" + "".join(c if c.isalnum() else "_" for c in name)
        # Some file systems do not tell upper from lower case.
        while stem.casefold() in taken:
            stem += "_"
        taken.add(stem.casefold())
        pages[f"{stem}.html"] = page(store, name)
    return write_pages(folder, pages)


def page(store: AuditStore, annotator: str) -> str:
    """The offline page of one annotator."""
    doing = f"Annotating as {annotator}"
    task = packed_task(store, annotator)
    return packed(PAGES, task, title=_TITLE, doing=doing, annotator=annotator, **introduction(store))
