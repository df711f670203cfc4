"""The exact layer, without a solver: conditions as unions of boxes over what fields can be.

In: typed conditions on one schema. Out: boxes, which say for each field which of its values are meant; they intersect,
subtract and are asked whether anything is left of them.
"""
