"""Reads answers about several criteria. The parser of single ratings reads each criterion's part of the answer."""
