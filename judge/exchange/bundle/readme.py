"""README.txt of a bundle: which files it contains and how to check them. It has no date, so that equal runs give equal
bundles.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from judge.exchange.bundle.run_copy import Bundled
from judge.inputs.datasets.sources import LICENCES

_FILES = """
bundle.json                 what is in here, and with which options the tables were made
SHA256SUMS                  SHA-256 of every other file; check with: sha256sum -c SHA256SUMS
environment.json            versions of the program, Python and packages that made this bundle
prices.yaml                 prices that were in force for these judges, dollars for a million tokens
tables/FILE.csv.notes.txt   signature and notes of a table, and of its parts FILE-2.csv, FILE-3.csv, ...
tables/ratings.csv          one row for each repeat of each query and for each person's rating; explanations are not in
                            it, they stand in the journals
tables/coverage.csv         what was asked, answered and rated, and what loss is associated with
tables/consistency.csv      agreement of judges with themselves (ICC), of people with each other
tables/correlate.csv        correlations with people, human ceiling and control
tables/preferences.csv      of runs that compare: one row for each verdict and each person's preference, and what mean
                            ratings imply
tables/verdicts.csv         of runs that compare: what was asked, answered and decided
tables/audit-RUN.csv        error rates and agreement of a run's audit, where there is one with answers
exports/hub/                ratings and stories as a Hugging Face dataset folder, people under pseudonyms (where pyarrow
                            was installed); judge import reads it back
exports/irw/                ratings as long CSV by the Item Response Warehouse's standard
exports/every-eval-ever/    agreement with people as records of Every Eval Ever
exports/metrics.json        the main numbers with interval, count and unit; exports/references.bib: works to cite
runs/RUN/run.yaml           the definition as its author wrote it (a home folder is written ~)
runs/RUN/JUDGE/
  journal.sqlite            everything asked and answered: stories, people's ratings, queries, attempts, answers
  manifest.json             what was asked and what was in force: server, model, versions, times, tokens, cost
  definition/               templates, criteria and the completed definition, as the journal and manifest hold them
  derived/explanations.json the map of explanations, where one was made
  batches.json, batches/    what was sent to a batch API, where it was asked to be in here
  imported.csv              ratings that came from elsewhere, in place of a journal
runs/RUN/audit.sqlite       people's audit of explanations, where there is one; it names annotators by their own names
""".strip("\n")

_CHECK = """
With the program (pip install storyjudge=={version}), anywhere, without a key or a network:

    judge status {name}.zip --verify

checks every checksum, renders every query again and compares its hash, and derives every table from the journals
again and compares it; of exports the checksums alone. Exit code 0: all is as it says here; 4: something differs, and
is named.

Unpacked, every command of the program works on the runs, for instance

    judge correlate {name}/{place}
""".strip("\n")

_WITH = (
    "Stories, story-prompts and people's ratings belong to their datasets and keep their licences; the journals hold "
    "them. Check that you may pass them on before you publish this file; judge export can leave them out."
)
_WITHOUT = (
    "Stories' texts and story-prompts are left out: in journals and tables their SHA-256 hashes stand in their place "
    "(table texts_left_out of each journal), with each text's number of words. Therefore queries cannot be rendered "
    "again, the control's row is undefined, and nothing more can be asked. Answers are whole, and may quote stories."
)


def readme(bundled: Sequence[Bundled], datasets: Sequence[str], texts: bool, version: str) -> str:
    """Text of README.txt in a bundle, in lines of at most 120 characters. `bundled` describes the copied result
    folders, and `texts` says whether the stories' texts are included.
    """
    first = bundled[0].path
    name = f"{first.split('/')[1]}-bundle"
    runs = [
        f"{copied.path}: {copied.judge} ({'imported ratings' if copied.kind == 'imported' else 'journal'})"
        for copied in bundled
    ]
    notes = [note for copied in bundled for note in copied.notes]
    parts = [
        f"Runs of judge (distribution storyjudge, version {version}): answers of judges to stories, and what follows",
        "\n".join(runs),
        "FILES\n\n" + _FILES,
        "TO CHECK\n\n" + _CHECK.format(version=version, name=name, place=first),
        "TEXTS\n\n" + textwrap.fill(_WITH if texts else _WITHOUT, 118) + "\n" + _licences(datasets),
    ]
    if notes:
        parts.append("NOTES\n\n" + "\n".join(textwrap.fill(note, 118) for note in dict.fromkeys(notes)))
    return "\n\n".join(parts) + "\n"


def _licences(datasets: Sequence[str]) -> str:
    own = {"demo": "Apache-2.0, as the program"}
    licences = {
        name: own.get(name) or LICENCES.get(name, "its licence is not known to this program") for name in datasets
    }
    return "\n".join(f"{name}: {licence}" for name, licence in licences.items())
