"""What scoring a table gives: the arrays of a `Result`, its ranking, rows, columns and explanations."""
