"""Commands over tables, events and a memory: `score`, `explain`, `act`, `query`, `alerts`."""
