"""Entry point of the command line for ``python -m judge``."""

from judge.cli.main import main

main()
