"""Rating matrices: arrays of ratings by judges and by people, with one common axis of stories."""

from judge.ratings.rating_matrix.build import build, built_once
from judge.ratings.rating_matrix.matrix import Answers, Cell, Raters, RatingMatrix

__all__ = ["Answers", "Cell", "Raters", "RatingMatrix", "build", "built_once"]
