"""A disk that fills up while a program runs under assay: the program does not notice, and what was
stored before is readable."""
import os
import shlex

from tap import ASSAY, BUILD, case, main, own_mounts, run

SPIN = os.path.join(BUILD, "tests/workloads/spin")
# Each of its processes maps a dozen files, and that is stored.
PROGRAM = ("i=0; while [ $i -lt 25 ]; do i=$((i+1)); python3 -Sc 'sum(range(300000))'; done; "
           "echo finished > ended; echo finished; exit 3")


def on_a_small_disk(size, words, program):
    """Run assay on a program in a folder with `size` of space; how the program ended is in the
    file `ended`, and the report on the run in `report`."""
    apart = own_mounts()
    os.makedirs("small", exist_ok=True)
    for name in ("ended", "report"):
        if os.path.exists(name):
            os.remove(name)
    line = shlex.join([ASSAY, *words, "-o", "small/x.assay", "--", "sh", "-c", program])
    return run(*apart, "sh", "-c",
               f"mount -t tmpfs -o size={size} none small; {line}; status=$?; ls ended >&2; "
               f"{ASSAY} report small/x.assay --agent > report 2>&1; echo status $? >> report; "
               "exit $status", limit_s=120)


def check(words, program, status, size="128k"):
    r = on_a_small_disk(size, words, program)
    assert "no space" in r.err, r
    assert r.status == status, (status, r)
    # Written before assay ended: it waited for the program.
    assert "ended" in r.err.splitlines()[-1] and "cannot access" not in r.err, r
    assert r.out == "finished\n", r
    with open("report", encoding="utf-8") as file:
        return file.read()


@case("record: the program runs to its end, exit 7, with --target-status its own")
def _():
    record = ["record", "-F", "4999"]
    report = check(record, PROGRAM, 7)
    assert "samples" in report and report.endswith("status 0\n"), report
    check([*record, "--target-status"], PROGRAM, 3)
    check([*record, "--target-status"], PROGRAM.replace("exit 3", "exit 0"), 0)


@case("stat with intervals: the program runs to its end, exit 7, with --target-status its own")
def _():
    stat = ["stat", "-I", "1", "-e", ",".join(["task-clock"] * 50)]
    check(stat, PROGRAM, 7, "256k")
    check([*stat, "--target-status"], PROGRAM, 3, "256k")


main()
