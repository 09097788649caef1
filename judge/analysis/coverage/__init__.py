"""Coverage of requests: repeats asked, answered and rated, and what loss is associated with."""
