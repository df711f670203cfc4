"""Values at the border: from JSON to what programs compute with, and back (INTERFACE §2).

In: JSON as Python reads it (or Python's own dates, times and sets), types, the call's zone. Out: values, records, a
`Call`; or JSON and text. Tables read whole columns on their own and agree with this.
"""

from ucl.semantics.values.calls import Problem, ReadMemory, make_call, read_arguments, read_memory
from ucl.semantics.values.keys import nfc
from ucl.semantics.values.read import Unreadable, check_domain, is_absent, parse_value, read_record, record_reader
from ucl.semantics.values.write import to_data, to_echo, to_json, to_text

__all__ = [
    "Problem",
    "ReadMemory",
    "Unreadable",
    "check_domain",
    "is_absent",
    "make_call",
    "nfc",
    "parse_value",
    "read_arguments",
    "read_memory",
    "read_record",
    "record_reader",
    "to_data",
    "to_echo",
    "to_json",
    "to_text",
]
