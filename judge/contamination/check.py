"""Check of runs for contamination: what can be measured for each judge of the stories it rates, and what cannot."""

from __future__ import annotations

import functools
import math
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from judge.analysis.options.signature import Signed
from judge.asking.run_folder import read_manifest
from judge.backends import IN_PROCESS
from judge.base.credentials.providers import JudgeName, provider_of
from judge.base.credentials.written_keys import origin_of
from judge.base.errors import JudgeError
from judge.base.estimate import Estimate
from judge.base.files import package_file
from judge.base.fingerprint import fingerprint_text
from judge.base.printing.tables import Column, Table, printable
from judge.base.wording import Advice, Note, Wording, enumerated, joined, written
from judge.contamination import report, scores_file, thresholds
from judge.contamination.options import CheckOptions
from judge.contamination.report import letters
from judge.contamination.scores import RECITED
from judge.contamination.scores_file import ScoresFile
from judge.contamination.scoring import Progress
from judge.contamination.session import scored
from judge.contamination.texts import Text, TextSet, labelled

if TYPE_CHECKING:
    import pandas as pd

    from judge.ratings.ratings_table import RatingsTable


# Result of a contamination check for each model: recited texts, share of stories seen, and publication dates.

# Whether a model or the stories were published first, from published months. No month is guessed.

Order = Literal["model first", "stories first", "not known"]


@dataclass(frozen=True, slots=True)
class Dated:
    """Whether the model or the stories came first, by published months; `brief` is without sources. A model's month is
    that in which its training data ended, if known, else that of its publication."""

    order: Order
    sentence: str
    brief: str


def dated(model: str, dataset: str, released: Sequence[str] = ()) -> Dated:
    """Whether the model or the stories came first; `released` holds months from the user, as ``MODEL=YYYY-MM``."""
    stories = _table()["datasets"].get(dataset)
    own = dict(word.rpartition("=")[::2] for word in released)
    month = _of_model(model, own)
    if stories is None or stories["since"] is None:
        why = "when they were published is not known here" if stories is None else stories["source"]
        return Dated(
            "not known", f"Of the stories: {why}.", "By dates nothing can be told: the stories' month is not known."
        )
    since, source = str(stories["since"]), stories["source"]
    if month is None:
        words = Note(
            f"The stories are public since {since} ({source}); when the model came out is not known here",
            Advice("give {released}", released="MODEL=YYYY-MM"),
            joint=": ",
        )
        unknown = f"By dates nothing can be told: stories {since}, the model's month is not known."
        return Dated("not known", words, unknown)
    # What its makers say of the training data counts before the day of publication, which is later.
    until = month.get("until") or month["since"]
    model_date = f"training data until {month['until']}" if month.get("until") else f"published {month['since']}"
    about = f"The model: {model_date} ({month['source']}); the stories: public since {since} ({source})"
    months = f"(model {until}, stories {since})"
    if until < since:
        brief = f"By their dates it cannot have seen the data set, only what of it is older {months}."
        whole = f"{about}. By these it cannot have seen the data set, only what of it is older."
        return Dated("model first", whole, brief)
    return Dated(
        "stories first", f"{about}. By these it may have seen them.", f"By dates it may have seen them {months}."
    )


def _of_model(model: str, own: Mapping[str, str]) -> Mapping[str, Any] | None:
    plain = letters(model.rpartition("/")[2])
    for name, month in own.items():
        if letters(name.rpartition("/")[2]) == plain:
            return {"since": month, "source": "as you say"}
    # Whole names only: gpt-4.1 begins like gpt-4, and is another model.
    return next((row for row in _table()["models"] if plain in row["names"]), None)


@functools.cache
def _table() -> Mapping[str, Any]:
    import yaml

    text = package_file("contamination", "check", "dates.yaml").read_text(encoding="utf-8")
    table: Mapping[str, Any] = yaml.safe_load(text)
    return table


# From this log-probability of 50 tokens in a row a text counts as recited: 1 in 1,000.
LIKELY = math.log(1e-3)

# In the order of what they show; docs/contamination.md has the rule of each.
Verdict = Literal["recites stories", "some seen", "not shown", "recites none", "cannot be told", "not measured"]


@dataclass(frozen=True, slots=True)
class Recital:
    """Log-probability, in nats, of the likeliest 50 consecutive tokens of each text; high = recited from memory."""

    values: tuple[float, ...] = ()

    @property
    def recited(self) -> int:
        """Number of texts whose likeliest 50 tokens have a probability of at least 1 in 1,000 (`LIKELY`)."""
        return sum(value >= LIKELY for value in self.values)

    @property
    def of(self) -> int:
        """Number of texts with a value; one without 50 consecutive tokens that can be scored has none."""
        return len(self.values)

    def above(self, other: Recital) -> int:
        """Number of texts above the highest value in `other`; 0 if `other` has none."""
        return sum(value > max(other.values, default=0.0) for value in self.values)

    @classmethod
    def of_file(cls, scores: ScoresFile) -> Recital | None:
        """The texts' recital in a scores file; None if it lacks this score."""
        if "recital" not in scores.names:
            return None
        return cls(tuple(value for row in scores.rows if (value := row.scores["recital"]) is not None))


def passages_of(scores: ScoresFile) -> Recital:
    """Recital of the well-known passages scored with the stories, from the file's header; empty if it has none."""
    return Recital(tuple(float(value) for value in scores.header.get("passages") or ()))


def tells(stories: Recital, passages: Recital | None) -> bool:
    """Whether the test for recital would detect a memorised story; False without passages. It would if the model
    recites at least one passage, or if at least half of the passages have a higher value than every story."""
    return passages is not None and bool(
        passages.recited or (passages.of and 2 * passages.above(stories) >= passages.of)
    )


@dataclass(frozen=True, slots=True)
class Checked:
    """Result for one model on the stories of one dataset. `stories` and `passages` are None if not scored, for the
    reason `why`. `corrected` is the share of seen stories, undefined without a labelled set. `file` is the written
    scores file."""

    dataset: str
    model: str
    dated: Dated
    stories: Recital | None = None
    passages: Recital | None = None
    corrected: Estimate = field(default_factory=lambda: Estimate.undefined("no labelled set"))
    why: str = ""
    file: Path | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether the model has seen the stories, in a few words, by the rules of docs/contamination.md."""
        if self.stories is None:
            return "not measured"
        if self.stories.recited:
            return "recites stories"
        if self.corrected.value is not None and self.corrected.low is not None:
            return "some seen" if self.corrected.low > 0 else "not shown"
        return "recites none" if tells(self.stories, self.passages) else "cannot be told"

    @property
    def sentence(self) -> str:
        """What was measured for this model and dataset, and what cannot be concluded from it."""
        if self.stories is None:
            return joined("Not measured: ", self.why, ".")
        stories, passages = self.stories, self.passages or Recital()
        above = passages.above(stories)
        text = (
            f"It recites {stories.recited or 'none'} of {stories.of:,} stories ({RECITED} tokens in a row with a "
            f"probability of 1 in 1,000 or more), and {passages.recited} of {passages.of} passages that the web holds "
            f"in many copies; {above} of these it expects more than any story."
        )
        if stories.recited:
            text += " Such a story it has seen, or one that shares the passage."
        elif tells(stories, passages):
            text += " A story met as often would show; one met once or a few times would not."
        else:
            text += " It knows too few of these to tell anything by it."
        share = self.corrected
        if share.value is not None and share.low is not None and share.high is not None:
            ends = f"{100 * share.low:.0f} to {100 * share.high:.0f}"
            return f"{text} By the labelled set {100 * share.value:.0f} % [{ends}] of the stories were seen."
        return joined(text, " What share it has seen cannot be said: ", share.reason or "", ".")

    @property
    def cells(self) -> dict[str, Any]:
        stories, passages = self.stories, self.passages
        return {
            "dataset": self.dataset,
            "model": self.model,
            "verdict": self.verdict,
            "stories": stories and stories.of,
            "recited": stories and stories.recited,
            "passages": passages and passages.of,
            "passages_recited": passages and passages.recited,
            "passages_above": passages and stories and passages.above(stories),
            "corrected": self.corrected,
            "order": self.dated.order,
            "measured": self.sentence,
            "dates": self.dated.sentence,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Check(Signed):
    """Result of a contamination check, with one row for each model and dataset."""

    rows: tuple[Checked, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each model and dataset, with an estimate's value, interval, and reason if undefined."""
        from judge.analysis.frames import flat_frame

        return flat_frame((row.cells for row in self.rows), self.signature, self.notes)


# Computes the contamination check of runs: scores stories with each model that can be run here.

# Text and table of a contamination check's result, as `judge contamination check` prints them.

# Columns of the narrowest usual terminal; the sentences of a row side by side would take 200.
WIDTH = 80

_TITLE = "Have the judges seen the stories?"
_LABEL = 10


def table(checked: Check) -> Table:
    """Table of a contamination check, with a row for each model and dataset."""
    columns = [
        Column("dataset", "stories of"),
        Column("model", "model"),
        Column("verdict", "has it seen them?"),
        Column("recited", "recited"),
        Column("stories", "of stories"),
        Column("passages_recited", "recited of 8 passages"),
        Column("passages_above", "passages above all stories"),
        Column("corrected", "seen, corrected x100", digits=1, factor=100),
        Column("measured", "what was measured", wrap=50),
        Column("dates", "by their dates", wrap=40),
    ]
    rows = [row.cells for row in checked.rows]
    return Table(_TITLE, columns, rows, checked.signature, _notes(checked))


def text(checked: Check, wording: Wording) -> str:
    """Text for a screen: for each model and dataset the verdict, what was measured, and what the dates say. Models of
    which the same is to be said of the same stories share it; their months then stand without sources.
    """
    lines = [_TITLE, ""]
    alike: dict[tuple[str, Verdict, str], list[Checked]] = {}
    for row in checked.rows:
        alike.setdefault((row.dataset, row.verdict, written(row.sentence, wording)), []).append(row)
    for (dataset, verdict, sentence), rows in alike.items():
        lines += _wrapped(
            f"{enumerated([row.model for row in rows])} on the stories of {dataset}: {verdict.upper()}", ""
        )
        lines += _wrapped(sentence, "scores")
        for row in rows:
            dates = row.dated.sentence if len(rows) == 1 else f"{row.model}: {row.dated.brief}"
            lines += _wrapped(written(dates, wording), "dates" if row is rows[0] else " ")
        lines.append("")
    for note in filter(None, (checked.signature, *(f"· {written(note, wording)}" for note in _notes(checked)))):
        lines += _wrapped(note, "")
    return "\n".join(lines) + "\n"


def _notes(checked: Check) -> tuple[str, ...]:
    return (*checked.notes, *(f"scores: {row.file}" for row in checked.rows if row.file is not None))


def _wrapped(words: str, label: str) -> list[str]:
    indent = " " * _LABEL if label else ""
    first = f"  {label}".ljust(_LABEL) if label else ""
    lines = textwrap.wrap(
        printable(words), WIDTH, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False
    )
    return lines or [""]


# At most one in twenty of the labelled set's unseen texts counts as seen.
RULE = "fpr=0.05"
_PASSAGE = "passage:"
_NO_MODEL = "no language model rated these stories: a control, or answers from a file, has seen nothing"
_NO_SET = Note(
    "without a labelled set nobody knows how texts that it has seen score", Advice("give {labelled}", labelled="FILE")
)


def check(runs: RatingsTable, options: CheckOptions | None = None, progress: Progress | None = None) -> Check:
    """Check of each judge in the runs, and of each model in the options, on the stories of each dataset. A model that
    cannot be scored has a row with the reason; a note says if there is no language model."""
    options = options or CheckOptions()
    rows: list[Checked] = []
    for dataset, judge, folder in _judged(runs):
        rows.append(_checked(runs, dataset, judge, folder, options, progress))
    # Reversed, so that of several runs on a dataset the first one's folder gets the scores.
    for dataset, folder in {fact.dataset: fact.path for fact in reversed(runs.facts)}.items():
        rows += [_checked(runs, dataset, model, folder, options, progress, asked=True) for model in options.models]
    if not rows:
        return Check((), signature_parts=(f"threshold:{RULE}",), notes=(_NO_MODEL,))
    parts = (*dict.fromkeys(f"{row.dataset}:{row.model}" for row in rows), "recital:50/0.001", f"threshold:{RULE}")
    notes = (
        "recites: 50 tokens in a row, none of them in the text before, have a probability of 1 in 1,000 or more",
        "who recites nothing may have seen everything: most texts that a model has met it cannot recite",
    )
    return Check(tuple(rows), signature_parts=parts, notes=notes)


def kept(runs: RatingsTable) -> Iterator[tuple[Path, ScoresFile]]:
    """Paths and contents of the scores files that earlier checks wrote to the runs' folders."""
    for folder in dict.fromkeys(fact.path for fact in runs.facts):
        for path in sorted((folder / "derived").glob("*.seen.jsonl")):
            yield path, scores_file.read(path)


def _judged(runs: RatingsTable) -> list[tuple[str, str, Path]]:
    """(dataset, judge, folder of its first run) of each language model, without controls and scripted judges."""
    folders = {fact.run: fact for fact in runs.facts}
    frame = runs.frame
    rows = frame.loc[frame["source"] == "judge", ["run", "dataset", "judge"]].drop_duplicates()
    folder_of: dict[tuple[str, str], Path] = {}
    for run, dataset, judge in rows.itertuples(index=False):
        fact = folders[run] if run in folders else runs.facts[0]
        if not fact.control and not JudgeName.of(str(judge)).is_scripted:
            folder_of.setdefault((str(dataset), str(judge)), fact.path)
    return [(dataset, judge, folder) for (dataset, judge), folder in folder_of.items()]


def _checked(
    runs: RatingsTable,
    dataset: str,
    model: str,
    folder: Path,
    options: CheckOptions,
    progress: Progress | None,
    *,
    asked: bool = False,
) -> Checked:
    row = Checked(dataset, model, dated(model, dataset, options.released))
    options = options if asked else at_its_server(model, folder, options)
    if not asked and (why := _closed(model, options)):
        return replace(row, why=why)
    stories = _stories(runs, dataset, options.limit)
    if not stories:
        return replace(row, why="the result folder does not hold the stories' texts")
    try:
        scores, passages = _scored(dataset, model, stories, folder, options, progress)
    except JudgeError as error:
        return replace(row, why=error.sentence)
    # Names of models and datasets may hold slashes and signs that no file name can.
    path = folder / "derived" / f"{re.sub(r'[^A-Za-z0-9.-]+', '-', f'{dataset}-{model}')}.seen.jsonl"
    scores_file.write(path, scores)
    measured = replace(row, stories=Recital.of_file(scores), passages=passages, file=path)
    if options.labelled is None:
        return replace(measured, corrected=Estimate.undefined(_NO_SET))
    return replace(measured, corrected=report.report(runs, [scores]).rows[0].corrected)


def at_its_server(model: str, folder: Path, options: CheckOptions) -> CheckOptions:
    """The options with the address of the run's judge, if this is on the user's own server and they give none."""
    # Providers' own hosts give no probabilities of a text.
    if options.base_url is not None or JudgeName.of(model).provider != "openai":
        return options
    asked = read_manifest(folder / "manifest.json").get("asked") or {}
    named = asked.get("base_url")
    addresses = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    own = (str(address) for address in addresses if provider_of(origin_of(str(address)).host) is None)
    return replace(options, base_url=next(own, None))


def _closed(model: str, options: CheckOptions) -> str:
    """Reason why stories cannot be scored here; empty if scoring may be possible."""
    name = JudgeName.of(model)
    if name.provider in IN_PROCESS or (name.provider == "openai" and options.base_url):
        return ""
    if not name.model or name.is_recorded:
        return Note("its ratings were imported, and which weights gave them is not known here",
                    Advice("{models} scores weights that you name", models="hf/NAME"))  # fmt: skip
    if name.provider == "openai":
        return Note("its provider gives no probabilities of a text that it is sent",
                    Advice("a vLLM server of your own does: {base_url}"))  # fmt: skip
    return "its provider gives no probabilities of a text that it is sent"


def _stories(runs: RatingsTable, dataset: str, limit: int | None) -> list[Text]:
    frame = runs.stories
    mine = frame[frame.index.get_level_values(0) == dataset]
    texts = [
        Text(str(story), str(text), fingerprint_text(str(text)), str(system))
        for (_, story), system, text in zip(mine.index, mine["system"], mine["text"], strict=True)
        if isinstance(text, str) and text
    ]
    return texts[:limit]


def _scored(
    dataset: str, model: str, stories: list[Text], folder: Path, options: CheckOptions, progress: Progress | None
) -> tuple[ScoresFile, Recital | None]:
    texts = TextSet(dataset, (*stories, *passages()))
    # Stories and passages are scored together, because loading the model is slow.
    both = scored(texts, model, options.scoring, folder, progress=progress)
    of_stories = scores_file.only(both, lambda row: not row.id.startswith(_PASSAGE))
    recital = Recital.of_file(scores_file.only(both, lambda row: row.id.startswith(_PASSAGE)))
    of_stories = replace(of_stories, header={**of_stories.header, "passages": recital and list(recital.values)})
    if options.labelled is not None:
        marked = scored(labelled(options.labelled), model, options.scoring, folder, progress=progress)
        of_stories = thresholds.carried_over(of_stories, marked, RULE)
    return of_stories, recital


def passages() -> list[Text]:
    """Well-known passages of which the web holds many copies."""
    import yaml

    rows = yaml.safe_load(package_file("contamination", "check", "passages.yaml").read_text(encoding="utf-8"))
    return [Text(f"{_PASSAGE}{row['name']}", row["text"], fingerprint_text(row["text"])) for row in rows]
