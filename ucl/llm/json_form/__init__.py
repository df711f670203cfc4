"""UCL's declarations as JSON, for servers that hold a model to a JSON schema but to no grammar.

    schema     what the form is, for a server to hold a model to
    to_ucl     from the form to UCL's text, to be compiled as any other
    from_ucl   from what was written to the form, for examples

In: JSON, or a rule, a constraint or a property as parsed. Out: the other. The form follows the syntax tree, as such
schemas have to be: plain unions, no defaults, all keys there (null where a clause is not written), and another first
key for each variant:

    {"rule": "no_calls_late", "on": "Meeting", "overrides": [], "when": {"test": {"name": "start.time"},
     "in": {"from": {"literal": "22:00"}, "to": {"literal": "06:00"}, "inclusive": false}, "negated": false}, …}
"""

from __future__ import annotations

from ucl.llm.json_form.from_ucl import form_of
from ucl.llm.json_form.schema import json_schema
from ucl.llm.json_form.to_ucl import Misfit, ucl_of

__all__ = ["Misfit", "form_of", "json_schema", "ucl_of"]
