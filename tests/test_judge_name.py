"""A judge's name in its parts."""

from __future__ import annotations

import pytest

from judge.base.credentials.providers import JudgeName


@pytest.mark.parametrize(
    ("judge", "provider", "model"),
    [
        ("openai/gpt-4o-mini", "openai", "gpt-4o-mini"),
        ("hf/org/model", "hf", "org/model"),
        ("hf//models/with/a/path", "hf", "/models/with/a/path"),
        ("surface", "surface", ""),
        ("", "", ""),
    ],
)
def test_a_name_is_cut_at_its_first_slash(judge: str, provider: str, model: str) -> None:
    assert JudgeName.of(judge) == (provider, model)


def test_control_and_script_are_no_language_models() -> None:
    names = {judge: JudgeName.of(judge) for judge in ("surface", "scripted/a.yaml", "recorded/a.jsonl", "vllm/m")}
    assert [judge for judge, name in names.items() if name.is_modelless] == [*names][:3]
    assert [judge for judge, name in names.items() if name.is_control] == ["surface"]
    assert [judge for judge, name in names.items() if name.is_scripted] == ["scripted/a.yaml"]
