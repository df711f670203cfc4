from ucl.diagnostics import diagnostic
def __getattr__(name):
    def f(span,*a): return diagnostic("syntax", span, name+repr(a))
    return f
