"""Audits of judges' explanations by human annotators: drawing a sample, storing the answers, exchanging them with other
programs, and the report.

`store` keeps one audit in one SQLite file, `sampling` draws items from runs, and `report` turns answers into tables.
The web pages for annotators are in another package, which only uses `AuditStore`.
"""
