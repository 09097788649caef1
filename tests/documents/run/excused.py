"""Commands of the documentation that are not run page by page: servers, slow ones, and those that no test can run."""

STUDIES = (
    r"\b(mans_roc|mans_wp|storyer\w*|ttcw\w*|hanna_llm|hanna_user_study|user_study.csv|hanna[-_]scores|reproduce|plotguided|"
    r"salience|study)\b"
)
"""What names a study's files, which are there where JUDGE_DATA says so."""

_FILE = "needs a file of a study or of WordNet that the tests have not"
_PART = "needs a package that the test environment has not; make test-explain, test-vllm and test-stress have it"

EXCUSED: dict[str, str] = {
    "judge contamination score hanna --model hf/gpt2 --calibration wikimia.scores.jsonl -o hanna.scores.jsonl": _FILE,
    "judge data add wordnet FOLDER": _FILE,
    "judge data add hanna ~/downloads/hanna_stories_annotations.csv": _FILE,
    "judge data check hanna": _FILE,
    "judge train mans_roc -o models/roc --embed all-MiniLM-L6-v2": _PART,
    "judge train mine.jsonl -o models/bert --encoder answerdotai/ModernBERT-base": _PART,
    "judge train storyer_pairs -o models/bert --encoder answerdotai/ModernBERT-base": _PART,
    "judge measures mans_roc --systems --model sentence-encoder=PATH": _PART,
    "judge run runs/my-run --engine ray --ray-actors 16 --ray-address auto": _PART,
}
"""Line of a command as it stands -> why it is not run; names and options of these are checked all the same."""

SERVERS = [
    "judge audit serve runs/my-run",
    "judge audit serve runs/my-run --host 0.0.0.0 --port 9000",
    "judge audit serve runs/my-run --show-judge",
    "judge try --serve",
    "judge try --serve --judge openai/gpt-4o-mini --criteria storyer",
    "judge try story.txt --against other.txt --serve --judge local/smollm2",
    "judge audit serve runs/demo",
    "judge audit serve audit.sqlite --host 0.0.0.0 --port 9000",
    "judge people serve people.sqlite",
    "judge view runs",
]
"""Commands that serve pages until they are stopped; `test_servers_run.py` starts each and asks for its first page."""

SLOW = [
    "judge doctor --statistics",
    "judge explain ttcw_explanations --layout clusters --model tfidf --map tsne --by side --set figure=sides.png",
    'judge explain ttcw_explanations --criterion "Originality in Thought" --layout clusters --by side --top 8',
]
"""Commands that take a minute; `test_slow_commands_run.py` runs them as a part of `make site`."""
