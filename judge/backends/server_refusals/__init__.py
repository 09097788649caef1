"""What servers refuse, how they say it, and what a request must leave out."""
