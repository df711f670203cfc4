"""Letting a model write UCL so that it can't write it wrong."""
