# Runs the Python programs that it reads, one per line of standard input, and writes a line about each. Started by api-samples.slow.test.ts.

import contextlib
import io
import json
import os
import sys

for line in sys.stdin:
    program = json.loads(line)
    error = None
    try:
        code = compile(program["source"], "sample", "exec")
        if program["isRun"]:
            os.environ.clear()
            os.environ.update(program["env"])
            with contextlib.redirect_stdout(io.StringIO()):
                exec(code, {"__name__": "__main__"})
    except BaseException as failure:
        error = repr(failure)
    print(json.dumps({"error": error}), flush=True)
