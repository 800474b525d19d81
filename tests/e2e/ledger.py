"""`assay ledger`, `assay stat --proc` and the verdicts: numbers are found again, planted programs
are explained, clean ones are not blamed."""
import json
import math
import os
import shutil
import sqlite3

from tap import ASSAY, BUILD, SOURCE, assay, case, main, measured, need, run, skip

WORKLOADS = os.path.join(BUILD, "tests", "workloads")
EVALUATE = os.path.join(BUILD, "tests", "unit", "ledger-evaluate")
SEEDS = os.path.join(SOURCE, "tests", "fuzz", "seeds", "store")
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--")


def planted(name):
    return os.path.join(WORKLOADS, name)


def phases(program, *words, simulate=False, prefix=()):
    """The run files of the phases in the scratch folder, as `assay run` makes them."""
    target = [planted(program), *words]

    def phase(*how):
        r = run(*prefix, ASSAY, *how)
        assert r.status == 0, r

    phase("bench", "-n", "3", "-o", "baseline.assay", " ".join(target))
    phase("stat", "--proc", "-o", "observed.assay", "--", *target)
    phase("record", "-F", "499", "-o", "profile.assay", "--", *target)
    if simulate:
        need("valgrind")
        phase("stat", "--engine", "sim", "-o", "counters.assay", "--", *target)


def evaluate():
    r = run(EVALUATE, ".")
    assert r.status == 0, r
    return json.loads(r.out)


def verdicts(document):
    return {row["hypothesis"]: row["verdict"] for row in document["ledger"]}


def signals(document):
    return {row["name"]: row["value"] for row in document["signals"]}


def found_again(document):
    """Run each query with SQLite and compare; how many there were."""
    count = 0
    for signal in document["signals"]:
        if signal["value"] is None:
            assert signal["reason"], signal
            continue
        rows = sqlite3.connect(f"file:{signal['path']}?mode=ro", uri=True).execute(
            signal["query"]).fetchall()
        assert len(rows) == 1 and len(rows[0]) == 1, (signal, rows)
        assert rows[0][0] is not None, signal
        assert math.isclose(rows[0][0], signal["value"], rel_tol=1e-9, abs_tol=1e-9), (signal, rows)
        count += 1
    return count


def blamed(document):
    """What is supported, without what is only a place and without the noise of the machine."""
    return [row["hypothesis"] for row in document["ledger"]
            if row["verdict"] == "supports" and not row["place"] and row["category"] != "noise"]


def disputes(document):
    """Quantities that two mechanisms tell differently of the same run."""
    return sorted({name for row in document["ledger"] for name in row["disputes"]})


@case("every number is found again by its query in the run file")
def _():
    phases("planted/faults", "600")
    shutil.copy(os.path.join(SEEDS, "experiments"), "causal.assay")
    shutil.copy(os.path.join(SEEDS, "counts"), "counters.assay")
    document = evaluate()
    assert found_again(document) >= 45, document["signals"]
    seen = {s["path"] for s in document["signals"] if s["value"] is not None}
    assert seen >= {"baseline.assay", "observed.assay", "profile.assay"}, seen


@measured("so is every simulated one, and allocator churn is supported by two mechanisms")
def _():
    phases("planted/churn", "600000", simulate=True)
    document = evaluate()
    assert found_again(document) >= 50, document["signals"]
    assert "simulation" in {s["witness"] for s in document["signals"] if s["value"] is not None}
    assert verdicts(document)["allocator_churn"] == "supports", document["ledger"]
    assert "allocator_churn" in blamed(document), blamed(document)


@case("experiments give signals that SQL gives too")
def _():
    shutil.copy(os.path.join(SEEDS, "experiments"), "causal.assay")
    document = evaluate()
    causal = [s for s in document["signals"] if s["path"] == "causal.assay"]
    assert len(causal) >= 7, causal
    found_again(document)


@measured("a page-fault storm is named, and a lock is not blamed for it")
def _():
    phases("planted/faults", "600")
    got = verdicts(evaluate())
    if os.geteuid() == 0:
        assert got["page_fault_storm"] == "supports", got
    assert got["page_fault_storm"] != "rejects" and got["lock_thrash"] == "rejects", got
    assert got["allocator_churn"] == "rejects", got


@measured("many small system calls are named")
def _():
    phases("planted/syscalls", "400000")
    got = verdicts(evaluate())
    assert got["syscall_overhead"] == "supports", got
    assert got["page_fault_storm"] == "rejects", got


@measured("threads that queue for one mutex are found waiting for it")
def _():
    phases("planted/convoy", "2500")
    document = evaluate()
    got = verdicts(document)
    assert signals(document)["lock_waiters"] > 0.1, signals(document)
    assert got["lock_thrash"] in ("supports", "inconclusive"), document["ledger"]
    if not document["noisy"]:
        assert got["lock_thrash"] == "supports", document["ledger"]


@measured("more threads than CPUs are starvation of their own making")
def _():
    phases("planted/starved", "300")
    document = evaluate()
    assert verdicts(document)["cpu_starvation"] == "supports", document["ledger"]


@measured("clean programs are not blamed for anything")
def _():
    for program, words in (("clean/arithmetic", "60000000"), ("clean/pipeline", "60"),
                           ("clean/sort", "200")):
        phases(program, words)
        document = evaluate()
        assert not blamed(document), (program, document["ledger"])
        assert not disputes(document), (program, document["ledger"])


@measured("tasks too short to be sampled make a conflict of what the samples alone decide")
def _():
    loop = "i=0; while [ $i -lt 900 ]; do env true; i=$((i + 1)); done"
    r = assay("record", "-F", "99", "-o", "profile.assay", "--", "sh", "-c", loop)
    assert r.status == 0, r
    document = evaluate()
    row = [row for row in document["ledger"] if row["hypothesis"] == "garbage_collection"][0]
    reason = [s["reason"] for s in document["signals"] if s["name"] == "sampled_cpu_ns"][0]
    if reason:
        assert row["verdict"] == "rejects" and not disputes(document), row
        skip(f"the CPU time of the samples is not known here: {reason}")
    values = signals(document)
    assert values["sampled_cpu_ns"] < 0.8 * values["profile_cpu_ns"], values
    assert row["verdict"] == "conflict" and row["disputes"] == ["sampled_time"], row
    assert " by rusage and " in row["why"] and " by samples cannot both" in row["why"], row
    assert row["next"].startswith("assay record ") and row["next"] in row["why"], row


@measured("page faults, switches and CPU time of one run are the same by every mechanism")
def _():
    pairs = (("planted/faults", "600", ("rusage_faults", "event_faults")),
             ("pingpong", "400000", ("rusage_switches", "status_switches")),
             # /proc is read every now and then: the ends of a short run are not seen.
             ("spin", "8000", ("observed_cpu_ns", "clock_cpu_ns", "schedstat_cpu_ns")))
    seen = 0
    for program, words, names in pairs:
        r = assay("stat", "--proc", "-o", "observed.assay", "--", planted(program), words)
        assert r.status == 0, r
        values = signals(evaluate())
        os.remove("observed.assay")
        if None in (values[name] for name in names):
            continue
        low, *_, high = sorted(values[name] for name in names)
        assert low > 0 and 1 - low / high <= 0.2, (program, names, low, high)
        seen += 1
    assert seen, "no two mechanisms told the same thing"


@case("without privilege what cannot be seen is untested, never rejected")
def _():
    if os.geteuid() != 0:
        skip("only root can become nobody")
    need("setpriv")
    os.chmod(".", 0o777)
    if run(*NOBODY, planted("planted/syscalls"), "10").status != 0:
        skip("nobody may not read the build folder")
    for program, words, planted_one in (("planted/syscalls", "300000", "syscall_overhead"),
                                        ("planted/faults", "600", "page_fault_storm")):
        for name in ("baseline", "observed", "profile"):
            if os.path.exists(f"{name}.assay"):
                os.remove(f"{name}.assay")
        phases(program, words, prefix=NOBODY)
        document = evaluate()
        assert verdicts(document)[planted_one] != "rejects", document["ledger"]
        assert "not permitted" in [s["reason"] for s in document["signals"]
                                   if s["name"] == "entry_samples"][0], document["signals"]
    for row in document["ledger"]:
        if row["verdict"] == "untested":
            assert row["untested"], row


@case("stat --proc has a fact or a reason for each number")
def _():
    r = assay("stat", "--json", "--proc", "-e", "task-clock", "--", planted("spin"), "3000")
    assert r.status == 0, r
    facts = {f["name"]: f for f in json.loads(r.out)["data"]["facts"]}
    assert len(facts) >= 40, facts
    for fact in facts.values():
        assert fact["value"] is not None or fact["value_reason"], fact
    on_cpu = facts["on_cpu_ns"]
    assert on_cpu["value"] and on_cpu["witness"] == "proc.schedstat", on_cpu
    assert facts["threads_seen"]["value"] == 1, facts


@measured("the CPU time that /proc saw is that of the program")
def _():
    r = assay("stat", "--json", "--proc", "-e", "task-clock", "--", planted("spin"), "800")
    data = json.loads(r.out)["data"]
    seen = {f["name"]: f["value"] for f in data["facts"]}["on_cpu_ns"]
    assert 0.5 < seen / data["summary"]["cpu_ns"] < 1.05, (seen, data["summary"])


@case("stat --proc does not go with the whole machine")
def _():
    r = assay("stat", "--proc", "-a", "--", "true")
    assert r.status == 2 and len(r.err.splitlines()) == 2, r


# ---- the command ----

def line(run_id, hypothesis, verdict, target="./prog", **more):
    return json.dumps({"schema": "assay.ledger/1", "time_ns": 1700000000000000000, "run_id": run_id,
                       "fingerprint": "f", "target": target, "hypothesis": hypothesis,
                       "verdict": verdict, "why": "because", "share": 0.5, "noisy": False,
                       "numbers": {"a": 1}, **more}) + "\n"


def ledger_of(*lines, folder="assay-out"):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "ledger.ndjson"), "w", encoding="utf-8") as file:
        file.writelines(lines)


@case("assay ledger says what changed since the run before of the same program")
def _():
    ledger_of(line("r1", "noise", "supports"), line("r1", "numa", "rejects"),
              line("r2", "noise", "supports", target="./other"),
              line("r3", "noise", "rejects"), line("r3", "numa", "rejects"))
    r = assay("ledger", "--json")
    assert r.status == 0, r
    document = json.loads(r.out)
    assert document["schema"] == "assay.ledger/1", document
    rows = {row["hypothesis"]: row for row in document["data"]["rows"]}
    assert rows["noise"]["changed"] and rows["noise"]["before"] == "supports", rows
    assert not rows["numa"]["changed"] and rows["numa"]["numbers"] == {"a": 1.0}, rows
    r = assay("ledger", "--last", "9")
    assert r.status == 0 and "was supports" in r.out and "./other" in r.out, r
    r = assay("ledger", "--target", "other")
    assert r.status == 0 and "./other" in r.out and "./prog" not in r.out, r


@case("the folder of one run shows that run")
def _():
    ledger_of(line("r1", "noise", "supports"), line("r2", "noise", "rejects"))
    os.mkdir("assay-out/r1")
    os.symlink("r1", "assay-out/latest")
    for folder in ("assay-out/r1", "assay-out/latest", "assay-out/r1/"):
        r = assay("ledger", folder, "--json")
        assert r.status == 0, r
        assert [row["run_id"] for row in json.loads(r.out)["data"]["rows"]] == ["r1"], r


@case("torn lines are counted, not fatal; control characters stay out of the terminal")
def _():
    ledger_of(line("r1", "no\x1b[31mise", "supports", why="a\nb\x07"), '{"schema":"assay.led\n')
    r = assay("ledger")
    assert r.status == 0 and "1 lines of the ledger could not be read" in r.out, r
    assert "\x1b" not in r.out and "\x07" not in r.out, r


@case("an agent gets at most 40 lines of ASCII with the next command")
def _():
    ledger_of(*(line(f"r{i}", f"h{j}", "supports") for i in range(9) for j in range(24)))
    r = assay("ledger", "--agent", "--last", "9")
    assert r.status == 0 and len(r.out.splitlines()) <= 40 and r.out.isascii(), r
    assert r.out.splitlines()[-1].startswith("next: assay "), r


@case("what is not there is said in one sentence with the way out")
def _():
    os.mkdir("empty")
    ledger_of(line("r1", "noise", "supports"), folder="full")
    for words in (("ledger",), ("ledger", "nowhere"), ("ledger", "empty"),
                  ("ledger", "full", "--target", "zzz"), ("ledger", "--last", "0")):
        r = assay(*words)
        assert r.status == 2 and len(r.err.splitlines()) == 2, r


@case("a ledger without a run that is meant says which of the reasons it is")
def _():
    os.mkdir("out")
    with open("out/ledger.ndjson", "w", encoding="ascii") as file:
        file.write("no line of a ledger\n")
    r = assay("ledger", "out")
    assert r.status == 2 and "has no run (1 unreadable line)" in r.err and "assay run" in r.err, r
    r = assay("ledger", "out", "--target", "x")
    assert r.status == 2 and "is of 'x'" in r.err and len(r.err.splitlines()) == 2, r


main()
