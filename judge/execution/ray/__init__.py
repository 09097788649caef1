"""Runs on Ray: the driver, its workers, and the shards that they write."""
