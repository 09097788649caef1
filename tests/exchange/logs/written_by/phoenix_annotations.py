"""Writes the fixture of Phoenix with the real tool.

`pip install arize-phoenix==20.26.1`, then `python phoenix_annotations.py`.

A Phoenix server on this machine keeps the spans and annotations; they are read back by `phoenix.client`.
"""

import json
import os
import tempfile
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

FILES = Path(__file__).resolve().parents[1] / "files"
os.environ |= {"PHOENIX_PORT": "16016", "PHOENIX_GRPC_PORT": "14327", "PHOENIX_TELEMETRY_ENABLED": "false"}
os.environ["PHOENIX_WORKING_DIR"] = tempfile.mkdtemp()

import phoenix  # noqa: E402
from phoenix.client import Client  # noqa: E402

phoenix.launch_app(use_temp_dir=True)
client = Client(base_url="http://127.0.0.1:16016")
now = datetime(2026, 11, 23, tzinfo=UTC).isoformat()
ids = [f"{number:016x}" for number in range(1, 5)]
spans = [
    {
        "name": "story",
        "context": {"trace_id": f"{number:032x}", "span_id": span},
        "span_kind": "LLM",
        "start_time": now,
        "end_time": now,
        "status_code": "OK",
        "attributes": {"input.value": f"Write about lamp {number}.", "output.value": f"Lamp {number} was old."},
    }
    for number, span in enumerate(ids)
]
client.spans.log_spans(project_identifier="default", spans=spans)
while len(client.spans.get_spans(project_identifier="default")) < len(spans):
    time.sleep(0.2)


def annotation(span, name, kind, identifier="", metadata=None, **result):
    """One annotation as the API takes it."""
    return {
        "span_id": span,
        "name": name,
        "annotator_kind": kind,
        "identifier": identifier,
        "result": result,
        "metadata": metadata or {},
    }


given = []
for number, span in enumerate(ids):
    if number < 3:
        given.append(annotation(span, "coherence", "LLM", score=0.25 * number, label="x", explanation="It flows."))
    else:
        given.append(annotation(span, "coherence", "LLM", explanation="Error: content_filter"))
    given.append(annotation(span, "coherence", "HUMAN", identifier="ann", score=float(number)))
    given.append(annotation(span, "funny", "LLM", label="yes" if number % 2 else "no", metadata={"model": "gpt-4o"}))
    given.append(annotation(span, "words", "CODE", score=4.0))
client.spans.log_span_annotations(span_annotations=given, sync=True)
found = client.spans.get_span_annotations(span_ids=ids, project_identifier="default")
number = version("arize-phoenix")
(FILES / f"phoenix-{number}.json").write_text(json.dumps({"data": found, "next_cursor": None}, indent=1) + "\n")
frame = client.spans.get_span_annotations_dataframe(span_ids=ids, project_identifier="default")
frame.reset_index().to_csv(FILES / f"phoenix-{number}-dataframe.csv", index=False)
values = [
    [
        one["span_id"],
        one["name"],
        one["annotator_kind"],
        (one["result"] or {}).get("score"),
        (one["result"] or {}).get("label"),
    ]
    for one in found
]
about = {"tool": "arize-phoenix", "version": number, "read_by": "phoenix.client.Client().spans.get_span_annotations"}
(FILES / "phoenix.expected.json").write_text(json.dumps(about | {"values": values}, indent=1) + "\n")
os._exit(0)
