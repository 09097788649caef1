"""The program's version, for signatures and manifests."""

__version__ = "0.1.0"
