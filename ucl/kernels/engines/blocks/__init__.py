"""The compiled loops: one function runs a whole tape over blocks of rows, holding no lock of Python's."""
