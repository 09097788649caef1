"""The prompts of a released study are Eval-Prompts as they stand: filled in, they are the released text to the byte."""

from __future__ import annotations

import csv
from pathlib import Path

from judge.base.records import Criterion, Scale, Story
from judge.inputs.eval_prompts.template import parse_eval_prompt

# The study's names of what is filled in, and a template's.
FIELDS = {"{{Document}}": "{{ story_prompt }}", "{{Fact}}": "{{ reference }}", "{{Response}}": "{{ story }}"}
NAMES = {"nat": "Naturalness", "coh": "Coherence", "eng": "Engagingness", "gro": "Groundedness"}


def test_a_released_prompt_is_rendered_to_the_byte(studies: Path) -> None:
    folder = studies / "closer_look"
    with (folder / "replies.csv").open(encoding="utf-8", newline="") as stream:
        reply = next(csv.DictReader(stream))
    filled = {"{{Document}}": reply["source"], "{{Fact}}": reply["context"], "{{Response}}": reply["text"]}
    story = Story(reply["reply"], reply["source"], reply["system"], reply["text"], reference=reply["context"])
    files = sorted((folder / "prompts").glob("*.txt"))
    assert len(files) == 28
    for file in files:
        released = file.read_bytes().decode("utf-8")
        template, expected = released, released
        for field, name in FIELDS.items():
            template, expected = template.replace(field, name), expected.replace(field, filled[field])
        assert template != released
        # Of a template the last line's end is left out.
        source = f"---\ndescription: {file.stem}\n---\n{template}\n"
        eval_prompt = parse_eval_prompt(source, file.with_suffix(".jinja"))
        name = NAMES[file.stem[:3]]
        low, high = (0, 1) if name == "Groundedness" else (1, 3)
        (message,) = eval_prompt.render(story, Criterion(name, name[:2].upper(), name.lower(), Scale(low, high)))
        assert message.content == expected, file.name
