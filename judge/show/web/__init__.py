"""Local web pages, rendered on the server. Other machines can reach them only at the user's request and with a key."""
