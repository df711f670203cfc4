"""Tables that are larger than memory: read, scored and written part by part."""
