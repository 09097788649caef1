"""Writes label_studio.json: annotations in Label Studio's own form, made by its SDK for our labeling configuration.

    pip install label-studio-sdk==2.1.2
    judge audit export AUDIT --to label-studio -o tasks.json       # any audit with the shipped categories
    python tests/golden/label_studio.py tasks.xml tasks.json > tests/golden/label_studio.json

The SDK refuses a configuration that Label Studio would not take, tasks whose data do not fit it, and annotations that
do not fit either.
"""

import json
import sys
from pathlib import Path

from label_studio_sdk.label_interface import LabelInterface

interface = LabelInterface(Path(sys.argv[1]).read_text(encoding="utf-8"))
interface.validate()
for task in json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")):
    assert interface.validate_task(task)
made = []
for number in range(3):
    annotation = interface.generate_sample_annotation()
    annotation |= {"id": number + 1, "completed_by": 10 + number, "lead_time": 4.25}
    assert interface.validate_annotation(annotation)
    made.append(annotation)
print(json.dumps(made, indent=1))
