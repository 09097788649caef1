"""The words and phrases by which judges state ratings."""
