"""Messages from the page of `judge try`: the form's texts and criteria set, within limits of length. The judge is not
part of a message, since it is fixed when the server starts.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from judge.base.errors import SpecError
from judge.base.records import Story

MOST = 60_000
"""Characters of a text: 10,000 words, three times the longest story of the studies' datasets."""

OWN, OTHER = "your story", "the second story"
_Text = Annotated[str, StringConstraints(max_length=MOST)]


class Message(BaseModel):
    """The content of the form of a trial: the name of the criteria set, and texts as they were pasted; "" = not
    given.
    """

    model_config = ConfigDict(extra="forbid", strict=True)
    criteria: Annotated[str, StringConstraints(max_length=200)]
    story: _Text
    story_prompt: _Text = ""
    reference: _Text = ""
    other: _Text = ""

    @property
    def own(self) -> Story:
        """The user's own story, which is judged in the trial."""
        return self._story(OWN, self.story)

    @property
    def second(self) -> Story | None:
        """The other story of the trial, with which the user's own story is compared; None where it is not given."""
        return self._story(OTHER, self.other) if self.other.strip() else None

    def _story(self, name: str, text: str) -> Story:
        return Story(name, self.story_prompt.strip(), "unknown", text, self.reference.strip() or None)


def read_message(text: bytes) -> Message:
    """The content of the form, parsed from the body of a request. Raises SpecError with a sentence for the person who
    filled in the form.
    """
    try:
        return Message.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        name = " ".join(str(part) for part in first["loc"]).replace("_", "-")
        if first["type"] == "string_too_long":
            raise SpecError(f"{name} has more than {MOST:,} characters", hint="this page takes short stories") from None
        raise SpecError(f"{name + ': ' if name else ''}{first['msg']}") from None
