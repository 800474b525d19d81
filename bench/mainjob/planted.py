#!/usr/bin/env python3
"""planted.py [BUILD] [PROGRAM...] - does `assay run` name the planted bottleneck first?

Runs the main job on tests/workloads/planted and clean and holds its answer against truth.txt: the
place that is named first, the explanations that are supported, and that nothing is blamed in a
clean program.  Also told: how long it took against its budget and against its own plan.

    --budget TIME  60s     --rounds N  1     --keep DIR  (keep the evidence there)"""
import argparse
import json
import os
import shutil
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
TRUTH = os.path.join(SOURCE, "tests", "workloads", "planted", "truth.txt")
# Say where, or that the machine was not quiet: no blame.
NO_BLAME = {"one_hot_function", "hot_but_off_the_critical_path", "noise"}


def truths():
    with open(TRUTH, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                program, supported, first, also, never = (w.strip() for w in line.split("|"))
                yield program, supported.split(","), [first] + also.split(","), never.split(",")


def run(tool, program, budget, folder):
    began = time.monotonic()
    done = subprocess.run([tool, "run", "--json", "--budget", budget, "--", program], cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return json.loads(done.stdout)["data"], time.monotonic() - began


def judge(data, supported, first, never):
    """What is wrong with the answer; nothing: it is right."""
    wrong = []
    answer = data["answer"]
    names = {row["hypothesis"] for row in data["ledger"] if row["verdict"] == "supports"}
    said = answer.get("function") or answer.get("hypothesis") or answer["kind"]
    if supported == ["-"]:
        if names - NO_BLAME:
            wrong.append(f"blames {', '.join(sorted(names - NO_BLAME))}")
    elif not names & set(supported):
        verdicts = {row["hypothesis"]: row["verdict"] for row in data["ledger"]}
        wrong.append(f"{supported[0]} is {verdicts.get(supported[0], 'not there')}")
    right_place = "*" in first or said in first
    right_cause = answer.get("hypothesis") in supported
    if not right_place and not right_cause:
        wrong.append(f"names {said}")
    if said in never:
        wrong.append(f"names {said}, which must not be")
    return wrong


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--keep")
    options = parser.parse_intermixed_args()
    build = os.path.abspath(options.build)
    right = total = 0
    print("| program | first answer | supported | seconds, plan | right |\n|---|---|---|---|---|")
    for program, supported, first, never in truths():
        if options.programs and program.split("/")[1] not in options.programs:
            continue
        for _ in range(options.rounds):
            folder = tempfile.mkdtemp()
            data, seconds = run(os.path.join(build, "assay"),
                                os.path.join(build, "tests/workloads", program), options.budget,
                                folder)
            wrong = judge(data, supported, first, never)
            names = sorted(row["hypothesis"] for row in data["ledger"]
                           if row["verdict"] == "supports")
            planned = sum(row["seconds"] or 0 for row in data["plan"])
            answer = data["answer"]
            print(f"| {program} | {answer.get('function') or ''} {answer.get('location') or ''} "
                  f"{answer.get('hypothesis') or ''} {answer['gain'] and round(answer['gain'], 3)}"
                  f" | {', '.join(names)} | {seconds:.0f}, {planned:.0f} | "
                  f"{'; '.join(wrong) or 'yes'} |", flush=True)
            total, right = total + 1, right + (not wrong)
            if options.keep:
                shutil.copytree(os.path.join(folder, "assay-out"),
                                os.path.join(options.keep, program.replace("/", "-")),
                                symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(folder)
    print(f"\n{right} of {total} right")


main()
