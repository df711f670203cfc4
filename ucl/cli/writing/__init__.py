"""Commands that let a model write: `write`, `grammar`, and how well a model does."""
