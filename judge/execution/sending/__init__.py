"""Which request goes out next and when: order, pace, retries, limits, budget."""
