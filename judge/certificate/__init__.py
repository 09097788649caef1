"""A certificate: what a judge reached with people under which templates and criteria, and whether that is enough."""
