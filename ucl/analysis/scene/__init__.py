"""One schema as a scene: the regions of its declarations, and questions about them answered."""
