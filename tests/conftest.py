import numba
from hypothesis import settings

settings.register_profile("uncompiled", max_examples=10, deadline=None)
if numba.config.DISABLE_JIT:  # that pass is for coverage: a test that does not say how many examples it wants has few
    settings.load_profile("uncompiled")
