"""Parts that all HTML pages share: the template environment, the stylesheet, charts."""

from judge.show.pages.environment import environment, stylesheet

__all__ = ["environment", "stylesheet"]
