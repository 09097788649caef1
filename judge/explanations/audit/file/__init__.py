"""The SQLite file of an audit, and the classes of the values stored in it."""
