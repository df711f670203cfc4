"""What objects of facts name, in English and Chinese: text to conditions on fields, or why they can't be read."""

from ucl.facts.objects.clocks import Unread
from ucl.facts.objects.phrases import Named, Reading
from ucl.facts.objects.reading import read_object, read_value

__all__ = ["Named", "Reading", "Unread", "read_object", "read_value"]
