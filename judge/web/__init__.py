"""Local pages, rendered on the server; other machines reach them only where this is asked for, and with a key."""
