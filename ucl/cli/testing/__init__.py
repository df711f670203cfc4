"""Commands about what programs promise and mean: `test`, `facts2tests`, `diff`."""
