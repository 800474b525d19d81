#!/usr/bin/env python3
"""Run a cmocka program and mend its TAP: tap_of_cmocka.py BUILD PROGRAM

cmocka 1.1.5 tells a skipped case as `not ok N # SKIP name`, which meson counts as failed, and has
no place for the reason.  A unit test that cannot run here says

    print_message("# skip: no perf events on this machine\\n");
    skip();

and this prints `ok N - name # SKIP no perf events on this machine`."""
import os
import re
import subprocess
import sys

from place import place_for

env = {**os.environ, "CMOCKA_MESSAGE_OUTPUT": "TAP"}
reason = "no reason was given"
with place_for(sys.argv[1]), subprocess.Popen(sys.argv[2:], env=env, stdout=subprocess.PIPE,
                                              text=True, errors="replace") as child:
    for line in child.stdout:
        if line.startswith("# skip: "):
            reason = line[len("# skip: "):].strip()
        elif skipped := re.match(r"not ok (\d+) # SKIP (.*)", line):
            line = f"ok {skipped[1]} - {skipped[2]} # SKIP {reason}\n"
            reason = "no reason was given"
        sys.stdout.write(line)
sys.exit(1 if child.returncode else 0)  # also for a signal or a leak that ASan found
