"""The studies' released files, one reader each, and the packaged demo set."""
