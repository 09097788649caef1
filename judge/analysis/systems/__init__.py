"""How good each system's stories are."""
