"""The sections of the report page, one module for each."""
