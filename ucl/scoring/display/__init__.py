"""Results for the eye: the columns that tell rows apart, tables for notebooks, plots."""
