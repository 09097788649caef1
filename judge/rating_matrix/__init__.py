"""Ratings as arrays: judge cells and people by story, means, codes made once. Never fills a gap."""

from judge.rating_matrix.build import build
from judge.rating_matrix.matrix import Answers, Cell, Raters, RatingMatrix

__all__ = ["Answers", "Cell", "Raters", "RatingMatrix", "build"]
