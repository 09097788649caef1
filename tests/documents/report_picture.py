"""The picture of the demo's report, and the words on it: `python -m tests.documents.report_picture`.

The picture needs Chromium and Playwright (`make test-browser` sets both up). The words stand beside it in a text file,
so that a test without a browser notices when the program's report no longer says what the picture shows.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

from judge.demo import demo_report, run_demos
from tests.documents.blocks import ROOT

PICTURE = ROOT / "docs/pictures/report.png"
WORDS = PICTURE.with_suffix(".txt")
SECTION = "summary"
WIDTH, HEIGHT = 1200, 1250


def demo_page(folder: Path) -> Path:
    """The report that `judge demo` writes, made in an empty folder."""
    with contextlib.chdir(folder):
        results = run_demos(Path("runs/demo"), "surface", quiet=True)
        return (folder / demo_report(Path("runs/demo"), *results)).resolve()


class _Words(HTMLParser):
    """Collects the words of one section, a line for each piece of text."""

    def __init__(self, identity: str) -> None:
        super().__init__()
        self.identity, self.inside, self.lines = identity, False, list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "section":
            self.inside = ("id", self.identity) in attrs

    def handle_endtag(self, tag: str) -> None:
        if tag == "section":
            self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside and data.strip():
            self.lines.append(" ".join(data.split()))


def words(page: Path) -> str:
    """The words of the report's first box."""
    reader = _Words(SECTION)
    reader.feed(page.read_text(encoding="utf-8"))
    return "\n".join(reader.lines) + "\n"


def photograph(page: Path, browser: str) -> None:
    """The top of the page as the picture."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        opened = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        opened.goto(page.as_uri())
        opened.screenshot(path=str(PICTURE))
        chromium.close()


def main() -> int:
    """Write the picture and its words."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print("no Chromium is installed: make test-browser")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        page = demo_page(Path(folder))
        WORDS.write_text(words(page), encoding="utf-8")
        photograph(page, browser)
    return 0


if __name__ == "__main__":
    sys.exit(main())
