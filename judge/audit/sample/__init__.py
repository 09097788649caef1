"""Which explanations an audit asks about."""
