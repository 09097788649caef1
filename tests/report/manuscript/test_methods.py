"""Methods, references, checklist: what was done and no more, works in force alone, gaps and what closes them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from judge.base.references import bibtex, works
from judge.show.report import ReportInputs, ReportOptions, checklist, methods
from tests.report import runs


def entries(text: str) -> dict[str, tuple[str, dict[str, str]]]:
    """A BibTeX file read by its grammar: key -> (kind, fields). Braces must balance."""
    found = {}
    position = 0
    while (at := text.find("@", position)) >= 0:
        kind, _, rest = text[at + 1 :].partition("{")
        depth, end = 1, 0
        while depth:
            depth += {"{": 1, "}": -1}.get(rest[end], 0)
            end += 1
        body = rest[: end - 1]
        key, _, fields = body.partition(",")
        pairs = re.findall(r"(\w+)\s*=\s*\{((?:[^{}]|\{[^{}]*\})*)\}", fields)
        found[key.strip()] = (kind, dict(pairs))
        position = at + len(kind) + 2 + end
    return found


def test_every_work_is_a_whole_entry() -> None:
    known = entries(bibtex(list(works())))
    assert set(known) == set(works())
    needed = {"article": {"journal", "volume"}, "inproceedings": {"booktitle"}, "book": {"publisher"}, "misc": {"note"}}
    for key, (kind, fields) in known.items():
        assert {"author", "title", "year"} | needed[kind] <= set(fields), key
        assert fields["year"] in key
        assert re.fullmatch(r"\d{4}", fields["year"])
        if "pages" in fields:
            first, last = fields["pages"].split("--")
            assert int(first) < int(last)
        if "doi" in fields:
            assert re.fullmatch(r"10\.\d{4,}/\S+", fields["doi"])


def test_facts_of_works_are_those_the_publishers_print() -> None:
    # From the ACL Anthology's and MIT Press' pages of these papers.
    assert works()["chhun-etal-2024-language"].line == (
        "Cyril Chhun, Fabian M. Suchanek and Chloé Clavel. 2024. Do Language Models Enjoy Their Own Stories? Prompting "
        "Large Language Models for Automatic Story Evaluation. Transactions of the Association for Computational "
        "Linguistics 12, 1122–1142. doi:10.1162/tacl_a_00689"
    )
    assert works()["deutsch-etal-2021-statistical"].fields["pages"] == "1132--1146"
    assert works()["xie-etal-2023-deltascore"].fields["pages"] == "5317--5331"
    assert works()["shrout-fleiss-1979-intraclass"].short == "Shrout and Fleiss (1979)"


def test_hannas_paragraph_says_what_is_known_and_cites_what_is_in_force(hanna_material: ReportInputs) -> None:
    text = methods.paragraph(hanna_material)
    assert "The stories are 960 of the dataset hanna_scores [@chhun-etal-2022-human; @chhun-etal-2024-language]" in text
    assert "96 story-prompts, 10 systems, without Human." in text
    assert "who gave which rating is not known" in text
    assert "their settings are not known here" in text
    assert "surface features of the text, out of fold by story-prompts." in text
    assert "shipped with judge" not in text
    assert "is undefined here (who gave which rating is not known" in text
    keys = methods.cited(text)
    assert "kendall-1945-ties" in keys
    assert "williams-1959-regression" in keys
    assert "benjamini-hochberg-1995-controlling" in keys
    # Nothing is said of what was not done: repeats, audits, contamination, serving, embedding.
    for absent in ("shrout-fleiss", "gwet", "shi-etal", "kwon-etal", "umap", "reimers"):
        assert not [key for key in keys if absent in key]


def test_the_paragraph_of_a_run_states_its_settings(
    demo_material: ReportInputs, hostile_material: ReportInputs
) -> None:
    text = methods.paragraph(demo_material)
    assert "surface rated them on Relevance, Coherence, Empathy, Surprise, Engagement and Complexity" in text
    assert "with Eval-Prompts ep1 and ep2, 3 independent answers to each query" in text
    assert "generation: temperature 1, seed 7;" in text
    assert "to the provider" not in text
    assert "No person rated them: labels set by rule" in text
    assert "who gave which rating" not in text
    assert "Agreement with the labels is Kendall's tau-b" in text
    assert "One more person is not known, since no person rated the stories." in text
    assert "is shipped with judge and was fitted on other stories" in text
    assert "out of fold" not in text
    assert "no language model" in text
    assert "[@shrout-fleiss-1979-intraclass; @mcgraw-wong-1996-forming]" in text
    assert "TF-IDF of words and word pairs, reduced to 100 dimensions by truncated SVD (seed 1)" in text
    assert "tfidf-svd" not in text
    assert "reimers" not in text
    other = methods.paragraph(hostile_material)
    assert "generation settings were not set" in other
    assert "3 ratings a story and criterion; who gave which rating is known." in other
    assert "One more person is each rater against the mean of the others." in other


def test_nothing_is_said_of_tests_that_nobodys_ratings_allow(unrated_run: Path) -> None:
    inputs = ReportInputs.read([unrated_run], ReportOptions(resamples=60))
    text = methods.paragraph(inputs)
    assert "Contrasts are differences of the mean rating" in text
    for absent in ("people", "label", "ceiling", "Williams", "permutation", "Diagnostics"):
        assert absent not in text
    family = {item.question: item.finding for item in checklist.checklist(inputs)}[
        "The family of tests, and its adjustment"
    ]
    assert "cannot be tested without people's ratings" in family


def test_the_files_hold_the_cited_works_and_no_others(hostile_run: Path, tmp_path: Path) -> None:
    made = runs.command("report", hostile_run, "-o", tmp_path / "r.html", "--methods", "--resamples", "20", "--quiet")
    assert made == 0
    text = (tmp_path / "r.methods.md").read_text(encoding="utf-8")
    known = entries((tmp_path / "r.references.bib").read_text(encoding="utf-8"))
    assert list(known) == methods.cited(text)
    marked = (tmp_path / "r.checklist.md").read_text(encoding="utf-8").splitlines()[2:]
    assert all(re.match(r"- \[[x ]\] \S", line) for line in marked)
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_checklist_marks_gaps_and_names_what_closes_them(hostile_material: ReportInputs) -> None:
    items = {item.question: item for item in checklist.checklist(hostile_material)}
    revision = items["revision of the model"]
    assert (revision.state, revision.closes) == ("gap", "revision: in run.yaml")
    for setting in ("temperature", "seed", "limit of the answer"):
        item = items[f"{setting} stated"]
        assert item.state == "gap"
        assert item.closes.startswith("generation.")
    assert items["One more person"].state == "met"
    assert items["Repeats, so that consistency is known"].finding == "2 repeats of each query"
    audit = items["Explanations audited by people"]
    assert (audit.state, audit.closes) == ("gap", f"judge audit sample {hostile_material.named_runs}")
    assert items["Contamination"].state == "gap"
    systems = items["Enough systems for a claim about systems"]
    assert (systems.state, systems.closes) == ("gap", "")
    assert "more systems" in systems.needs
    assert "more systems" in checklist.markdown(hostile_material)


def test_an_audit_is_done_when_two_annotators_finished_items(demo_run: Path, tmp_path: Path) -> None:
    """From a sample nobody looked at, over one annotator, to two and a second round."""
    from judge.explanations.audit.store import ADJUDICATION, AuditStore
    from judge.show.report.sections import headline

    folder = shutil.copytree(demo_run, tmp_path / "demo")
    file = folder / "audit.sqlite"
    assert runs.command("audit", "sample", folder, "-n", "6", "--seed", "4", "--set", "blind=judge", "-o", file) == 0

    def said() -> tuple[checklist.Item, str, str]:
        inputs = ReportInputs.read([folder], ReportOptions(resamples=20))
        items = {item.question: item for item in checklist.checklist(inputs)}
        return items["Explanations audited by people"], methods.paragraph(inputs), headline.sentences(inputs)[-1]

    item, text, top = said()
    assert (item.state, item.closes) == ("gap", f"judge audit serve {file}")
    assert "0 of 6 items finished" in item.finding
    assert "audited" not in text
    assert "gwet" not in text
    assert top == "6 explanations were sampled for an audit; no annotator has finished one."

    with AuditStore.open(file) as store:
        nothing = dict.fromkeys([one.key for one in store.categories], 0)
        for number in (1, 2, 3):
            store.answer("Ada", number, nothing)
        item, text, top = said()
        assert item.state == "gap"
        assert "3 of 6 items finished by one annotator: agreement between annotators is unknown" in item.finding
        assert (
            "One person audited 3 of 6 explanations, drawn at random from 864, stratified by criterion (equal " in text
        )
        assert (
            "spread over rating, distance from the labels and cluster, seed 4; annotators saw its Eval-Prompt" in text
        )
        assert " and rating, not the system and judge; no explanation was finished by two" in text
        assert "gwet" not in text
        assert "agreement between annotators is unknown" in top

        first = store.categories[0].key
        store.answer("Ben", 1, nothing | {first: 1})
        store.answer("Ben", 2, nothing)
        item, text, top = said()
        assert (item.state, item.closes) == ("met", "")
        assert "3 of 6 items finished by 2 annotators, 2 of them by two or more" in item.finding
        assert "2 people audited 3 of 6 explanations" in text
        assert "two or more finished 2 of them, on which agreement is Gwet's AC1 [@gwet-2008-computing]" in text
        assert "disputed answers were not adjudicated" in text
        # One of two on one of three items: 1/6.
        assert f"{store.categories[0].label}, in 16.7 %" in top

        store.answer("Eve", 1, {first: 1}, round_no=ADJUDICATION)
        assert "a second round settled 1 of 1 disputed answers" in said()[1]


def _audited(run: Path, file: Path, *words: str) -> str:
    """The Methods sentence of a sample of 6 in which one annotator finished one item."""
    from judge.explanations.audit.store import AuditStore

    source = () if "--from" in words else (run,)
    assert runs.command("audit", "sample", *source, "-n", "6", "-o", file, *words) == 0
    with AuditStore.open(file) as store:
        store.answer("Ada", 1, dict.fromkeys([one.key for one in store.categories], 0))
    text = methods.paragraph(ReportInputs.read([run], ReportOptions(resamples=20, audit=file)))
    return text.partition("One person audited ")[2].partition("; no explanation was finished")[0]


def test_an_audit_is_drawn_by_what_was_known_of_its_explanations(unrated_run: Path, tmp_path: Path) -> None:
    """No person rated the stories and nothing was mapped, so that neither distance nor cluster decided anything."""
    said = _audited(unrated_run, tmp_path / "a.sqlite")
    assert said == (
        "1 of 6 explanations, drawn at random from 48, stratified by criterion and Eval-Prompt (equal allocation), "
        "spread over rating, seed 1; annotators saw only its texts, not the system, judge, Eval-Prompt and rating"
    )
    said = _audited(
        unrated_run, tmp_path / "b.sqlite", "--by", "gap", "--set", "spread=cluster", "--set", "blind=rating"
    )
    assert said == (
        "1 of 6 explanations, drawn at random from 48, seed 1; annotators saw its judge and Eval-Prompt, not the "
        "system and rating"
    )


def test_an_audit_says_what_was_known_of_some_explanations_alone(unrated_run: Path, tmp_path: Path) -> None:
    file = tmp_path / "some.csv"
    rows = [f"because of {n},Coherence,s{n},{n % 3 + 1 if n % 2 else ''}" for n in range(12)]
    file.write_text("\n".join(["text,criterion,story,rating", *rows]), encoding="utf-8")
    assert _audited(unrated_run, tmp_path / "c.sqlite", "--from", str(file)) == (
        "1 of 6 explanations, drawn at random from 12, spread over rating (where known), seed 1; annotators saw only "
        "its texts, not the system, judge, Eval-Prompt and rating"
    )


def test_two_reports_in_one_folder_do_not_overwrite_each_other(hostile_run: Path, tmp_path: Path) -> None:
    import judge

    run = judge.open_run(hostile_run)
    written = [
        path
        for name in ("one.html", "two.html")
        for path in run.report(tmp_path / name, methods=True, resamples=20, permutations=20)
    ]
    assert len(set(written)) == 8
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in written}
    assert "one.references.bib" in {path.name for path in written}


def test_the_page_lies_beside_the_runs_definition(demo_run: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(demo_run, tmp_path / "demo")
    assert runs.command("report", folder, "--resamples", "20", "--quiet") == 0
    assert "ci:boot-inputs/20/seed1" in (folder / "report.html").read_text(encoding="utf-8")


def test_labels_by_construction_are_nobodys_ratings(demo_material: ReportInputs) -> None:
    items = {item.question: item for item in checklist.checklist(demo_material)}
    assert "Who gave which of people's ratings" not in items
    people = items["People's ratings of the same stories"]
    assert people.state == "gap"
    assert people.finding.startswith("no person rated them: labels set by rule")
    assert items["One more person"].state == "gap"
    assert "all 6 criteria" in items["One more person"].finding


def test_what_cannot_be_known_is_no_gap_of_the_users(hanna_material: ReportInputs) -> None:
    items = {item.question: item for item in checklist.checklist(hanna_material)}
    assert items["One more person"].state == "open"
    assert items["Who gave which of people's ratings"].state == "open"
    assert items["Repeats, so that consistency is known"].state == "open"
    assert items["Control that reads only the surface of a text"].state == "met"
    assert items["Enough systems for a claim about systems"].state == "met"


def test_an_unfinished_run_is_a_gap(hostile_run: Path, tmp_path: Path) -> None:
    from judge.asking.execution.session import Sitting, sit
    from judge.asking.run_definition.spec import load_run_spec
    from judge.asking.run_folder import folder_for

    for name in ("run.yaml", "stories.jsonl"):
        (tmp_path / name).write_bytes((hostile_run / name).read_bytes())
    spec = load_run_spec(tmp_path / "run.yaml")
    result = folder_for(tmp_path / "run.yaml", spec.name, spec.judge, spec.revision)
    sit(Sitting(spec, tmp_path, result, quiet=True, limit=5))
    items = {
        item.question: item for item in checklist.checklist(ReportInputs.read([tmp_path], ReportOptions(resamples=20)))
    }
    assert items["The run is complete"].state == "gap"
    assert items["The run is complete"].closes == f"judge run {tmp_path}"
