"""What a reviewer asks of a study with a judge, what the run answers, and the command that closes each gap.

A state is "met", "gap", or "open" where it cannot be known from what is here. Never calls a study good.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from judge.analysis import coverage
from judge.analysis.correlation.leads import CEILING, CONTROL
from judge.analysis.options import CoverageOptions
from judge.errors import JudgeError
from judge.report.audited import file_of
from judge.report.blocks import prose
from judge.report.material import Material

_FEW_SYSTEMS = 10
_STATES = {"met": "met", "gap": "gap", "open": "not known here"}


@dataclass(frozen=True, slots=True)
class Item:
    """One question: its state, what was found, and what closes the gap."""

    question: str
    state: str
    found: str
    closes: str = ""


def checklist(material: Material) -> list[Item]:
    """All questions, in the order in which reviewers ask them."""
    return [
        *_size(material),
        *_loss(material),
        *_bars(material),
        *_tests(material),
        *_settings(material),
        *_more(material),
    ]


def blocks(material: Material) -> list[Markup]:
    """The list as a table; gaps first in the sentence above it."""
    found = checklist(material)
    gaps = sum(item.state == "gap" for item in found)
    opened = sum(item.state == "open" for item in found)
    lead = f"{len(found) - gaps - opened} of {len(found)} questions are answered, {gaps} are gaps"
    lead += f", {opened} cannot be answered from these files." if opened else "."
    rows = Markup("").join(
        Markup('<tr><td>{}</td><td class="state-{}">{}</td><td>{}</td><td>{}</td></tr>').format(
            item.question,
            item.state,
            _STATES[item.state],
            item.found,
            Markup("<code>{}</code>").format(item.closes) if item.closes else "",
        )
        for item in found
    )
    names = ("question", "state", "what was found", "what closes it")
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(name) for name in names)
    table = Markup('<table class="checklist"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>').format(head, rows)
    around = Markup('<div class="scroll" tabindex="0" role="region" aria-label="Checklist">{}</div>')
    return [prose(lead), around.format(table)]


def markdown(material: Material) -> str:
    """`checklist.md`: a task list, with gaps marked."""
    lines = ["# What a reviewer will ask", ""]
    for item in checklist(material):
        mark = "x" if item.state == "met" else " "
        state = "" if item.state == "met" else f" **{_STATES[item.state]}**"
        closes = f" `{item.closes}`" if item.closes else ""
        lines.append(f"- [{mark}] {item.question}:{state} {item.found}{closes}")
    return "\n".join(lines) + "\n"


def _size(material: Material) -> Iterator[Item]:
    parts = [
        f"{m.dataset}: {m.n:,} stories, {len(set(m.story_prompt.tolist())):,} story-prompts, {len(m.systems)} systems"
        for m in material.matrices
    ]
    yield Item("How many stories, story-prompts and systems", "met", "; ".join(parts))
    few = [m for m in material.matrices if len(m.systems) < _FEW_SYSTEMS]
    found = "; ".join(f"{m.dataset}: {len(m.systems)}" for m in material.matrices)
    closes = f"judge correlate {material.named_runs} --level overall" if few else ""
    state = "gap" if few else "met"
    tail = " (fewer than 10 prove little at system level: rest the claim on stories)" if few else ""
    yield Item("Enough systems for a claim about systems", state, found + tail, closes)


def _loss(material: Material) -> Iterator[Item]:
    runs = material.named_runs
    unfinished = [note for note in material.general_notes if "have not been asked yet" in note]
    state = "gap" if unfinished else "met"
    yield Item(
        "The run is complete",
        state,
        "; ".join(unfinished) or "every planned repeat was asked",
        f"judge run {runs}" if unfinished else "",
    )
    line = coverage.summary_line(material.table, drop_systems=material.options.drop_systems).removeprefix("coverage: ")
    yield Item("What is missing, and why", "met", line)
    found = coverage.associations(material.table, CoverageOptions(drop_systems=material.options.drop_systems))
    tested = found[found["p"].notna()]
    strong = int((tested["p"] < 0.05).sum())
    expected = 0.05 * len(tested)
    if found.empty:
        yield Item("Whether loss depends on the stories", "met", "nothing was lost")
    else:
        state = "gap" if strong > 2 * expected + 1 else "met"
        said = f"{strong} of {len(tested)} tests with p < .05, {expected:.1f} expected by chance"
        yield Item(
            "Whether loss depends on the stories", state, said, f"judge coverage {runs}" if state == "gap" else ""
        )


def _bars(material: Material) -> Iterator[Item]:
    if not material.has_people:
        yield Item("People's ratings of the same stories", "gap", "none are known", "judge import ratings FILE")
        return
    known = [m.by_rater(j) for m in material.matrices for j in range(len(m.criteria))]
    reasons = dict.fromkeys(str(r.reason) for r in known if not r.known)
    state = "open" if reasons else "met"
    yield Item("Who gave which of people's ratings", state, "; ".join(reasons) or "raters are known by id")
    try:
        found = material.leads[0]
    except JudgeError as error:
        yield Item("Human ceiling and control", "gap", str(error))
        return
    for kind, name in ((CEILING, "Human ceiling"), (CONTROL, "Control that reads the surface of a text alone")):
        missing = dict.fromkeys(str(lead.bars[kind].reason) for lead in found if lead.bars[kind].value is None)
        # Where raters are not known the ceiling cannot be had, whatever one does.
        state = "met" if found and not missing else "open" if kind == CEILING else "gap"
        yield Item(name, state, "; ".join(missing) or "beside every judge")


def _tests(material: Material) -> Iterator[Item]:
    several = len(material.judges) > 1 or len(material.eval_prompts) > 1
    said = (
        "contrasts: all pairs and criteria of a comparison, Benjamini-Hochberg; diagnostics: all tests, Holm"
        if several
        else "diagnostics: all tests of the table, Holm; no contrast was tested"
    )
    yield Item("The family of tests, and its adjustment", "met", said)
    yield Item(
        "Intervals that know which stories belong together",
        "met",
        f"{material.options.resamples:,} resamples of story-prompts, seed {material.options.seed}",
    )
    repeats = [fact.repeats for fact in material.table.facts]
    if all(repeats) and repeats:
        state = "met" if min(repeats) > 1 else "gap"
        found = f"{min(repeats)} repeats of each query" if min(repeats) > 1 else "one answer to each query"
        closes = "" if state == "met" else f"judge run {material.named_runs} --set repeats=3"
        yield Item("Repeats, so that consistency is known", state, found, closes)
    else:
        yield Item("Repeats, so that consistency is known", "open", "imported ratings: repeats are not in the file")


def _settings(material: Material) -> Iterator[Item]:
    for fact, manifest in zip(material.table.facts, material.manifests, strict=True):
        force = manifest.get("in_force") or {}
        who = f"{fact.judge}: " if len(material.table.facts) > 1 else ""
        if not force:
            yield Item(f"{who}how the judge was asked", "open", "imported ratings: no manifest says")
            continue
        yield from _of_folder(who, fact.control, force, manifest, material.named_runs)


def _of_folder(who: str, control: bool, force: dict[str, Any], manifest: dict[str, Any], runs: str) -> Iterator[Item]:
    server = force.get("server") or {}
    revision = force.get("revision") or server.get("revision")
    weights = server.get("model_hash") or server.get("weights_hash")
    if control:
        yield Item(f"{who}revision of the model", "met", f"shipped control, {weights or 'this version'}")
    else:
        found = f"revision {revision}" if revision else "not pinned: the name may stand for other weights tomorrow"
        yield Item(
            f"{who}revision of the model",
            "met" if revision else "gap",
            found,
            "" if revision else "revision: in run.yaml",
        )
    generation = force.get("generation") or {}
    for key, question in (("temperature", "temperature"), ("max_tokens", "limit of the answer"), ("seed", "seed")):
        value = generation.get(key)
        if control and value is None:
            continue
        found = f"{value:g}" if value is not None else "not said: the provider's own"
        closes = "" if value is not None else f"--set generation.{key}=..."
        yield Item(f"{who}{question} stated", "met" if value is not None else "gap", found, closes)
    cost, local = (
        (manifest.get("totals") or {}).get("cost"),
        not (force.get("base_url") or str(force.get("judge", "")).startswith("openai/")),
    )
    if cost is not None:
        yield Item(f"{who}cost", "met", f"{cost:.2f} dollars")
    elif not local:
        yield Item(f"{who}cost", "gap", "no price is known for this judge", f"judge run {runs} --dry-run")
    git = (manifest.get("environment") or {}).get("git")
    if git and git.get("dirty"):
        yield Item(
            f"{who}code as committed", "gap", f"working folder differed from {git['revision'][:10]}", "git status"
        )


def _more(material: Material) -> Iterator[Item]:
    runs = material.named_runs
    if material.explains:
        audit = file_of(material)
        state, found = ("met", f"{audit.name}") if audit else ("gap", "nobody has judged the explanations")
        yield Item("Explanations audited by people", state, found, "" if audit else f"judge audit sample {runs}")
    files = material.options.contamination
    only_control = bool(material.table.facts) and all(fact.control for fact in material.table.facts)
    if not only_control:
        found = ", ".join(file.name for file in files) or "not measured whether the judge has seen these stories"
        closes = "" if files else "judge contamination score DATASET --model MODEL -o FILE"
        yield Item("Contamination", "met" if files else "gap", found, closes)


def gaps(items: Sequence[Item]) -> int:
    """How many are gaps."""
    return sum(item.state == "gap" for item in items)
