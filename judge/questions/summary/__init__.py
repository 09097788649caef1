"""Summaries of runs, each on one screen: verdicts by documented rules, the numbers behind them, and next steps."""
