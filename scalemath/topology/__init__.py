"""Networks that count themselves: switched domains, fat trees, direct networks, clusters."""
