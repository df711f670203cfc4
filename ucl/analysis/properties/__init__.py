"""Whether a program keeps its promises (LANGUAGE §11)."""
