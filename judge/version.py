"""Version of the program, for signatures of results and manifests of runs."""

__version__ = "0.1.0"
