"""What a certificate does not cover of the run that it is of."""

from __future__ import annotations

from dataclasses import dataclass

from judge.ratings.ratings_table import RatingsTable


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Criteria and Eval-Prompts of a run that its certificate does not cover, since options left them out."""

    criteria: tuple[str, ...] = ()
    eval_prompts: tuple[str, ...] = ()

    @classmethod
    def between(cls, whole: RatingsTable, part: RatingsTable) -> LeftOut:
        """What `whole` has of the judges in `part`, and `part` has not."""
        judges = set(part.frame["judge"].dropna())
        rows = whole.frame[whole.frame["judge"].isin(judges)]
        criteria, prompts = (
            tuple(str(name) for name in rows[column].dropna().unique() if name not in set(part.frame[column]))
            for column in ("criterion", "eval_prompt")
        )
        return cls(criteria, prompts)

    @property
    def record(self) -> dict[str, list[str]]:
        """As plain data, for the certificate's file."""
        return {"criteria": list(self.criteria), "eval_prompts": list(self.eval_prompts)}

    @property
    def notes(self) -> list[str]:
        """Sentences on what is left out; none where nothing is."""
        kinds = (("criteria", self.criteria), ("Eval-Prompts", self.eval_prompts))
        return [f"left out, and not certified: the {kind} {', '.join(names)}" for kind, names in kinds if names]
