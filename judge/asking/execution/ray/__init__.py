"""Runs on Ray: the driver, its workers, and the shards (Parquet files of answers) that workers write."""
