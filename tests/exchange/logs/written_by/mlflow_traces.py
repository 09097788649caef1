"""Writes the fixture of MLflow with the real tool.

`pip install mlflow-skinny==3.17.2 sqlalchemy alembic pandas`, then `python mlflow_traces.py`.

The traces lie in a store of MLflow's own. The expected values are read back by `mlflow.get_trace`.
"""

import json
import os
import tempfile
from pathlib import Path

FILES = Path(__file__).resolve().parents[1] / "files"
os.environ["MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"] = "false"

os.chdir(tempfile.mkdtemp())

import mlflow  # noqa: E402
from mlflow.entities import AssessmentError, AssessmentSource  # noqa: E402

mlflow.set_tracking_uri("sqlite:///mlflow.db")
JUDGE = AssessmentSource("LLM_JUDGE", "gpt-4o")
ann, bob = (AssessmentSource("HUMAN", name) for name in ("ann", "bob"))
traces = []
for number in range(4):
    with mlflow.start_span(name="story") as span:
        span.set_inputs({"prompt": f"Write about lamp {number}."})
        span.set_outputs(f"Lamp {number} was old.")
    trace = span.trace_id
    traces.append(trace)
    mlflow.set_trace_tag(trace, "story", f"s{number}")
    if number < 2:
        mlflow.log_feedback(trace_id=trace, name="coherence", value=4 - number, rationale="It flows.", source=JUDGE)
        mlflow.log_feedback(trace_id=trace, name="funny", value=number == 0, rationale="A joke.", source=JUDGE)
    else:
        failed = (
            AssessmentError("RATE_LIMIT_EXCEEDED", "slow down")
            if number == 2
            else AssessmentError("BAD_REQUEST", "Error code: 400 - content_filter")
        )
        mlflow.log_feedback(trace_id=trace, name="coherence", error=failed, source=JUDGE)
    mlflow.log_feedback(trace_id=trace, name="coherence", value=number % 5 + 1, source=ann)
    mlflow.log_feedback(trace_id=trace, name="length", value=20.0 + number, source=AssessmentSource("CODE", "words.py"))
mlflow.log_expectation(trace_id=traces[0], name="coherence", value=5, source=bob)
first = next(one for one in mlflow.get_trace(traces[0]).info.assessments if one.name == "coherence" and one.feedback)
mlflow.override_feedback(
    trace_id=traces[0], assessment_id=first.assessment_id, value=2, rationale="On reflection.", source=JUDGE
)
found = [mlflow.get_trace(trace) for trace in traces]
version = mlflow.__version__
told = [json.loads(trace.to_json()) for trace in found]
for one in told:
    # Where it was written is nobody's business.
    about = one["info"]["trace_metadata"]
    one["info"]["trace_metadata"] = {key: value for key, value in about.items() if ".source." not in key}
    del one["info"]["tags"]["mlflow.artifactLocation"]
(FILES / f"mlflow-{version}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in told))
values = [
    {
        "trace": trace.info.trace_id,
        "name": one.name,
        "kind": one.source.source_type,
        "who": one.source.source_id,
        "value": one.feedback.value if one.feedback else one.expectation.value,
        "error": one.feedback.error.error_code if one.feedback and one.feedback.error else None,
        "valid": one.valid,
        "is_feedback": one.feedback is not None,
    }
    for trace in found
    for one in trace.info.assessments
]
about = {"tool": "mlflow", "version": version, "read_by": "mlflow.get_trace(...).info.assessments"}
(FILES / "mlflow.expected.json").write_text(json.dumps(about | {"values": values}, indent=1) + "\n")
