"""BibTeX entries of the publications on which methods, datasets and runs are based."""

from judge.references.works import DATASETS, Work, bibtex, works

__all__ = ["DATASETS", "Work", "bibtex", "works"]
