"""Writes docs/providers.md from the program's facts: `python -m tests.conformance.provider_page --write`."""

from __future__ import annotations

import sys
from pathlib import Path

from judge.backends.provider_check import ProviderFacts, provider_facts

PAGE = Path(__file__).resolve().parents[2] / "docs" / "providers.md"

_HEAD = """# Providers and servers

What is known of endpoints, from documentation and from public threads up to November 2026: of those that speak OpenAI's
protocol (`judge: openai/MODEL`), and of providers' own protocols where `judge` speaks them (`judge: anthropic/MODEL`,
`judge: gemini/MODEL`). **No live endpoint was asked.** "Tried" says what `judge` was run against: an imitation of the
documented API (`tests/conformance`), or nothing. `judge doctor --provider NAME` prints the same facts, and whether key,
server and model are there. What a server refuses of a call's shape (`n`, the name of `max_tokens`) `judge` learns by
itself; a setting of the judge's definition that is refused stops the run at its first query, with the key of run.yaml
to change. Names of models are examples.

This page is made from `judge/backends/provider_facts.yaml`: `python -m tests.conformance.provider_page --write`.
"""


def page() -> str:
    """The whole page."""
    known = [facts for facts in provider_facts().values() if facts.sources]
    others = [facts for facts in provider_facts().values() if not facts.sources]
    listed = "".join(f"| {one.title} | `{one.name}` | {_keys(one)} | `{one.base_url}` |\n" for one in others)
    table = f"| provider | NAME | key | base_url |\n|---|---|---|---|\n{listed}"
    ends = f"\n## Others\n\nOf these only key and address are known. Tried: never.\n\n{table}"
    return _HEAD + "".join(_section(facts) for facts in known) + ends


def _section(facts: ProviderFacts) -> str:
    lines = [
        "",
        f"## {facts.title}",
        "",
        f"- Name for `judge doctor --provider`: `{facts.name}`. Key: {_keys(facts)}.",
        "",
        "```yaml",
        facts.run_lines().rstrip(),
        "```",
        "",
        f"- Refused: {_settings(facts.refused)}",
        f"- Ignored: {_settings(facts.ignored)}",
        *(f"- {trap}" for trap in facts.traps),
        f"- Tried: {_tried(facts)}. Sources: {', '.join(facts.sources)}.",
    ]
    return "\n".join(lines) + "\n"


def _keys(facts: ProviderFacts) -> str:
    if facts.provider is None:
        return "none is needed; `OPENAI_API_KEY` is sent if you trust the server (`JUDGE_TRUSTED_HOSTS`)"
    return " or ".join(f"`{name}`" for name in facts.provider.variables)


def _settings(settings: object) -> str:
    assert isinstance(settings, dict)
    if not settings:
        return "nothing that is known."
    return "; ".join(f"`{name}` ({words})" for name, words in settings.items()) + "."


def _tried(facts: ProviderFacts) -> str:
    return "against an imitation of the documented API" if facts.tried == "imitation" else "never"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(page(), encoding="utf-8")
    else:
        sys.stdout.write(page())
