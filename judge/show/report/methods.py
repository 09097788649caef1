"""The methods paragraph of a paper, from manifests and options; unknown facts are left out. Citations are in pandoc's
form, `[@key]`, with the keys of `references`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from judge.analysis.correlation.margins import CEILING, Margin
from judge.analysis.coverage import counts
from judge.analysis.inputs.bars import ControlSource
from judge.analysis.inputs.candidates import match
from judge.asking.in_force.catalogue import life_in
from judge.asking.in_force.words import sentences, stored
from judge.base.credentials.providers import JudgeName
from judge.base.errors import JudgeError
from judge.base.late_pattern import late
from judge.base.printing.text_layout import moment
from judge.base.references import DATASETS, works
from judge.ratings.preferences_table import ComparisonFacts
from judge.ratings.ratings_table import RunFacts
from judge.show.report import compared_checklist
from judge.show.report.blocks import folded, prose
from judge.show.report.compared_checklist import cite, listed
from judge.show.report.inputs import ReportInputs
from judge.show.report.sections import audit as audit_words
from judge.show.report.sections.headline import looks
from judge.version import __version__

_CITATION = late(r"\[(@[\w-]+(?:; @[\w-]+)*)\]")


def paragraph(inputs: ReportInputs) -> str:
    """The methods paragraph, with citation keys."""
    parts = [*_stories(inputs), *compared_checklist.stories(inputs), *_judges(inputs)]
    if inputs.rates:
        parts += [*_parsing(inputs), *_statistics(inputs), *_further(inputs)]
    parts += compared_checklist.statistics(inputs) if inputs.compared else ()
    parts.append(f"All figures were made with judge {__version__} (storyjudge).")
    return " ".join(parts)


def cited(text: str) -> list[str]:
    """Citation keys in a text, in order of first appearance."""
    return list(
        dict.fromkeys(key for citation in _CITATION.findall(text) for key in re.findall(r"@([\w-]+)", citation))
    )


def methods_blocks(inputs: ReportInputs) -> list[Markup]:
    """The methods with authors and years as citations, and the list of references."""
    text = paragraph(inputs)
    keys = cited(text)
    listed = Markup("").join(Markup('<li class="cite">{}</li>').format(works()[key].line) for key in keys)
    command = f"judge report {inputs.named_runs} --methods"
    return [
        prose(_CITATION.sub(lambda found: _named(found.group(1)), text)),
        folded(f"References ({len(keys)})", Markup("<ul>{}</ul>").format(listed)),
        prose(f"As Markdown with BibTeX and the checklist below: {command}", kind="faint"),
    ]


def markdown(inputs: ReportInputs) -> str:
    return f"# Methods\n\n{paragraph(inputs)}\n"


def _named(keys: str) -> str:
    return (
        "("
        + "; ".join(works()[key].short.replace(" (", ", ").rstrip(")") for key in re.findall(r"@([\w-]+)", keys))
        + ")"
    )


def _stories(inputs: ReportInputs) -> Iterator[str]:
    for matrix in inputs.matrices:
        keys = next((keys for name, keys in DATASETS.items() if matrix.dataset.startswith(name)), ())
        prompts = int(np.unique(matrix.story_prompt).size)
        out = f", without {listed(inputs.options.drop_systems)}" if inputs.options.drop_systems else ""
        source = f" {cite(*keys)}" if keys else ""
        asked = int((matrix.asked > 0).any(axis=0).sum()) if matrix.cells else matrix.n
        yield (
            f"The stories are {asked:,} of the dataset {matrix.dataset}{source}: {prompts} story-prompts, "
            f"{len(matrix.systems)} systems{out}."
        )
        if note := inputs.raters_of(matrix.dataset).labels_note:
            yield (
                f"No person rated them: {note}. These labels replace people's ratings, on {listed(matrix.criteria)}."
            )
        elif matrix.criteria:
            raters = sorted({int(count) for count in np.unique(matrix.raters) if count})
            spread = f"{raters[0]}" if len(raters) == 1 else f"{raters[0]} to {raters[-1]}"
            raters_known = matrix.by_rater(0).known
            yield (
                f"People rated {listed(matrix.criteria)}, {spread} rating{'' if spread == '1' else 's'} a story and "
                f"criterion; who gave which rating is {'known' if raters_known else 'not known'}."
            )


def _judges(inputs: ReportInputs) -> Iterator[str]:
    for asked_run in inputs.asked_runs:
        fact, manifest = asked_run.fact, asked_run.manifest
        control = JudgeName.of(fact.judge).is_control
        force = manifest.get("in_force") or {}
        if not force and isinstance(fact, RunFacts) and fact.given:
            yield f"{fact.judge.capitalize()} that are no judges were computed; the manifest has each one's recipe."
            continue
        if not force:
            yield f"Ratings by {fact.judge} were imported; their settings are not known here."
            continue
        yield _asked(fact, force, manifest, control=control)
        for sentence in sentences(stored(manifest)):
            yield f"For {fact.judge}, {sentence}."
        life = life_in(manifest)
        if life is not None:
            yield f"{life.sentence[0].upper()}{life.sentence[1:]}."
        if control:
            yield f"{fact.judge} is a control judge, a regression on surface features of the text, no language model."
        if _by_vllm(force, manifest):
            yield f"The model was served by vLLM {cite('kwon-etal-2023-efficient')}."


def _asked(
    fact: RunFacts | ComparisonFacts, force: Mapping[str, Any], manifest: Mapping[str, Any], *, control: bool
) -> str:
    revision = force.get("revision") or (force.get("server") or {}).get("revision")
    which = f"{fact.judge} (revision {revision})" if revision else fact.judge
    criteria = listed([criterion.name for criterion in fact.criteria])
    repeats = "one answer" if fact.repeats == 1 else f"{fact.repeats} independent answers"
    prompts = f"Eval-Prompt{'' if len(fact.eval_prompts) == 1 else 's'} {listed(fact.eval_prompts)}"
    did, shown = "rated them", ""
    if isinstance(fact, ComparisonFacts):
        did, shown = "compared them two by two", f", {compared_checklist.shown(fact)}"
    text = f"{which} {did} on {criteria} with {prompts}{shown}, {repeats} to each query; {_generation(force, control)}"
    if isinstance(fact, RunFacts) and fact.joint:
        asks = "asks" if len(fact.joint) == 1 else "ask"
        text += f"; {listed(fact.joint)} {asks} for several criteria in one answer"
    structured = force.get("structured") or "none"
    if structured != "none":
        text += f"; answers were constrained ({structured})"
    if force.get("scoring") == "logprobs":
        compares = isinstance(fact, ComparisonFacts)
        text += f"; {'preferences are shares' if compares else 'ratings are expected values'} over the "
        text += "verdict's tokens" if compares else "scale's tokens"
    dates = [day for sitting in manifest.get("sittings") or () if (day := moment(sitting.get("began"))) is not None]
    if dates:
        text += f"; first request on {min(dates):%Y-%m-%d}"
    return f"{text}."


def _generation(force: Mapping[str, Any], control: bool) -> str:
    settings = force.get("generation") or {}
    named = [
        f"{name.replace('_', ' ')} {settings[name]:g}"
        for name in ("temperature", "top_p", "max_tokens", "seed")
        if settings.get(name) is not None
    ]
    left = [name.replace("_", " ") for name in ("temperature", "top_p", "max_tokens") if settings.get(name) is None]
    as_asked = " as asked" if sentences(stored({"in_force": force})) else ""
    text = f"generation{as_asked}: {', '.join(named)}" if named else "generation settings were not set"
    return text + (f" ({listed(left)} left to the provider)" if left and named and not control else "")


def _by_vllm(force: Mapping[str, Any], manifest: Mapping[str, Any]) -> bool:
    executors = {str(sitting.get("executor")) for sitting in manifest.get("sittings") or ()}
    server = " ".join(str(value) for value in (force.get("server") or {}).values() if isinstance(value, str))
    return "vllm" in executors or "vllm" in server.casefold()


def _parsing(inputs: ReportInputs) -> Iterator[str]:
    parsers = list(dict.fromkeys(fact.parser for fact in inputs.table.facts if fact.parser != "imported"))
    share = inputs.coverage.share
    if parsers:
        imputes = any("published" in name for name in parsers)
        how = "the parser imputes where an answer states none" if imputes else "none was imputed"
        yield f"Ratings were read from the answers by parser {listed(parsers)}; {how}."
    if share is not None:
        (row,), lost = inputs.coverage.total.rows, " The others count as missing." if share < 1 else ""
        yield f"{counts.said(row.rated, row.asked, {}, inputs.coverage.total.came)}{lost}"


def _statistics(inputs: ReportInputs) -> Iterator[str]:
    options = inputs.options
    if inputs.has_people:
        raters = inputs.raters
        given = "the label" if raters.labels_note else "the mean of people's ratings"
        yield (
            f"Agreement with {raters.noun} is Kendall's tau-b {cite('kendall-1945-ties')} between the mean of a "
            f"judge's rated repeats and {given} of a story, over all stories and over system means. The "
            f"95 % intervals are from {options.resamples:,} resamples of story-prompts "
            f"{cite('deutsch-etal-2021-statistical')} (seed {options.seed}): expanded percentiles over stories, and "
            "over system means intervals for the correlation of the systems' true means."
        )
        yield from (sentence for matrix in inputs.matrices if (sentence := match(matrix).sentence))
        yield from _bars(inputs)
        if _tested(inputs):
            yield (
                "Whether a judge may replace a person was tested by the alternative annotator test "
                f"{cite('calderon-etal-2025-alternative')}, as published and with standard errors over story-prompts."
            )
        if inputs.confusions is not None:
            yield from _labels(inputs)
    if len(inputs.judges) > 1 or len(inputs.eval_prompts) > 1:
        yield _contrasts(inputs)
    if any(fact.repeats > 1 for fact in inputs.table.facts):
        yield (
            "Consistency over repeats is the family of intraclass correlations "
            f"{cite('shrout-fleiss-1979-intraclass', 'mcgraw-wong-1996-forming')}."
        )
    subject = "Diagnostics and differences" if inputs.has_people else "Differences"
    yield f"{subject} between systems are adjusted by Holm's method {cite('holm-1979-simple')}."


def _tested(inputs: ReportInputs) -> bool:
    people = [matrix for matrix in inputs.matrices if not inputs.raters_of(matrix.dataset).labels_note]
    return any(matrix.by_rater(j).known for matrix in people for j in range(len(matrix.criteria)))


def _labels(inputs: ReportInputs) -> Iterator[str]:
    raters = "labels" if inputs.raters.labels_note else "raters"
    yield (
        f"Labels are compared with the majority of a story's {raters}, the "
        "majority of a judge's repeats standing for the judge; ties, refusals and answers that were not read are no "
        f"label. Balanced accuracy is the mean recall over labels {cite('brodersen-etal-2010-balanced')}; agreement "
        f"beyond chance is Cohen's kappa {cite('cohen-1960-coefficient')} and AC1 {cite('gwet-2008-computing')}, "
        f"with 95 % intervals from {inputs.options.resamples:,} resamples of story-prompts."
    )


def _contrasts(inputs: ReportInputs) -> str:
    options = inputs.options
    if not inputs.has_people:  # nothing can be tested: what is tested is the difference of agreement
        return (
            "Contrasts are differences of the mean rating, of what was parsed and of consistency, on the same stories "
            f"and repeats, with 95 % intervals from {options.resamples:,} resamples of story-prompts."
        )
    return (
        "Contrasts are on the same stories and repeats: two-sided permutation tests of both sides' scores "
        f"({options.permutations:,} swaps of whole story-prompts) {cite('deutsch-etal-2021-statistical')} and "
        f"Williams' two-sided test {cite('williams-1959-regression')}; p is adjusted over the family of all contrasts "
        f"and criteria of a comparison {cite('benjamini-hochberg-1995-controlling')}."
    )


def _bars(inputs: ReportInputs) -> Iterator[str]:
    """How one more person and the control were computed, if they could be."""
    try:
        margins = inputs.margins
    except JudgeError:
        return
    yield from _ceiling(inputs, margins)
    yield from _control(inputs.correlations.control_sources)


def _ceiling(inputs: ReportInputs, margins: Sequence[Margin]) -> Iterator[str]:
    if inputs.raters.labels_note:
        yield "One more person is not known, since no person rated the stories."
        return
    ceilings = [margin.bars[CEILING] for margin in margins]
    reasons = dict.fromkeys(bar.why.fact for bar in ceilings if bar.value is None)
    ceiling = "One more person, each rater against the mean of the others"
    if any(bar.defined for bar in ceilings):
        undefined = f" (not everywhere: {'; '.join(reasons)})" if reasons else ""
        yield f"{ceiling.replace(',', ' is', 1)}{undefined}."
        if any(dataset.pool for dataset in inputs.correlations.datasets):
            yield "Where people are a pool, it is one random rater of each story, averaged over draws."
        yield "Beside it judges are scored against the same means, on the stories that both rated."
    elif reasons:
        yield f"{ceiling}, is undefined here ({'; '.join(reasons)})."


def _control(sources: Collection[ControlSource]) -> Iterator[str]:
    refitted, shipped = ControlSource.OUT_OF_FOLD in sources, ControlSource.SHIPPED in sources
    regression = "is a ridge regression on surface features of the text"
    if refitted:
        yield f"A control beside every judge {regression}, out of fold by story-prompts."
    if shipped:
        which = "Elsewhere the control" if refitted else "A control beside every judge"
        yield (
            f"{which} {regression} that is shipped with judge and was fitted on other stories: too few of these are "
            "rated to refit it."
        )


def _further(inputs: ReportInputs) -> Iterator[str]:
    for look in looks(inputs):
        umap = f" {cite('mcinnes-etal-2018-umap')}" if "umap" in look.method.casefold() else ""
        mapped = f"; they were mapped by {look.method}{umap}" if look.method else ""
        neural = not look.model.casefold().replace("-", "").startswith("tfidf")
        source = f" {cite('reimers-gurevych-2019-sentence')}" if neural else ""
        yield f"Explanations were embedded by {look.embedded_by}{source}{mapped}."
    try:
        facts = audit_words.audit_facts(inputs)
    except JudgeError:
        facts = None  # the page's section says why
    if facts is not None and facts.finished:
        yield audit_words.audit_methods(facts, cite("gwet-2008-computing"))
    if inputs.options.contamination:
        yield f"Whether stories were seen in training was tested by Min-K% Prob {cite('shi-etal-2024-detecting')}."
