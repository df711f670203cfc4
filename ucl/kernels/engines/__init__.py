"""Two ways to make and combine masks: NumPy, which is always there, and compiled loops; and the choice between them."""
