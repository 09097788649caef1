"""Writes the fixture of Langfuse: `pip install langfuse==5.0.4`, then `python langfuse_scores.py`.

No server of Langfuse runs here: the library's own classes of what its API answers write the file and read it back.
"""

import json
from importlib.metadata import version
from pathlib import Path

from langfuse.api.commons.types.boolean_score import BooleanScore
from langfuse.api.commons.types.categorical_score import CategoricalScore
from langfuse.api.commons.types.numeric_score import NumericScore
from langfuse.api.commons.types.text_score import TextScore
from langfuse.api.core.pydantic_utilities import parse_obj_as

FILES = Path(__file__).resolve().parents[1] / "files"
WHEN = "2026-11-23T00:00:00.000Z"
KINDS = {"NUMERIC": NumericScore, "BOOLEAN": BooleanScore, "CATEGORICAL": CategoricalScore, "TEXT": TextScore}


def score(number, name, kind, source, **more):
    """One score as the API answers it."""
    base = {
        "id": f"{name}-{source}-{number}",
        "traceId": f"trace-{number}",
        "name": name,
        "source": source,
        "dataType": kind,
        "environment": "default",
        **dict.fromkeys(("timestamp", "createdAt", "updatedAt"), WHEN),
    }
    parse_obj_as(KINDS[kind], base | more)
    return base | more


scores = []
for number in range(4):
    scores.append(score(number, "coherence", "NUMERIC", "EVAL", value=0.25 * number, comment="It flows."))
    scores.append(score(number, "coherence", "NUMERIC", "ANNOTATION", value=number + 1, authorUserId="ann"))
    said = "True" if number % 2 else "False"
    scores.append(score(number, "funny", "BOOLEAN", "EVAL", value=number % 2, stringValue=said))
    scores.append(
        score(number, "genre", "CATEGORICAL", "API", value=0, stringValue="tale", metadata={"model": "gpt-4o"})
    )
scores.append(score(0, "note", "TEXT", "ANNOTATION", stringValue="Nice.", authorUserId="ann"))
number = version("langfuse")
(FILES / f"langfuse-{number}.json").write_text(
    json.dumps({"data": scores, "meta": {"page": 1, "limit": 50, "totalItems": len(scores), "totalPages": 1}}, indent=1)
    + "\n"
)
read = json.loads((FILES / f"langfuse-{number}.json").read_text())["data"]
values = []
for one in read:
    typed = parse_obj_as(KINDS[one["dataType"]], one)
    values.append(
        [
            typed.trace_id,
            typed.name,
            typed.source.value,
            getattr(typed, "value", None),
            getattr(typed, "string_value", None),
        ]
    )
about = {"tool": "langfuse", "version": number, "read_by": "langfuse.api.commons.types.*Score"}
(FILES / "langfuse.expected.json").write_text(json.dumps(about | {"values": values}, indent=1) + "\n")
