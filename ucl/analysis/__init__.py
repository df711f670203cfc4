"""What the compiler finds in a program: conflicts, dead rules, branches that nothing reaches.

In: a checked `Program`. Out: diagnostics with witnesses. `findings.analyse` is the way in; `boxes` is exact and needs
no solver, `smt` is asked for what boxes can't say, and `witness` writes and replays the options that show a finding.
"""
