"""Pages about single answers: judgments, stories, one story, and two Eval-Prompts side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judge.answers.journal import JournalReader
from judge.base.records import Story
from judge.show.web.view.judgments import WORDS, Asked, Filters, Judgments, Row, Stored, judgments, stored
from judge.show.web.view.marked import difference, excerpt
from judge.show.web.view.pages import pairs
from judge.show.web.view.runs import FoundRun
from judge.show.web.view.site import Computed, NotFoundError, Site, number
from judge.show.web.view.story import BESIDE, Cell, JudgeView, cell, other_side, people_of, side, story_named

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

STORIES = 30
# Points of a scale of numbers among which a filter chooses.
MOST_POINTS = 11


def judgments_page(site: Site, request: Request) -> Response:
    """Judgments that pass the filters, in reading order."""
    run = site.run(request)
    slug = site.slug(request, run)
    query = request.query_params
    filters = Filters(
        **{key: query.get(key, "") for key in WORDS},
        rating=_float(query.get("rating")),
    )
    folder = run.results[slug]
    with stored(folder) as opened:
        computed, compares = site.index(folder), opened.journal.compares
        with judgments(computed.file) as index:
            values: dict[str, Any] = {"page": None, "rows": [], "names": {}}
            if index is not None:
                before, after = whole_number(query.get("before")), whole_number(query.get("after"))
                page = index.page(filters, after=-1 if after is None else after, before=before)
                rows = pairs.rows(opened, page.rows) if compares else _rows(opened, page.rows)
                values = {"page": page, "rows": rows, "names": index.names}
            behind = _behind(opened.journal, index, computed)
            values |= pairs.filter_words() if compares else {"points": _points(opened.asked)}
    return site.page(
        "comparisons.html" if compares else "judgments.html",
        run,
        "judgments",
        slug=slug,
        filters=filters,
        set=filters.words(),
        behind=behind,
        work=computed.work,
        **values,
    )


def _rows(opened: Stored, rows: Sequence[Row]) -> list[dict[str, Any]]:
    stories = {position: opened.journal.story_at(position) for position in {row.story for row in rows}}
    return [_shown(opened, row, stories[row.story]) for row in rows]


def _shown(opened: Stored, row: Row, story: Story | None) -> dict[str, Any]:
    """Row, story, and the beginning of the answer."""
    answers = opened.journal.answers_to(row.query_key)
    answer = next((candidate for candidate in answers if candidate.repeat == row.repeat), None)
    text = None
    if answer is not None and answer.response is not None:
        judgment = opened.asked.reading.judgment(replace(answer, criterion=row.criterion))
        text = excerpt(answer.response.text, judgment)
    scale = opened.asked.scales.get(row.criterion)
    label = None if scale is None else scale.label_of(row.rating)
    error = answer.error if answer is not None else None
    return {"row": row, "story": story, "text": text, "error": error, "label": label}


def _behind(journal: JournalReader, index: Judgments | None, computed: Computed) -> dict[str, Any] | None:
    """Last attempt in the index and in the journal; None where the index is up to date."""
    if computed.work is None:
        return None
    last = journal.last_attempt()
    done = index.attempt if index is not None else 0
    return {"done": done, "last": last} if done < last else None


def _points(asked: Asked) -> list[tuple[float, str]]:
    """Points of the scales as choices of the filter; empty where there are too many."""
    called: dict[float, dict[str, None]] = {}
    labelled = False
    for scale in asked.scales.values():
        labelled = labelled or bool(scale.labels)
        for point in scale.points():
            called.setdefault(point, {})[scale.label_of(point) or number(point)] = None
    points = [(point, " / ".join(words)) for point, words in sorted(called.items())]
    return points if labelled or len(points) <= MOST_POINTS else []


def stories_page(site: Site, request: Request) -> Response:
    """Stories in dataset order, with mean ratings of judge and people."""
    run = site.run(request)
    slug = site.slug(request, run)
    folder = run.results[slug]
    after = whole_number(request.query_params.get("after")) or 0
    wanted = request.query_params.get("text", "").strip()
    system = request.query_params.get("system", "")
    with stored(folder) as opened:
        if wanted and opened.journal.position_of(wanted) is not None:
            from starlette.responses import RedirectResponse

            address = request.url.include_query_params(story=wanted).replace(path=f"/run/{run.key}/story")
            return RedirectResponse(str(address))
        matches = opened.journal.find_stories(after, wanted, system, STORIES + 1)
        criteria, raters, scales = opened.asked.criteria, opened.asked.raters, opened.asked.scales
        declared = opened.asked.people
        means: Any = {}
        computed = site.index(folder)
        with judgments(computed.file) as index:
            systems = sorted(index.names["system"].values()) if index is not None else []
            if index is not None:
                means = {position: index.means(position, position).get(position, {}) for position, _ in matches}
    more = matches[STORIES - 1][0] + 1 if len(matches) > STORIES else None
    for of_story in means.values():
        for name in of_story.keys() & {name for name, scale in scales.items() if not scale.numeric}:
            del of_story[name]  # labels without an order have no mean
    rows = [(position, story, people_of(story, criteria, scales, declared)) for position, story in matches[:STORIES]]
    return site.page(
        "stories.html",
        run,
        "stories",
        slug=slug,
        rows=rows,
        criteria=criteria,
        means=means,
        after=after,
        more=more,
        text=wanted,
        system=system,
        systems=systems,
        raters=raters,
        work=computed.work,
    )


def story_page(site: Site, request: Request) -> Response:
    """One story, all judgments by one or several judges side by side, and human ratings."""
    run = site.run(request)
    chosen = [slug for slug in request.query_params.getlist("judge") if slug in run.results]
    able = [slug for slug, folder in run.results.items() if folder.journal.is_file()]
    chosen = list(dict.fromkeys(chosen or able))[:BESIDE]
    if not chosen:
        site.slug(request, run)
        raise NotFoundError(f"run {run.name} has imported ratings only: there are no answers to show")
    name = request.query_params.get("story", "")
    view = _story(run, chosen, name)
    return site.page("story.html", run, "stories", view=view, chosen=chosen, able=able, beside=BESIDE)


def _story(run: FoundRun, chosen: Sequence[str], name: str) -> dict[str, Any]:
    """Content of the page; `position` counts from 0, `before` and `after` are ids or None."""
    with stored(run.results[chosen[0]]) as opened:
        position, story = _placed(run, opened, name)
        before, after = opened.journal.story_at(position - 1), opened.journal.story_at(position + 1)
        total, asked = opened.journal.story_count(), opened.asked
        sides = [side(opened, story)]

    def beside(opened: Stored) -> JudgeView[Cell]:
        if opened.journal.position_of(story.id) is None:
            return JudgeView(opened.asked.judge, [], {}, "has no request about this story")
        own = story_named(opened, story.id)
        return side(opened, own, None if own.text == story.text else "rated another text under this name")

    sides += [other_side(run.results[slug], beside) for slug in chosen[1:]]
    criteria = list(dict.fromkeys([*asked.criteria, *(name for judge in sides[1:] for name, _ in judge.cells)]))
    return {
        "story": story,
        "position": position,
        "total": total,
        "before": before.id if before else None,
        "after": after.id if after else None,
        "criteria": criteria,
        "people": people_of(story, criteria, asked.scales, asked.people),
        "judges": sides,
        "raters": asked.raters,
    }


def prompts_page(site: Site, request: Request) -> Response:
    """Queries of two Eval-Prompts for one story and criterion, with differences and answers."""
    run = site.run(request)
    slug = site.slug(request, run)
    query = request.query_params
    with stored(run.results[slug]) as opened:
        asked = opened.asked
        first = opened.journal.story_at(0)
        name = query.get("story") or (first.id if first else "")
        position, story = _placed(run, opened, name)
        prompts = asked.eval_prompts
        criterion = _one_of(query.get("criterion"), asked.criteria, 0)
        left = _one_of(query.get("a"), prompts, 0)
        right = _one_of(query.get("b"), prompts, 1)
        neighbours = [opened.journal.story_at(position + step) for step in (-1, 1)]
        values: dict[str, Any] = {
            "a": cell(opened, story, criterion, left),
            "b": cell(opened, story, criterion, right),
            "messages": _messages(asked, story, criterion, left, right),
            "generation": {k: v for k, v in asked.definition["generation"].items() if v not in (None, [])},
        }
        return site.page(
            "prompts.html", run, "prompts", slug=slug, story=story, criterion=criterion, left=left, right=right,
            prompts=prompts, criteria=asked.criteria, before=neighbours[0], after=neighbours[1], **values,
        )  # fmt: skip


def _messages(asked: Asked, story: Story, criterion: str, left: str, right: str) -> list[dict[str, Any]]:
    """Pairs by role; None where the Eval-Prompt was not asked or lacks the role."""
    sides = [asked.query(story, criterion, prompt) for prompt in (left, right)]
    shared_texts = (story.text, story.story_prompt, story.reference or "")
    messages = []
    for role in ("system", "user", "assistant"):
        texts = [
            None if side_query is None else "\n".join(m.content for m in side_query.messages if m.role == role)
            for side_query in sides
        ]
        if not any(texts):
            continue
        a, b = difference(texts[0] or "", texts[1] or "", shared_texts)
        messages.append({"role": role, "a": a if texts[0] else None, "b": b if texts[1] else None})
    return messages


def answer_part(site: Site, request: Request) -> Response:
    """Answers to one query, shown after a click on a point of the map."""
    run = site.run(request)
    slug = site.slug(request, run)
    query = request.query_params
    with stored(run.results[slug]) as opened:
        if opened.journal.position_of(query.get("story", "")) is None:
            raise NotFoundError(f"run {run.name} has no story {query.get('story')!r}")
        story = story_named(opened, query["story"])
        criterion, prompt = query.get("criterion", ""), query.get("eval_prompt", "")
        if criterion not in opened.asked.criteria or prompt not in opened.asked.eval_prompts:
            raise NotFoundError(f"{criterion!r} with {prompt!r} was not asked in run {run.name}")
        view = cell(opened, story, criterion, prompt)
        values: dict[str, Any] = {
            "people": people_of(story, [criterion], opened.asked.scales, opened.asked.people)[criterion],
            "raters": opened.asked.raters,
        }
    repeat = whole_number(query.get("repeat"))
    return site.page("parts/answer.html", run, slug=slug, story=story, cell=view, repeat=repeat, **values)


def _placed(run: FoundRun, opened: Stored, name: str) -> tuple[int, Story]:
    """Position and content of the journal's story of this name. Raises NotFoundError."""
    position = opened.journal.position_of(name)
    if position is None:
        raise NotFoundError(f"run {run.name} has no story {name!r}", hint="the list of stories has a search")
    return position, story_named(opened, name)


def _one_of(wanted: str | None, names: Sequence[str], otherwise: int) -> str:
    return wanted if wanted is not None and wanted in names else names[min(otherwise, len(names) - 1)]


def whole_number(text: str | None) -> int | None:
    """The text as a whole number of a size that SQLite can hold, or None."""
    with suppress(ValueError, TypeError):
        value = int(text or "")
        return value if abs(value) < 1 << 62 else None
    return None


def _float(text: str | None) -> float | None:
    with suppress(ValueError, TypeError):
        value = float(text or "")
        return value if abs(value) < 1e9 else None
    return None


PAGES: dict[str, Callable[[Site, Any], Any]] = {"/run/{run}/judgments": judgments_page}
OF_RATINGS: dict[str, Callable[[Site, Any], Any]] = {
    "/run/{run}/stories": stories_page,
    "/run/{run}/story": story_page,
    "/run/{run}/prompts": prompts_page,
    "/run/{run}/part/answer": answer_part,
}
