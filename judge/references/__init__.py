"""Works that runs, methods and datasets rest on, as BibTeX. Never lists one that is not asked for."""

from judge.references.works import DATASETS, Work, bibtex, works

__all__ = ["DATASETS", "Work", "bibtex", "works"]
