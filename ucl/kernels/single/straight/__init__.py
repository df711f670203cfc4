"""An index as one function without loops over fields: `values` writes values, `fields` fields, `function` all of it."""

from ucl.kernels.single.straight.function import straight

__all__ = ["straight"]
