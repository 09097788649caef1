"""The conditions of a certificate and its JSON file, written completely or not at all and checked on reading."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, get_args

from judge.asking.plan.queries import Plan
from judge.base.errors import DataError, JudgeError, OptionError, SpecError, unknown_value
from judge.base.files import write_output
from judge.base.fingerprint import fingerprint
from judge.base.foreign import json_file, reading
from judge.base.records import Criterion
from judge.base.wording import Advice

FloorName = Literal["tau", "icc", "coverage", "accuracy"]
RequirementName = Literal["replace", "control", "unbiased"]
FLOORS: tuple[str, ...] = get_args(FloorName)
REQUIREMENTS: tuple[str, ...] = get_args(RequirementName)

# Floor or requirement -> what has to hold.
MEANINGS = {
    "tau": "the lower end of the 95 % interval of Kendall's tau-b with people, over all stories, on every criterion",
    "icc": "the lower end of the 95 % interval of ICC(1,1) over repeats, on every criterion",
    "coverage": "the share of requested repeats that have a rating, on every criterion",
    "accuracy": "the lower end of the 95 % interval of balanced accuracy, on every criterion of labels",
    "replace": "the alternative annotator test is passed on every criterion, standard errors over story-prompts; tau "
    "lies above that of every uninformed judge (chance, the control, the number of words), over all stories and within "
    "systems; and nothing shows that it lies below one more person",
    "control": "the 95 % interval of the paired difference of tau from the control lies above 0 on every criterion",
    "unbiased": "every test of judge diagnose that applies can be made; the 95 % interval of each bias lies within the "
    "limit of its kind; no rater is repeated, and no person's scale runs against the others'",
}

# Share of the requested repeats that need a rating where no floor of coverage is given.
LEAST_RATED = 0.9


@dataclass(frozen=True, slots=True)
class Floor:
    """The statistic `name` is at least `value`: coverage itself, else the lower end of the 95 % interval, so that the
    condition is not met without an interval.
    """

    name: str
    value: float

    @property
    def words(self) -> str:
        """As the user writes it, for example ``tau=0.3``."""
        return f"{self.name}={self.value:g}"


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions that must hold for every certified Eval-Prompt and criterion. A floor of coverage is always among
    them, since every other figure is about the stories that were rated.
    """

    floors: tuple[Floor, ...] = ()
    requirements: tuple[str, ...] = ()

    @classmethod
    def of(cls, floors: Sequence[str], requirements: Sequence[str]) -> Conditions:
        """Conditions from words such as ``tau=0.3`` and ``replace``; without a floor of coverage that of 90 % is added.
        Raises OptionError for unknown words, and SpecError if there is no condition.
        """
        parsed = [_floor(words) for words in floors]
        names = [floor.name for floor in parsed]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise OptionError("floor", twice, "is given twice")
        for name in requirements:
            if name not in REQUIREMENTS:
                raise unknown_value("require", name, REQUIREMENTS)
        if not parsed and not requirements:
            raise SpecError(
                "a certificate needs a condition: a floor or a requirement",
                hint=Advice("{floor}, or {require}", floor="tau=0.3", require="replace"),
            )
        if "coverage" not in names:
            parsed.append(Floor("coverage", LEAST_RATED))
        return cls(tuple(parsed), tuple(dict.fromkeys(requirements)))


def _floor(words: str) -> Floor:
    name, _, number = words.partition("=")
    if name not in FLOORS:
        raise unknown_value("floor", name, FLOORS)
    try:
        value = float(number)
    except ValueError:
        raise OptionError("floor", words, "is not NAME=NUMBER", hint="e.g. tau=0.3") from None
    if not -1 <= value <= 1:
        raise OptionError("floor", words, "lies outside -1 to 1: shares and correlations are not in per cent")
    return Floor(name, value)


# Identity of the run that a certificate covers: judge, Eval-Prompts, criteria and settings, of a stored or a planned
# run.

# Parts of a run's definition that change answers; of `generation` all but the seed, which only draws others.
SETTINGS = ("generation", "api", "system", "structured", "scoring")


def settings_of(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in a run's definition that affect its answers, by name. `wording` is the hash of the prompt texts that
    are taken from a study's publication; None if there are none.
    """
    settings = {name: definition.get(name) for name in SETTINGS}
    settings["generation"] = {key: value for key, value in (settings["generation"] or {}).items() if key != "seed"}
    published = definition.get("published")
    return settings | {"wording": None if published is None else fingerprint(published)}


def criteria_of(criteria: Iterable[Criterion]) -> dict[str, str]:
    """Hash of each criterion's definition, scale and guidelines, by name."""
    return {criterion.name: fingerprint(criterion.record()) for criterion in criteria}


def identity_of(plan: Plan) -> dict[str, Any]:
    """What a planned run is compared by: judge, settings, Eval-Prompts, criteria and repeats."""
    definition = plan.definition()
    return {
        "judge": {"name": plan.spec.judge, "judge_key": definition["judge_key"]},
        "settings": settings_of(definition),
        "eval_prompts": dict(definition["eval_prompts"]),
        "criteria": criteria_of(plan.criteria),
        "repeats": plan.spec.repeats,
    }


class UncertifiedError(JudgeError):
    """Raised when a certificate does not cover the planned run."""


def check(certificate: Mapping[str, Any], plan: Plan, file: Path, today: date) -> None:
    """Raise UncertifiedError if the certificate does not cover the planned run, if not all its conditions hold, or if
    the certified model is shut down by `today`. The message names `file` and lists every reason.
    """
    asked = identity_of(plan)
    with reading(file, "a certificate"):
        misfits = list(_misfits(certificate, asked, today))
    if misfits:
        raise UncertifiedError(
            f"{file} does not cover this run: {'; '.join(misfits)}",
            hint="judge certify RUN certifies what a run reached; ask with what was certified, or leave it out",
        )


def _misfits(certificate: Mapping[str, Any], asked: Mapping[str, Any], today: date) -> Iterator[str]:
    if certificate["holds"] is not True:
        failed = [str(condition["condition"]) for condition in certificate["conditions"] if not condition["holds"]]
        yield f"its conditions do not hold ({', '.join(failed)})"
    judge, wanted = certificate["judge"], asked["judge"]
    if judge.get("judge_key") is None:
        yield f"it is of {judge.get('name')}, whose ratings were imported: the judge that gave them is not recorded"
        return
    if judge["judge_key"] != wanted["judge_key"]:
        yield f"it is of another judge ({judge.get('name')}; provider, model or identity, revision, engine)"
    if certificate["settings"] != asked["settings"]:
        theirs, mine = certificate["settings"], asked["settings"]
        names = [name for name in mine if theirs.get(name) != mine[name]]
        yield f"settings differ: {', '.join(names)}"
    hashes = set(certificate["eval_prompts"].values())
    # By the wording: a template of the same name may have been changed since.
    prompts = [name for name, value in asked["eval_prompts"].items() if value not in hashes]
    if prompts:
        yield f"it covers no Eval-Prompt of this wording: {', '.join(prompts)}"
    criteria = [name for name, value in asked["criteria"].items() if certificate["criteria"].get(name) != value]
    if criteria:
        yield f"it does not cover the criteria {', '.join(criteria)} (definition, scale and guidelines)"
    # A mean of fewer repeats is noisier, and agrees less than was certified; of more it agrees no less.
    if asked["repeats"] < certificate["repeats"]:
        yield f"it is of the mean of {certificate['repeats']} repeats, and {asked['repeats']} are asked for"
    ends = (certificate.get("model_life") or {}).get("on")
    if ends is not None and date.fromisoformat(ends) < today:
        yield f"the model was to be shut down on {ends}: what answers to its name now may be another"


FORMAT = "judge-certificate/2"
_KEYS = ("holds", "judge", "settings", "eval_prompts", "criteria", "left_out", "repeats", "conditions", "rows", "dates")


def text_of(certificate: Mapping[str, Any]) -> str:
    # NaN, which JSON does not have, would make a file that other programs cannot read.
    return json.dumps(certificate, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write(certificate: Mapping[str, Any], path: Path) -> None:
    """Raises SpecError if the file cannot be written."""
    write_output(path, text_of(certificate))


def read(path: Path) -> dict[str, Any]:
    """The file's content. Raises DataError if it is not a certificate of this format."""
    hint = f"judge certify RUN -o {path} writes one"
    data = json_file(path, what="certificate", hint=hint)
    form = data.get("format")
    if form != FORMAT:
        raise DataError("no certificate", file=path, column="format", found=form, allowed=FORMAT, hint=hint)
    for key in _KEYS:
        if key not in data:
            raise DataError("a certificate lacks a field", file=path, column=key, hint=hint)
    return dict(data)
