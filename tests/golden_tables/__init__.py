"""Golden JSON of every table command: what must stay equal, to 1e-9, when code is moved or renamed.

`commands.yaml` names the calls, in two groups: of the demo run and runs beside it (`demo/`), and of the HANNA study's
released scores and other released files (`hanna/`, skipped without JUDGE_DATA). `python -m tests.golden_tables.write`
makes the golden files again.

Left out, as `.[dev]` does not bring what they need: `judge explain` with a sentence model, UMAP or YAKE (the extra
`explain`, so also `--set as_published=true` and `--map umap`), `judge contamination auc --model` (a model), and
`judge demo --judge local/smollm2`. Left out, as what they print is the machine's or a server's: `judge doctor` without
`--set control=true`, `judge run --batch status` of batches that were sent, `judge data list` of JUDGE_DATA.
Left out, as it takes ten seconds and has tests of its own in `tests/self_test`: `judge doctor --statistics`.
Left out, as its file must be fetched from elsewhere: `judge data check hanna`.

Files in `inputs/` were made once: `demo.scores.jsonl` and `books.scores.jsonl` by the bigram model of
`tests/contamination`, `audited.csv` by `judge audit export` of an audit of the demo run with made-up answers.
`scores.csv` holds made-up ratings of two judges and two people.
"""
