"""Bundles: zip archives of runs for artifact review, and their verification."""
