"""Asks a judge everything a plan holds, and journals every attempt. Parses only for display."""

from judge.execution.sending.runner import Outcomes, Run, split_calls, works

__all__ = ["Outcomes", "Run", "split_calls", "works"]
