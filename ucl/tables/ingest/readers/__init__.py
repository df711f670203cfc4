"""From the cells of one field to a kernel's column: one module for each kind of value."""
