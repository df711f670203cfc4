"""Concrete options that show a finding: chosen from boxes, written as data, and replayed before they are believed."""
