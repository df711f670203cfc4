"""What a plan does with a table: values block by block, tests of its dictionaries, columns that need all rows."""
