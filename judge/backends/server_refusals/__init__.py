"""Interprets servers' refusals, and determines which settings a request must leave out because of them."""
