"""The pages of one audit of explanations as a web application: welcome, items, second round, results.

Annotators see the welcome page, the items, and how far the other annotators are. Results (rates, agreement) are only on
the page `/results`, to which no page for annotators links, because knowing them would bias annotators.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from judge.base.errors import JudgeError, SpecError
from judge.base.wording import PLAIN, written
from judge.explanations.audit.file.answers import clean_name
from judge.explanations.audit.file.snapshot import snapshot
from judge.explanations.audit.file.store import ADJUDICATION, ANNOTATION, AuditStore
from judge.explanations.audit.results.adjudication import disputes
from judge.show.web.audit import answers, tasks
from judge.show.web.audit.owning import NotOwnerError, Owners, lasting
from judge.show.web.body import read_body
from judge.show.web.pages import Pages, static_route

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from judge.show.web.access import Access
    from judge.show.web.audit.answers import Owns

TEMPLATES = Path(__file__).parents[1] / "templates"


def application(store: AuditStore, access: Access) -> Starlette:
    """The web application of an audit. Every answer is written to the audit's file before it is confirmed."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    pages, owners = Pages(TEMPLATES, access), Owners(store)
    routes = [
        Route("/", _welcome(store, pages)),
        Route("/start", _start(store, pages, owners, "/annotate"), methods=["POST"]),
        Route("/annotate", _work(store, pages, owners, ANNOTATION)),
        Route("/results", _results(store, pages)),
        Route("/adjudicate", _work(store, pages, owners, ADJUDICATION)),
        Route("/adjudicate/start", _start(store, pages, owners, "/adjudicate"), methods=["POST"]),
        _taking("/answers", store, owners, answers.save_answers),
        _taking("/practice", store, owners, answers.save_practice),
        _taking("/settled", store, owners, answers.save_settled),
        static_route(),
    ]
    return Starlette(routes=routes, exception_handlers={JudgeError: _sentence, 404: _nowhere})


def lasting_key(store: AuditStore) -> str:
    """The access key of an audit's pages for annotators on other machines. It is stored in the audit, so that links
    that were sent out still work after a restart.
    """
    return lasting(store, "page_key")


def introduction(store: AuditStore) -> dict[str, Any]:
    """Facts about an audit for its welcome page and offline pages: number of items, categories, number of practice
    items, and which facts are hidden from annotators.

    The time that other annotators needed is left out, because it could influence how long an annotator takes.
    """
    return {
        "count": store.item_count,
        "categories": store.categories,
        "practice": len(store.practice),
        "blind": store.blind,
    }


def _welcome(store: AuditStore, pages: Pages) -> Callable[[Request], Response]:
    def endpoint(_: Request) -> Response:
        return _welcome_page(store, pages)

    return endpoint


def _welcome_page(store: AuditStore, pages: Pages, trouble: str = "", name: str = "", status: int = 200) -> Response:
    with store.reading():
        progress_by_name = [
            (who, store.progress(who)) for who in store.registered() if who not in _only_adjudicating(store)
        ]
    shown = [(who, len(progress.done), progress.total) for who, progress in progress_by_name]
    return pages.response(
        "audit_welcome.html",
        status,
        annotators=shown,
        trouble=trouble,
        name=name,
        audit=store.audit_id,
        **introduction(store),
    )


def _only_adjudicating(store: AuditStore) -> set[str]:
    return set(store.annotators(ADJUDICATION)) - set(store.annotators())


def _start(store: AuditStore, pages: Pages, owners: Owners, where: str) -> Callable[[Request], Any]:
    """A function that answers requests to take part in an audit. It takes a name from a form, claims it for the sender,
    and redirects to the personal link; `where` is the path of the page.
    """
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import RedirectResponse

    async def endpoint(request: Request) -> Response:
        form = parse_qs((await read_body(request)).decode("utf-8", "replace"))
        given = (form.get("name") or [""])[0]
        try:
            register = where == "/annotate"
            name = await run_in_threadpool(owners.take, given, request.cookies, register=register)
        except JudgeError as error:
            status = 403 if isinstance(error, NotOwnerError) else answers.status_of(error)
            sentence = _in_words(error)
            if where == "/annotate":
                return await run_in_threadpool(_welcome_page, store, pages, sentence, given, status)
            return pages.response("audit_message.html", status, title="Settle disagreements", text=sentence)
        return owners.remember(RedirectResponse(owners.link(name, where), 303), name)

    return endpoint


def _in_words(error: JudgeError) -> str:
    hint = written(error.hint or "", PLAIN)
    sentence = f"{written(error.sentence, PLAIN)}."
    return f"{sentence} {hint[:1].upper()}{hint[1:]}." if hint else sentence


def _work(store: AuditStore, pages: Pages, owners: Owners, round_no: int) -> Callable[[Request], Response]:
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
            sentence = _in_words(NotOwnerError(name))
            if round_no == ANNOTATION:
                return _welcome_page(store, pages, sentence, name, 403)
            return pages.response("audit_message.html", 403, title="Settle disagreements", text=sentence)
        task = tasks.TASKS[round_no](store, name) | {"own": own}
        page = pages.response("audit_work.html", annotator=name, round=round_no, task=tasks.as_script(task))
        return owners.remember(page, name)

    return endpoint


def _results(store: AuditStore, pages: Pages) -> Callable[[Request], Response]:
    def endpoint(_: Request) -> Response:
        # Statistics need numpy and scipy, which the annotators' pages do without.
        from judge.base.printing.html_table import html_table
        from judge.explanations.audit.results.printed import audit_tables
        from judge.explanations.audit.results.report import report

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
        return pages.response("audit_results.html", tables=tables, trouble=trouble, **numbers)

    return endpoint


def _taking(
    path: str, store: AuditStore, owners: Owners, save: Callable[[AuditStore, Owns, bytes], dict[str, Any]]
) -> Route:
    """A route that receives a message with answers, stores it with the function `save`, and confirms it after the
    commit.
    """
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse, PlainTextResponse
    from starlette.routing import Route

    async def endpoint(request: Request) -> Response:
        text = await read_body(request)
        try:
            return JSONResponse(await run_in_threadpool(save, store, owners.owns, text))
        except answers.RefusedError as error:
            return PlainTextResponse(str(error), error.status)

    return Route(path, endpoint, methods=["POST"])


async def _sentence(_: Request, error: Exception) -> Response:
    from starlette.responses import PlainTextResponse

    hint = getattr(error, "hint", None)
    return PlainTextResponse(f"{error} ({hint})" if hint else str(error), answers.status_of(error))


async def _nowhere(_: Request, error: Exception) -> Response:
    from starlette.responses import PlainTextResponse

    del error
    return PlainTextResponse("There is no such page here. The audit begins at /\n", 404)
