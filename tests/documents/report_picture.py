"""The picture at the head of the README, and the words of its box: `python -m tests.documents.report_picture`.

It is the report of HANNA's released scores: five language models, four Eval-Prompts. The picture needs Chromium and
Playwright (`make test-browser` sets both up) and the study's files (`JUDGE_DATA`). The words stand beside it in a text
file, so that a test without a browser notices when the program no longer says what the picture shows.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.documents.blocks import ROOT
from tests.report.runs import hanna

PICTURE = ROOT / "docs/pictures/report.png"
WORDS = PICTURE.with_suffix(".txt")
WIDTH, HEIGHT = 1200, 850
TITLE = "Five judges on the stories of HANNA"


def words(studies: Path, folder: Path) -> str:
    """What `judge summary` prints of the scores, which are written into `folder`: the box of the report in words."""
    from judge.questions.summary import screen
    from judge.questions.summary.kept import summaries_of

    run = Path("runs/hanna")
    with contextlib.chdir(folder):
        if not run.exists():
            hanna(studies, run)
        return screen.text(summaries_of([run], [str(run)])[0], 100)


def photograph(folder: Path, browser: str) -> None:
    """The box at the top of the report of the run in `folder`, as the picture."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "judge", "report", "runs/hanna", "-o", "report.html", "--set", f"title={TITLE}"]
    subprocess.run(command, check=True, cwd=folder)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        opened = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        opened.goto((folder / "report.html").resolve().as_uri())
        opened.screenshot(path=str(PICTURE))
        chromium.close()


def main() -> int:
    """Write the picture and its words."""
    browser, studies = shutil.which("chromium") or shutil.which("google-chrome"), os.environ.get("JUDGE_DATA")
    if browser is None or studies is None:
        print("needs Chromium (make test-browser) and the studies' files (JUDGE_DATA)")
        return 1
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        WORDS.write_text(words(Path(studies), folder), encoding="utf-8")
        photograph(folder, browser)
    return 0


if __name__ == "__main__":
    sys.exit(main())
