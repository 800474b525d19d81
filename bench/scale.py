"""How often `assay scale` names the right law: programs that count to it, repeated.

    scale.py BUILD [REPEATS]

Right: the law was named and called clear.  Undecided: it was not called clear.  Wrong: another law
was named and called clear.  Nothing is run beside it on purpose; the load is told."""
import json
import os
import subprocess
import sys

import side

LAWS = {"1": "O(1)", "log": "O(log n)", "n": "O(n)", "nlog": "O(n log n)", "n2": "O(n^2)"}
BUDGET = "1s"


def verdict(assay, laws, law, metric):
    done = subprocess.run([assay, "scale", "--json", "--budget", BUDGET, "--metric", metric,
                           f"{laws} {law} {{n}}"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        sys.exit(f"assay scale: exit status {done.returncode}\n{done.stderr}")
    data = json.loads(done.stdout)["data"]
    return data["verdict"], data["rounds"]


def main():
    build = os.path.abspath(sys.argv[1])
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    assay, laws = os.path.join(build, "assay"), os.path.join(build, "tests/workloads/laws")
    counts = {(law, metric): [0, 0, 0, []] for law in LAWS for metric in ("wall", "cpu")}
    for _ in range(repeats):
        for (law, metric), found in counts.items():
            said, rounds = verdict(assay, laws, law, metric)
            right = said["law"] == LAWS[law]
            found[1 if not said["clear"] else 0 if right else 2] += 1
            found[3].append(rounds)
    print(f"scale: sizes 1 to 1000, a budget of {BUDGET} for all six, {repeats} repeats, "
          f"{side.load()}")
    print(f"{'law':<12}{'metric':<8}{'right':>6}{'undecided':>11}{'wrong':>7}{'rounds':>18}")
    for (law, metric), (right, undecided, wrong, rounds) in counts.items():
        print(f"{LAWS[law]:<12}{metric:<8}{right:>6}{undecided:>11}{wrong:>7}"
              f"{min(rounds):>11} .. {max(rounds)}")


main()
