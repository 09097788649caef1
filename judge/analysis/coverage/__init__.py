"""What was asked, answered and rated, and what loss goes with."""
