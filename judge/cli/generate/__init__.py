"""Commands that have models write stories, and that check these stories."""
