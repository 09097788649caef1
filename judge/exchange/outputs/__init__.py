"""Results for other programs: files in their forms, from the same ratings table that every command reads."""
