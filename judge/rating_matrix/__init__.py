"""Rating matrices: ratings as arrays by judge cell and by person, on one axis of stories."""

from judge.rating_matrix.build import build
from judge.rating_matrix.matrix import Answers, Cell, Raters, RatingMatrix

__all__ = ["Answers", "Cell", "Raters", "RatingMatrix", "build"]
