"""How results are written as Parquet: by what settings, and beside columns that stand in a file already."""
