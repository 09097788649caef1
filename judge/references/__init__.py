"""BibTeX entries of the works on which runs, methods and datasets rest."""

from judge.references.works import DATASETS, Work, bibtex, works

__all__ = ["DATASETS", "Work", "bibtex", "works"]
