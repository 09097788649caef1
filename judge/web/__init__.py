"""Local pages, rendered on the server. Never reached from elsewhere unless told so, and never without a key then."""
