"""Interpretation of servers' refusals, and the settings that a request must leave out because of them."""
