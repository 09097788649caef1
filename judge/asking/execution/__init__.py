"""Execution of a run: every query of the plan is sent to the judge, and every attempt is journaled."""

from judge.asking.execution.sending.runner import Outcomes, Run, split_calls, works

__all__ = ["Outcomes", "Run", "split_calls", "works"]
