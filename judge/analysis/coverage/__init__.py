"""Coverage of requests to judges: repeats requested, answered and rated, and variables associated with lost ratings."""
