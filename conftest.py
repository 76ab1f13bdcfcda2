"""Settings for every test, the notebooks' included: no test touches the user's own progress."""

import os
import tempfile

os.environ["SDPA_HOME"] = tempfile.mkdtemp(prefix="sdpa-progress-")
# Kernels that nbval starts inherit these: one thread each, so that tests of a small machine do not fight.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
