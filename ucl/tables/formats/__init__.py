"""The text formats: CSV and JSON to Arrow, and rows of Python values to Arrow."""
