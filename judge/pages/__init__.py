"""Shared parts of all HTML pages: the template environment, the stylesheet, charts."""

from judge.pages.environment import environment, stylesheet

__all__ = ["environment", "stylesheet"]
