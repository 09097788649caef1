"""Stress tests: a dataset's stories, changed on purpose, as a file that judges are run on."""
