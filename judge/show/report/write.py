"""Writes the page and the texts for a paper, with progress on stderr. Each file is written completely or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from markupsafe import Markup

from judge.analysis import diagnose, systems_tables
from judge.analysis.coverage.coverage import sentence as coverage_sentence
from judge.analysis.coverage.coverage import tables as coverage_tables
from judge.analysis.diagnose import Diagnosis
from judge.analysis.options.table_options import SystemsOptions
from judge.analysis.stress.printed import tables as stress_tables
from judge.analysis.systems import systems
from judge.asking.run_folder import ResultFolder
from judge.asking.run_folder.layout import DEFINITION
from judge.base.errors import JudgeError, SpecError
from judge.base.files import write_output
from judge.base.printing.tables import Column, Table
from judge.base.references import bibtex
from judge.contamination.tables import report_table
from judge.questions.charts import estimates
from judge.questions.summary import preferences as preferences_said
from judge.questions.summary.quality import holds
from judge.show.pages import charts
from judge.show.pages.verdict_box import box
from judge.show.report import checklist, methods, words
from judge.show.report.blocks import Section, failed, figure, html, prose, shown
from judge.show.report.inputs import ReportInputs
from judge.show.report.sections import agreement, checked_table, headline
from judge.show.report.sections import audit as audit_words
from judge.show.report.sections import comparisons as preferences
from judge.show.report.sections import runs as run_settings

# Section on stress tests: perturbations that judges miss or that change their ratings, a chart of detection, and
# tables.


def stress_blocks(inputs: ReportInputs) -> list[Markup]:
    return list(_stress_blocks(inputs))


def _stress_blocks(inputs: ReportInputs) -> Iterator[Markup]:
    stress = inputs.stress
    if stress is None:
        yield prose("No story of these runs was perturbed.")
        return
    box, *evidence = stress_tables(stress)
    yield prose(
        "Perturbed stories are set against the very stories that they were made of. All other sections are about the "
        "stories as they were."
    )
    yield shown(box, inputs)
    for number, dataset in enumerate(dict.fromkeys(row.subject.dataset for row in stress.rows)):
        try:
            picture = estimates.detections(stress, dataset)
            yield figure(charts.forest(picture, f"stress-{number}", width=230), picture.caption)
        except JudgeError as error:
            yield failed(f"Detection on {dataset} cannot be drawn", error)
    for table in evidence:
        yield shown(table, inputs, folded=True)


# Lists the page's sections and makes them. A section that cannot be made is replaced by the reason.

# Sections that only show the tables of an analysis: coverage, systems, diagnostics, contamination.


def coverage_blocks(inputs: ReportInputs) -> list[Markup]:
    """Requests, answers and ratings, and how stories without ratings differ from the others."""
    summary, *others = coverage_tables(inputs.coverage)
    sentence = f"Coverage: {coverage_sentence(inputs.coverage.total)}."
    return [prose(sentence), shown(summary, inputs), *(shown(table, inputs, folded=True) for table in others)]


def system_blocks(inputs: ReportInputs) -> list[Markup]:
    """Mean ratings, and the pairs of systems on which judges and people agree."""
    options = SystemsOptions(
        drop_systems=inputs.options.drop_systems, resamples=inputs.options.resamples, seed=inputs.options.seed
    )
    system_tables = systems_tables.tables(systems(inputs.table, options))
    return [shown(table, inputs) for table in system_tables] or [prose("No system has a rating.")]


_ABOVE = " The box at the top adjusts over the tests of its own row: of the fewer tests, more may hold."


def diagnostic_blocks(inputs: ReportInputs) -> list[Markup]:
    """Tests for known failures; those without a significant result are folded."""
    if not inputs.has_people:
        sentence = (
            "No people's ratings of these stories are known, and every test compares a judge with them: "
            "no test was made."
        )
        return [prose(sentence)]
    result = inputs.diagnosis
    (significant,), (every,) = diagnose.tables(result), diagnose.tables(result, full=True)
    counted = diagnose.counted(result)
    return [
        prose(inputs.raters.worded(f"{counted[:1].upper()}{counted[1:]}.{_ABOVE}")),
        shown(_tally(result), inputs),
        shown(significant, inputs, folded=True),
        shown(every, inputs, folded=True, title=f"{every.title}: every test, significant or not"),
    ]


def _tally(result: Diagnosis) -> Table:
    """One row per judge and Eval-Prompt, one column per kind of failure."""
    kinds = {finding.diagnostic: finding.kind.tail for finding in result.findings}
    tally: dict[tuple[str, str], dict[str, list[int]]] = {}
    for finding in result.findings:
        mine = tally.setdefault((finding.cell.judge, finding.cell.eval_prompt), {kind: [0, 0] for kind in kinds})
        if finding.test.p is not None:
            mine[finding.diagnostic][0] += holds(finding, result.options.alpha)
            mine[finding.diagnostic][1] += 1
    rows: list[dict[str, str | None]] = []
    for (judge, prompt), mine in tally.items():
        counted = {kind: f"{positive} of {total}" if total else None for kind, (positive, total) in mine.items()}
        rows.append({"judge": judge, "eval_prompt": prompt, **counted})
    columns = [Column("judge", "judge"), Column("eval_prompt", "eval prompt"), *(Column(kind, kind) for kind in kinds)]
    notes = (
        "significant tests after Holm's adjustment over all rows, of those that could be computed",
        f"tails of these tests: {', '.join(f'{name} {tail}' for name, tail in kinds.items())}",
        "a dash: no test could be made (see every test)",
    )
    return Table("Findings by kind", columns, rows, result.counts_signature, notes)


def contamination_blocks(inputs: ReportInputs) -> list[Markup]:
    """Whether models have seen the stories, or the command that makes a scores file."""
    if inputs.contamination is None:
        return [
            prose(
                "Whether a judge has seen these stories in training was not measured. judge contamination score makes "
                "a scores file; judge report --contamination FILE shows its results here."
            )
        ]
    return [shown(report_table(inputs.contamination), inputs)]


# Sections that are looked up, not read: what they hold.
_FOLDED = {
    "methods": "The methods, written for a paper, with references",
    "asked": "What every judge was asked with, and what was in force",
}

# What stands behind the answers.
_APPENDIX = ("coverage", "consistency", "ratings", "methods", "checklist", "asked", "words")

Maker = Callable[[ReportInputs], list[Markup]]
Progress = Callable[[str], None]


def _summary(inputs: ReportInputs) -> list[Markup]:
    if inputs.checked is not None:
        return [box([*headline.answers(inputs), *checked_table.answers(inputs)])]
    of_ratings = headline.headline_blocks(inputs) if inputs.rates else []
    return [*of_ratings, *([box(preferences_said.answers(inputs))] if inputs.compared else [])]


# (anchor, heading, maker).
SECTIONS: tuple[tuple[str, str, Maker], ...] = (
    ("summary", "What the runs show", _summary),
    ("agreement", "Agreement with people", agreement.agreement_blocks),
    ("replacement", "May a judge replace a person?", agreement.replacement_blocks),
    ("coverage", "Coverage", coverage_blocks),
    ("comparison", "Eval-Prompts and judges compared", preferences.comparison_blocks),
    ("consistency", "Consistency", agreement.consistency_blocks),
    ("ratings", "How ratings are used", agreement.rating_blocks),
    ("systems", "Systems", system_blocks),
    ("diagnostics", "What goes wrong", diagnostic_blocks),
    ("disagreements", "Where judge and people differ most", run_settings.example_blocks),
    ("explanations", "Explanations", audit_words.explanation_blocks),
    ("audit", "Audit of explanations by people", audit_words.audit_blocks),
    ("contamination", "Contamination", contamination_blocks),
    ("methods", "Methods", methods.methods_blocks),
    ("checklist", "What a reviewer will ask", checklist.checklist_blocks),
    ("asked", "Settings and provenance", run_settings.settings_blocks),
)

# Of pages about runs that compared.
PREFERENCES: tuple[str, str, Maker] = ("preferences", "Preferences between two stories", preferences.preference_blocks)

# Of pages about runs on perturbed stories.
STRESS: tuple[str, str, Maker] = ("stress", "Stress tests", stress_blocks)


# Of pages about one table of ratings made elsewhere.
CHECKED: tuple[str, str, Maker] = (
    "file",
    "How the file was read, and what is missing in it",
    checked_table.file_blocks,
)


# Of pages about runs that compared, and hold no rating.
COMPARISONS: tuple[tuple[str, str, Maker], ...] = (
    ("summary", "What the runs show", _summary),
    ("agreement", "Agreement with people's preferences", preferences.preference_agreement_blocks),
    ("order", "Order: noise and place", preferences.order_blocks),
    ("systems", "Systems", preferences.preference_system_blocks),
    ("stories", "Stories within a story-prompt", preferences.story_blocks),
    ("transitivity", "Transitivity", preferences.transitivity_blocks),
    ("coverage", "Coverage", preferences.preference_coverage_blocks),
    ("methods", "Methods", methods.methods_blocks),
    ("checklist", "What a reviewer will ask", checklist.checklist_blocks),
    ("asked", "Settings and provenance", run_settings.settings_blocks),
)


def sections_of(inputs: ReportInputs) -> tuple[tuple[str, str, Maker], ...]:
    """Link target, heading and maker of each section, in order: answers, and the appendix."""
    return tuple(sorted(_sections_of(inputs), key=lambda section: section[0] in _APPENDIX))


def _sections_of(inputs: ReportInputs) -> tuple[tuple[str, str, Maker], ...]:
    if not inputs.rates:
        return COMPARISONS
    people = inputs.has_people and not inputs.raters.labels_note
    every = tuple(entry for entry in SECTIONS if people or entry[0] != "replacement")
    if inputs.checked is not None:
        absent = checked_table.without(inputs)
        return (
            ("summary", "What the file shows", _summary),
            CHECKED,
            *(entry for entry in every[1:] if entry[0] not in absent),
        )
    more = ((PREFERENCES, bool(inputs.compared)), (STRESS, inputs.stressed is not None))
    return (*every[:2], *(section for section, there in more if there), *every[2:])


def page_sections(inputs: ReportInputs, progress: Progress | None = None) -> Iterator[Section]:
    """Each section, and the words that they use; `progress` gets its heading before it is made."""
    made = []
    for identity, title, maker in sections_of(inputs):
        if progress is not None:
            progress(title)
        named = title if identity == "audit" else inputs.raters.worded(title)
        try:
            blocks = maker(inputs)
        except JudgeError as error:
            blocks = [failed(f"{named} cannot be shown", error)]
        made.append(Section(identity, named, blocks, _FOLDED.get(identity, ""), identity in _APPENDIX))
        yield made[-1]
    yield words.section(made)


def write_page(inputs: ReportInputs, output: Path, *, quiet: bool = False) -> int:
    """Write the page; gives its size in bytes. Raises SpecError where the file cannot be written."""
    if not output.parent.is_dir():
        raise SpecError(f"{output} cannot be written: there is no folder {output.parent}")
    if quiet:
        sections = list(page_sections(inputs))
    else:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        console = Console(stderr=True)
        # Where stderr is a file, a bar that is gone would leave an empty line.
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task("report", total=len(sections_of(inputs)))

            def describe(name: str) -> None:
                progress.update(task, description=name)

            sections = []
            for section in page_sections(inputs, describe):
                sections.append(section)
                progress.advance(task)
    page = html(inputs, sections).encode("utf-8")
    write_output(output, page)
    return len(page)


def default_output(inputs: ReportInputs) -> Path:
    """`report.html` next to the run's definition; for several RUNs, in the working folder."""
    places = list(dict.fromkeys(_beside(folder) for folder in (*inputs.folders, *inputs.compared)))
    return (places[0] if len(places) == 1 else Path()) / "report.html"


def _beside(folder: ResultFolder) -> Path:
    return folder.path.parent if (folder.path.parent / DEFINITION).is_file() else folder.path


def write_methods(inputs: ReportInputs, page: Path) -> list[Path]:
    """Write `NAME.methods.md`, `NAME.references.bib`, `NAME.checklist.md` next to `NAME.html`."""
    text = methods.paragraph(inputs)
    contents = {
        "methods.md": methods.markdown(inputs),
        "references.bib": bibtex(methods.cited(text)),
        "checklist.md": checklist.markdown(inputs),
    }
    for name, content in contents.items():
        write_output(page.with_name(f"{page.stem}.{name}"), content.encode("utf-8"))
    return [page.with_name(f"{page.stem}.{name}") for name in contents]
