"""The HANNA study's recipe, and each difference of this program's recipe from it.

A recipe is a set of switches, which are all off in `PUBLISHED`. A difference is either a correction, which this program
always makes, or a choice that can be defended either way. The effect of a choice is only shown next to the published
number.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference of this program's recipe for a published table from the study's method.

    Attributes
    ----------
    name : str
        Name of the switch on the command line.
    published, otherwise : str
        What the study does, and what is done with the switch on.
    why : str
        Reason for the difference.
    correction : bool
        True for a correction, False for a choice that can be defended either way.
    """

    name: str
    published: str
    otherwise: str
    why: str
    correction: bool = True


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the cells of a study's published tables are computed: one switch for each difference (in `DIFFERENCES`) from
    the study's method.

    With all switches off it is the study's method.
    """

    signed: bool = False
    exact_ties: bool = False
    on_scale: bool = False
    unrounded: bool = False
    leave_one_out: bool = False
    one_family: bool = False
    two_sided: bool = False
    clustered: bool = False
    keep_human: bool = False
    absolute_r23: bool = False

    def with_(self, name: str) -> Recipe:
        """Copy of the recipe with one more switch on. `name` is the switch's name on the command line."""
        return replace(self, **{name.replace("-", "_"): True})


DIFFERENCES = {
    difference.name: difference
    for difference in (
        Difference(
            "signed",
            "absolute correlations",
            "signed correlations",
            "without its sign a measure that goes against people seems to follow them; in comparisons "
            "BaryScore, a distance, is reversed",
        ),
        Difference(
            "exact-ties",
            "means ranked as floats",
            "means rounded to 1e-9, then ranked",
            "equal means differ by 1e-16 from rounding, which breaks exact ties",
        ),
        Difference(
            "on-scale",
            "judges' means below 1 kept",
            "left out, on both sides",
            "answers without a rating were averaged in as -1, which is no rating on a scale of 1 to 5",
        ),
        Difference(
            "unrounded",
            "means and half-widths of rounded numbers",
            "of unrounded numbers",
            "rounding twice moves a cell by one",
        ),
        Difference(
            "leave-one-out",
            "a rater against the mean of all three",
            "against the mean of the other two",
            "a mean that includes the rater follows that rater",
        ),
        Difference(
            "one-family",
            "BH by measure, p = 0 where not tested",
            "BH over all comparisons, all tested",
            "Benjamini-Hochberg ran down six criteria; a p of 0 for a comparison that was lost lowers its "
            "neighbours' adjusted p",
        ),
        Difference(
            "two-sided",
            "one-sided p for the higher correlation",
            "two-sided p",
            "the tail was chosen after the correlations were known",
        ),
        Difference(
            "clustered",
            "single ratings as independent",
            "story-prompts as independent units",
            "three ratings of one story are not three stories",
        ),
        Difference(
            "keep-human",
            "system Human left out",
            "kept",
            "its ratings are far above the others', so that it is easily distinguished from them",
            correction=False,
        ),
        Difference(
            "absolute-r23",
            "sign of r23 kept",
            "absolute r23",
            "r23 is the correlation of two measures with each other; other programs (nlpstats) drop its sign",
            correction=False,
        ),
    )
}
"""Name on the command line -> the difference."""

CORRECTIONS = tuple(name for name, difference in DIFFERENCES.items() if difference.correction)
PUBLISHED = Recipe()
OURS = Recipe(**{field.name: field.name.replace("_", "-") in CORRECTIONS for field in fields(Recipe)})
