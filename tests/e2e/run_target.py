"""`assay run` and what the program is: a script that starts another one, a writer of files.

Experiments follow the program that the time is in, and no file is left as a stopped phase left it."""
from run_parts import SHORT, phase, read
from tap import assay, case, main, script


@case("a phase that failed has its reason in the log that it names")
def _():
    path = script("once", "[ -e seen ] && { echo it is broken >&2; exit 9; }",
                  "touch seen")
    r = assay("run", *SHORT, "--phase", "baseline", "-o", "d", "--", path)
    assert r.status in (0, 3), r
    row = phase("baseline", "d")
    assert row["outcome"] == "failed", row
    assert "exited with status 9 in run 1: it is broken" in row["reason"], row
    assert "see log/baseline.txt" in row["reason"], row
    log = read("d/log/baseline.txt")
    assert "it is broken" in log and "exit status 5" in log, log


main()
