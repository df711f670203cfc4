"""Checking again whenever a file changes."""
