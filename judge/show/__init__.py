"""Answers as pages: report, view, audit and the parts that they share."""
