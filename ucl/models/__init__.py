"""What programs hold as Python has it: names, values, and a pydantic model for each record."""
