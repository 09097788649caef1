"""Notes about a result folder that are printed under each of its tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from judge.answers.journal import JournalReader
from judge.answers.journal.snapshot import LEFT_OUT
from judge.asking.in_force.words import SettingInForce, sentences, stored
from judge.base.credentials.providers import JudgeName
from judge.base.records import Criterion
from judge.base.wording import Advice, Note


def about_judge(
    judge: str, manifest: Mapping[str, Any], criteria: Sequence[Criterion], journal: JournalReader
) -> list[str]:
    """Sentences on whether the judge is a control, texts were left out of the journal, what the server's check
    detected, and settings without effect."""
    force = manifest.get("in_force", {})
    notes: list[str] = []
    left_out = journal.meta().get(LEFT_OUT)
    if JudgeName.of(judge).is_control:
        notes.append(f"{judge} is a control, not a language model")
        notes += in_sample(judge, criteria, journal) if left_out is None else []
    if left_out is not None:
        notes += [*left_out["notes"], "the stories' texts were left out of this journal: no control row, no features"]
    if force.get("note"):
        notes.append(f"{judge}: {force['note']}")
    # What the server was found not to do, as the probe of the last sitting noted it.
    notes += (force.get("server") or {}).get("notes", [])
    return notes + without_effect(judge, stored(manifest), probe_notes=notes)


def about_answers(judge: str, journal: JournalReader, *, settled: int, planned: int) -> list[str]:
    """Notes on answers that were asked again, and on planned repeats of which only `settled` were answered or given
    up."""
    notes: list[str] = []
    if replaced := journal.replaced_total():
        kind = "verdict" if journal.compares else "rating"
        sentence = f"{replaced} answers were asked again because no {kind} could be read"
        notes.append(Note(sentence, Advice("judge run {retry} {unparsed}", retry=True, unparsed=True)))
    if settled < planned:
        notes.append(f"{judge}: {planned - settled} of {planned} planned repeats have not been requested yet")
    return notes


# What a server tells of a model, by which two models of one name are told apart.
_OF_MODEL = ("root", "revision", "max_model_len", "chat_template_hash", "flags")


def several_models(judge: str, manifest: Mapping[str, Any], journal: JournalReader) -> list[str]:
    """A note if more than one model answered under the judge's name, as far as the servers reported their models."""
    force = manifest.get("in_force") or {}
    models = journal.models() if journal.last_attempt() <= _FEW else dict(force.get("models") or {})
    if len(models) > 1:
        named = ", ".join(f"{name} ({count:,})" for name, count in models.items())
        return [f"{judge}: {len(models)} models answered under this one name, as the servers named them: {named}"]
    servers = [server for sitting in manifest.get("sittings") or () for server in sitting.get("server") or ()]
    for key in _OF_MODEL:
        values = list(dict.fromkeys(str(server[key]) for server in servers if key in server))
        if len(values) > 1:
            differs = f"{judge}: its servers were not the same model in all sittings ({key}: {', '.join(values[:3])})"
            return [f"{differs}: answers of more than one model may stand here"]
    return []


# Attempts up to which the journal itself is looked through; beyond, what the last sitting noted is taken.
_FEW = 200_000


def in_sample(judge: str, criteria: Sequence[Criterion], journal: JournalReader) -> list[str]:
    """A note if the control judge was fitted on ratings for the stories' story-prompts: its agreement with people is
    then not out of sample, and too high."""
    from judge.backends.surface import fitted_on

    names = [criterion.name for criterion in criteria]
    seen = sum(fitted_on(judge, names, journal.stories(ratings=False)))
    if not seen:
        return []
    total = journal.story_count()
    where = f"{judge} was fitted on ratings of stories for the story-prompts of {seen} of these {total} stories"
    return [f"{where}: its own rows are not out of sample there; compare with the control's row instead"]


def other_scale(criteria: Sequence[Criterion], journal: JournalReader) -> list[str]:
    """Notes on criteria with human ratings outside the judge's scale: ranks can be compared, values cannot."""
    ranges = journal.rating_ranges()
    notes = []
    for criterion in criteria:
        low, high = ranges.get(criterion.name, (criterion.scale.min, criterion.scale.max))
        if low not in criterion.scale or high not in criterion.scale:
            notes.append(
                f"people's ratings of {criterion.name} reach from {low:g} to {high:g}, the judge's scale from "
                f"{criterion.scale.min:g} to {criterion.scale.max:g}: compare ranks, not values (or mend the data)"
            )
    return notes


def without_effect(judge: str, settings: Iterable[SettingInForce], *, probe_notes: Sequence[str]) -> list[str]:
    """A sentence for each setting refused or ignored; none for the seed, if `probe_notes` (the server's check) mention
    it."""
    seed_told = any("same seed" in note for note in probe_notes)
    lost = [
        setting
        for setting in settings
        if setting.state in ("refused", "ignored") and not (setting.setting == "seed" and seed_told)
    ]
    return [f"{judge}: {sentence}" for sentence in sentences(lost)]


def outside_scale(flags: Iterable[str]) -> list[str]:
    """A note on the mean and maximum probability off the scale's points, by `flags` of ratings that are expected
    values."""
    shares = [
        float(flag.partition("=")[2]) for text in flags for flag in text.split(";") if flag.startswith("outside=")
    ]
    if not shares:
        return []
    mean, most = 100 * sum(shares) / len(shares), 100 * max(shares)
    note = (
        f"ratings are expected values over the scale's tokens; {mean:.1f} % of the probability there (at most "
        f"{most:.1f} %) lay off the scale or was not shown by the server"
    )
    return [note]
