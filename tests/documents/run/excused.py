"""Commands of the documentation that no test can run, each with the reason."""

STUDIES = (
    r"\b(mans_roc|mans_wp|storyer\w*|ttcw\w*|hanna_llm|hanna_user_study|user_study.csv|hanna-scores|reproduce|"
    r"salience|study)\b"
)
"""What names a study's files, which are there where JUDGE_DATA says so."""

_ENDLESS = "a server that runs until it is stopped"
_SLOW = "takes a minute; tests/self_test and the tutorial on audits run the same on less"
_FILE = "needs a file of a study or of WordNet that the tests have not"
_LOG = "the files of other programs at hand hold further criteria; tests/exchange/logs read them"
_PART = "needs a package that the test environment has not; make test-explain, test-vllm and test-stress have it"

EXCUSED: dict[str, str] = {
    "judge contamination score hanna --model hf/gpt2 --calibration wikimia.scores.jsonl -o hanna.scores.jsonl": _FILE,
    "judge import promptfoo results.json --column story=vars.id --criteria hanna --rescale 0-1": _LOG,
    "judge import deepeval test_run.json --criterion 'Coherence=Coherence [GEval]' --criteria hanna --rescale 0-1": _LOG,  # noqa: E501
    "judge import phoenix annotations.json --column judge==gpt-4o": _LOG,
    "judge import phoenix annotations.json --column judge==gpt-4o --scale 1-5": _LOG,
    "judge doctor --statistics": _SLOW,
    "judge explain ttcw_explanations --model tfidf --map tsne --by side --top 5 --figure ttcw_sides.png": _SLOW,
    'judge explain ttcw_explanations --criterion "Originality in Thought" --model tfidf --map tsne --by side --top 8': _SLOW,  # noqa: E501
    "judge explain ttcw_explanations --by side --figure sides.png": _SLOW,
    "judge explain ttcw_explanations --model tfidf --map tsne --by side --figure sides.png": _SLOW,
    "judge data add wordnet FOLDER": _FILE,
    "judge data add hanna ~/downloads/hanna_stories_annotations.csv": _FILE,
    "judge data check hanna": _FILE,
    "judge import hanna-answers llm_answers/beluga-13b.json --judge Beluga-13B -o runs/hanna-beluga-answers": _FILE,
    "judge train mans_roc -o models/roc --embed all-MiniLM-L6-v2": _PART,
    "judge train mine.jsonl -o models/bert --encoder answerdotai/ModernBERT-base": _PART,
    "judge train storyer_pairs -o models/bert --encoder answerdotai/ModernBERT-base": _PART,
    "judge measures systems mans_roc --model sentence-encoder=PATH": _PART,
    "judge run runs/my-run --engine ray --ray-actors 16 --ray-address auto": _PART,
    "judge audit serve runs/my-run": _ENDLESS,
    "judge audit serve runs/my-run --host 0.0.0.0 --port 9000": _ENDLESS,
    "judge try --serve": _ENDLESS,
    "judge try --serve --judge openai/gpt-4o-mini --criteria storyer": _ENDLESS,
    "judge try story.txt --against other.txt --serve --judge local/smollm2": _ENDLESS,
    "judge audit serve runs/demo": _ENDLESS,
    "judge audit serve audit.sqlite --host 0.0.0.0 --port 9000": _ENDLESS,
    "judge view runs": _ENDLESS,
}
"""Line of a command as it stands -> why it is not run; names and options of these are checked all the same."""
