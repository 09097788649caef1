"""People judge explanations: a sample, the file that holds it with every answer, exchange, and the report.

`store` keeps one audit in one SQLite file; `sampling` draws items from runs; `report` turns answers into tables. Pages
that ask people are elsewhere and only use `AuditStore`.
"""
