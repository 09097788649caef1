"""The forms of ratings and results for other programs: each is written by a module of its own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from judge.analysis.options.alternatives import Nothing
from judge.analysis.preference.reading import read as read_preferences
from judge.base.errors import SpecError
from judge.base.whole_file import write_whole
from judge.exchange.outputs.bibtex import entries, without_card
from judge.exchange.outputs.every_eval_ever import write_records
from judge.exchange.outputs.given_away import GiveAway, tables_of
from judge.exchange.outputs.hub import write_hub
from judge.exchange.outputs.irw import write_irw
from judge.exchange.outputs.measured import Measured
from judge.exchange.outputs.metrics import metrics_json
from judge.exchange.outputs.output import (
    HubWords,
    JudgeWords,
    NumbersWords,
    Output,
    PeopleWords,
    RecordsWords,
    Say,
    folders_of,
    needed,
)
from judge.exchange.outputs.trl import write_trl
from judge.ratings.ratings_table import RatingsTable, read


def _hub(runs: Sequence[str], output: Path | None, words: HubWords, say: Say) -> None:
    written = write_hub(needed(output), tables_of(folders_of(runs), words.choices), words.choices)
    say(f"{written.path}: {written.ratings} ratings, {written.stories} stories")
    say(words.choices.words)


def _irw(runs: Sequence[str], output: Path | None, words: PeopleWords, say: Say) -> None:
    written = write_irw(needed(output), tables_of(folders_of(runs), GiveAway(people=words.people)))
    for path, rows in written.files:
        say(f"{path}: {rows} responses")
    if written.unrated:
        say(f"· {written.unrated} rows without a rating are left out: the standard has no missing responses")
    if written.nominal:
        say(f"· labels without an order are of another standard and left out: {', '.join(written.nominal)}")


def _metrics(runs: Sequence[str], output: Path | None, words: NumbersWords, say: Say) -> None:
    path = output or Path("metrics.json")
    measurements = _measured(runs, words)[1].measurements
    _whole(path, metrics_json(measurements))
    undefined = sum(not measurement.estimate.defined for measurement in measurements)
    say(f"{path}: {len(measurements)} numbers, {undefined} of them undefined")


def _eee(runs: Sequence[str], output: Path | None, words: RecordsWords, say: Say) -> None:
    folder = needed(output)
    table, measured = _measured(runs, words)
    written = write_records(folder, table, measured, organization=words.organization, when=time.time())
    for path in written.files:
        say(str(path))
    left = f"; {written.undefined} undefined numbers are left out, the schema has no place for them"
    say(f"{written.results} results{left if written.undefined else ''}")


def _bibtex(runs: Sequence[str], output: Path | None, _words: Nothing, say: Say) -> None:
    path = output or Path("references.bib")
    facts = read(folders_of(runs), explanations=False).facts
    text = entries(facts)
    _whole(path, text)
    say(f"{path}: {text.count('@')} works")
    if unknown := without_card(facts):
        say(f"· no card is known of {', '.join(unknown)}: add what its provider asks to be cited")


def _trl(runs: Sequence[str], output: Path | None, words: JudgeWords, say: Say) -> None:
    written = write_trl(output or Path("preferences.jsonl"), read_preferences(runs), words.judge)
    say(f"{written.path}: {written.lines} pairs")
    left = [(written.even, "are even"), (written.without_text, "have a story without a text")]
    reasons = [f"{count} {why}" for count, why in left if count]
    if reasons:
        say(f"· left out: {', '.join(reasons)}")


def _measured(runs: Sequence[str], words: NumbersWords) -> tuple[RatingsTable, Measured]:
    table = read(folders_of(runs), parser=words.parser, explanations=False)
    return table, Measured.of(table, words.resamples, words.seed)


def _whole(path: Path, text: str | bytes) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        raise SpecError(f"{path} cannot be written: {error.strerror}") from error


OUTPUTS = (
    Output("hub", "ratings and stories as a Hugging Face dataset folder: Parquet, card, BibTeX", HubWords, _hub),
    Output("irw", "ratings as long CSV in the Item Response Warehouse's standard", PeopleWords, _irw),
    Output("eee", "agreement with people as records of Every Eval Ever (schema 0.3.0)", RecordsWords, _eee),
    Output("metrics", "main numbers as metrics.json, each with value, interval, n and unit", NumbersWords, _metrics),
    Output("bibtex", "BibTeX of the program, datasets' studies and models' cards", Nothing, _bibtex),
    Output("trl", "preferences of pairs as prompt, chosen, rejected, for trainers of reward models", JudgeWords, _trl),
)
