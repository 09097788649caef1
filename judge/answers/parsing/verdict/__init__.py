"""Parses answers that compare two stories. A preference counts only if the answer states it."""

from __future__ import annotations

from judge.answers.parsing.verdict.parser import CHOICES, VERSION, Shares, parse_verdict, soft_verdict

__all__ = ["CHOICES", "VERSION", "Shares", "parse_verdict", "soft_verdict"]
