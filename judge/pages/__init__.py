"""What every page stands on: the template environment, one stylesheet, charts. Never knows what a page is about."""

from judge.pages.environment import environment, stylesheet

__all__ = ["environment", "stylesheet"]
