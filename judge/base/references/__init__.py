"""BibTeX entries of the publications on which methods, datasets and runs are based."""

from judge.base.references.works import DATASETS, Work, bibtex, works

__all__ = ["DATASETS", "Work", "bibtex", "works"]
