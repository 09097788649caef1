"""Checklist of the questions that reviewers ask of a study with an LLM judge, with the run's answers. An item is "met",
a "gap" (with the command that closes it), or "open" where the result folder cannot answer it. No item calls a study
good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup

from judge.analysis.correlation.margins import CEILING, CONTROL, Bar
from judge.analysis.coverage.coverage import sentence
from judge.asking.in_force.catalogue import life_in
from judge.asking.in_force.words import sentences, stored
from judge.asking.run_folder import Cost
from judge.base.credentials.providers import PROTOCOLS, JudgeName
from judge.base.errors import JudgeError
from judge.base.wording import PLAIN, written
from judge.show.report import compared_checklist
from judge.show.report.blocks import folded, prose
from judge.show.report.compared_checklist import FEW_SYSTEMS, Item
from judge.show.report.inputs import ReportInputs
from judge.show.report.sections import audit as audit_words

_IMPORT = "judge import FILE"
_STATES = {"met": "met", "gap": "gap", "open": "not known here"}


def checklist(inputs: ReportInputs) -> list[Item]:
    """All items of the checklist, in the order in which reviewers ask them."""
    of_ratings = (_size, _loss, _bars, _tests) if inputs.rates else ()
    return [
        *(item for part in of_ratings for item in part(inputs)),
        *(compared_checklist.items(inputs) if inputs.compared else ()),
        *_settings(inputs),
        *(_more(inputs) if inputs.rates else ()),
    ]


_TITLES = ("question", "state", "what was found", "what closes it")


def checklist_blocks(inputs: ReportInputs) -> list[Markup]:
    """The checklist as a table, after a sentence with the number of gaps."""
    items = checklist(inputs)
    gaps = sum(item.state == "gap" for item in items)
    opened = sum(item.state == "open" for item in items)
    lead = f"{len(items) - gaps - opened} of {len(items)} questions are answered, "
    lead += f"{gaps} {'is a gap' if gaps == 1 else 'are gaps'}"
    lead += f", {opened} cannot be answered from these files." if opened else "."
    left = [item for item in items if item.state != "met"]
    met = [item for item in items if item.state == "met"]
    parts = [prose(lead), *([_table(left)] if left else [])]
    return [*parts, *([folded(f"The {len(met)} questions that are answered", _table(met))] if met else [])]


def _table(items: Sequence[Item]) -> Markup:
    rows = Markup("").join(Markup("<tr>{}</tr>").format(Markup("").join(_cells(item))) for item in items)
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(name) for name in _TITLES)
    table = Markup('<table class="checklist stacks"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>').format(
        head, rows
    )
    around = Markup('<div class="scroll" tabindex="0" role="region" aria-label="Checklist">{}</div>')
    return around.format(table)


def _cells(item: Item) -> Iterator[Markup]:
    # Small screens show the column's title next to the cell.
    closes = Markup("<code>{}</code>").format(item.closes) if item.closes else item.needs
    for title, words in zip(_TITLES, (item.question, _STATES[item.state], item.finding, closes), strict=True):
        kind = Markup(' class="state-{}"').format(item.state) if title == "state" else ""
        yield Markup('<td data-of="{}"{}>{}</td>').format(title, kind, words)


def markdown(inputs: ReportInputs) -> str:
    """The checklist as a Markdown task list, with gaps marked."""
    lines = ["# What a reviewer will ask", ""]
    for item in checklist(inputs):
        mark = "x" if item.state == "met" else " "
        state = "" if item.state == "met" else f" **{_STATES[item.state]}**"
        closes = f" `{item.closes}`" if item.closes else f" ({item.needs})" if item.needs else ""
        lines.append(f"- [{mark}] {item.question}:{state} {item.finding}{closes}")
    return "\n".join(lines) + "\n"


def _size(inputs: ReportInputs) -> Iterator[Item]:
    parts = [
        f"{m.dataset}: {m.n:,} stories, {len(set(m.story_prompt.tolist())):,} story-prompts, {len(m.systems)} systems"
        for m in inputs.matrices
    ]
    yield Item("How many stories, story-prompts and systems", "met", "; ".join(parts))
    few = [m for m in inputs.matrices if len(m.systems) < FEW_SYSTEMS]
    systems = "; ".join(f"{m.dataset}: {len(m.systems)}" for m in inputs.matrices)
    state = "gap" if few else "met"
    tail = f" (fewer than {FEW_SYSTEMS} systems are weak evidence at system level)" if few else ""
    needs = "stories by more systems; no command makes them, so base the claim on stories" if few else ""
    yield Item("Enough systems for a claim about systems", state, systems + tail, needs=needs)


def _loss(inputs: ReportInputs) -> Iterator[Item]:
    runs = inputs.named_runs
    left = sum(fact.unasked for fact in inputs.table.facts)
    finding = f"{left:,} planned repeats have not been requested yet" if left else "every planned repeat was requested"
    closes = f"judge run {runs}" if left else ""
    if all(all(matrix.imported) for matrix in inputs.matrices):
        yield Item("The run is complete", "open", "the ratings are imported: what was requested is not known")
    else:
        yield Item("The run is complete", "gap" if left else "met", finding, closes)
    yield Item("What is missing, and why", "met", sentence(inputs.coverage.total))
    tested = [test.test.p for test in inputs.coverage.tests if test.test.p is not None]
    strong = sum(p < 0.05 for p in tested)
    expected = 0.05 * len(tested)
    if not inputs.coverage.tests:
        yield Item("Whether missing ratings depend on the stories", "met", "nothing was lost")
    else:
        state = "gap" if strong > 2 * expected + 1 else "met"
        tails = "two-sided, of chi-squared the upper tail"
        finding = f"{strong} of {len(tested)} tests with p < .05 ({tails}), {expected:.1f} expected by chance"
        yield Item(
            "Whether missing ratings depend on the stories",
            state,
            finding,
            f"judge coverage {runs}" if state == "gap" else "",
        )


def _bars(inputs: ReportInputs) -> Iterator[Item]:
    if not inputs.has_people:
        yield Item("People's ratings of the same stories", "gap", "none are known", _IMPORT)
        return
    rater_labels = [m.by_rater(j) for m in inputs.matrices for j in range(len(m.criteria))]
    reasons = dict.fromkeys(str(r.reason) for r in rater_labels if not r.known)
    labels = [note for m in inputs.matrices if (note := inputs.raters_of(m.dataset).labels_note)]
    if labels:
        notes = "; ".join(dict.fromkeys(labels))
        yield Item("People's ratings of the same stories", "gap", f"no person rated them: {notes}", _IMPORT)
    else:
        state = "open" if reasons else "met"
        yield Item("Who gave which of people's ratings", state, "; ".join(reasons) or "raters are known by id")
    try:
        margins = inputs.margins
    except JudgeError as error:
        yield Item("One more person and control", "gap", written(error.sentence, PLAIN))
        return
    names: dict[Bar, str] = {
        CEILING: "One more person",
        CONTROL: "Control that reads only the surface of a text",
    }
    for kind, name in names.items():
        absent = [margin.bars[kind] for margin in margins if margin.bars[kind].value is None]
        missing = dict.fromkeys(str(bar.reason) for bar in absent)
        # Where raters are not known the ceiling cannot be had, whatever one does.
        unknown = kind == CEILING and any(bar.why.unavailable for bar in absent)
        state = "met" if margins and not missing else "open" if unknown else "gap"
        needs = "ratings of each story by two people or more" if state == "gap" and kind == CEILING else ""
        yield Item(name, state, inputs.raters.worded("; ".join(missing)) or "beside every judge", needs=needs)


def _tests(inputs: ReportInputs) -> Iterator[Item]:
    several = len(inputs.judges) > 1 or len(inputs.eval_prompts) > 1
    family = (
        "contrasts: all pairs and criteria of a comparison, Benjamini-Hochberg; diagnostics: all tests, Holm"
        if several
        else "diagnostics: all tests of the table, Holm; no contrast was tested"
    )
    if not inputs.has_people:
        family = (
            "differences between systems, Holm; contrasts and diagnostics cannot be tested without people's ratings"
        )
    yield Item("The family of tests, and its adjustment", "met", family)
    yield Item(
        "Intervals that account for clusters of stories",
        "met",
        f"{inputs.options.resamples:,} resamples of story-prompts, seed {inputs.options.seed}",
    )
    repeats = [fact.repeats for fact in inputs.table.facts]
    if all(repeats) and repeats:
        state = "met" if min(repeats) > 1 else "gap"
        finding = f"{min(repeats)} repeats of each query" if min(repeats) > 1 else "one answer to each query"
        closes = "" if state == "met" else f"judge run {inputs.named_runs} --set repeats=3"
        yield Item("Repeats, so that consistency is known", state, finding, closes)
    else:
        yield Item("Repeats, so that consistency is known", "open", "imported ratings: repeats are not in the file")


def _settings(inputs: ReportInputs) -> Iterator[Item]:
    for asked_run in inputs.asked_runs:
        fact, manifest = asked_run.fact, asked_run.manifest
        force = manifest.get("in_force") or {}
        who = f"{fact.judge}: " if len(inputs.asked_runs) > 1 else ""
        if not force:
            yield Item(f"{who}how the judge was prompted", "open", "imported ratings: there is no manifest")
            continue
        yield from _of_folder(who, JudgeName.of(fact.judge).is_control, force, manifest)
        yield from _cost(who, force, asked_run.cost)


def _cost(who: str, force: dict[str, Any], cost: Cost) -> Iterator[Item]:
    local = not (force.get("base_url") or JudgeName.of(str(force.get("judge", ""))).provider in PROTOCOLS)
    if cost.dollars is not None:
        yield Item(f"{who}cost", "met", cost.words())
    elif not local:
        yield Item(f"{who}cost", "gap", cost.basis)


def _of_folder(who: str, control: bool, force: dict[str, Any], manifest: dict[str, Any]) -> Iterator[Item]:
    server = force.get("server") or {}
    revision = force.get("revision") or server.get("revision")
    weights = server.get("model_hash") or server.get("weights_hash")
    if control:
        yield Item(f"{who}revision of the model", "met", f"shipped control, {weights or 'this version'}")
    else:
        finding = f"revision {revision}" if revision else "not pinned: the name may later mean other weights"
        yield Item(
            f"{who}revision of the model",
            "met" if revision else "gap",
            finding,
            "" if revision else "revision: in run.yaml",
        )
    generation = force.get("generation") or {}
    for key, question in (("temperature", "temperature"), ("max_tokens", "limit of the answer"), ("seed", "seed")):
        value = generation.get(key)
        if control and value is None:
            continue
        finding = f"{value:g}" if value is not None else "not set: the provider's default"
        closes = "" if value is not None else f"generation.{key}: in run.yaml"
        yield Item(f"{who}{question} stated", "met" if value is not None else "gap", finding, closes)
    yield from _in_force(who, control, manifest)
    git = (manifest.get("environment") or {}).get("git")
    if git and git.get("dirty"):
        yield Item(
            f"{who}code as committed", "gap", f"working folder differed from {git['revision'][:10]}", "git status"
        )


def _in_force(who: str, control: bool, manifest: dict[str, Any]) -> Iterator[Item]:
    """Whether requested settings took effect, and whether the identical model can be requested again."""
    settings = stored(manifest)
    if settings:
        lost = sentences(setting for setting in settings if setting.state in ("refused", "ignored"))
        dark = sentences(setting for setting in settings if setting.state == "unknown")
        state = "gap" if lost else "open" if dark else "met"
        needs = "say so in the paper, or take these settings out of run.yaml" if lost else ""
        finding = "; ".join([*lost, *dark]) or "each requested setting is honoured"
        yield Item(f"{who}requested settings are in force", state, finding, needs=needs)
    life = None if control else life_in(manifest)
    if life is not None:
        needs = "a bundle with all answers (judge export RUN --as bundle), and a judge whose weights stay"
        yield Item(
            f"{who}the model can be requested again",
            "gap",
            f"providers withdraw models: {life.sentence}",
            needs=needs,
        )


def _more(inputs: ReportInputs) -> Iterator[Item]:
    if inputs.explains:
        yield _audit(inputs)
    files = inputs.options.contamination
    only_control = bool(inputs.table.facts) and all(fact.control for fact in inputs.table.facts)
    if not only_control:
        finding = ", ".join(file.name for file in files) or "not measured whether the judge has seen these stories"
        closes = "" if files else "judge contamination score DATASET --model MODEL -o FILE"
        yield Item("Contamination", "met" if files else "gap", finding, closes)


def _audit(inputs: ReportInputs) -> Item:
    # Met if at least two annotators finished explanations, so that agreement is known.
    question = "Explanations audited by people"
    try:
        facts = audit_words.audit_facts(inputs)
    except JudgeError as error:
        return Item(question, "gap", written(error.sentence, PLAIN), written(error.hint or "", None))
    if facts is None:
        return Item(
            question, "gap", "no annotator has judged the explanations", f"judge audit sample {inputs.named_runs}"
        )
    closes = f"judge audit serve {facts.file}"
    counted = f"{facts.file.name}: {facts.finished:,} of {facts.items:,} items finished"
    if not facts.finished:
        return Item(question, "gap", f"{counted}: no annotator has judged the explanations yet", closes)
    if not facts.twice:
        who = "one annotator" if facts.annotators == 1 else f"{facts.annotators} annotators, none by two of them"
        return Item(question, "gap", f"{counted} by {who}: agreement between annotators is unknown", closes)
    return Item(question, "met", f"{counted} by {facts.annotators} annotators, {facts.twice:,} of them by two or more")


def gaps(items: Sequence[Item]) -> int:
    """Number of requirements that the run does not meet."""
    return sum(item.state == "gap" for item in items)
