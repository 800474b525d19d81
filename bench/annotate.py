"""`assay annotate` beside `perf annotate --stdio` on one function of 10,000 instructions.

    annotate.py BUILD [ROUNDS]

Both read a recording of the same program.  assay reads perf's own recording where it can import it,
else a run with as many samples at the same addresses (build/tests/workloads/sampled-run)."""
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import side

INSTRUCTIONS = 10000
STEPS = 2 * INSTRUCTIONS // 7  # as gcc 12 -O2 compiles them
FUNCTION = "large"


def source():
    """One function: a switch in a loop, with different work in each of its many cases."""
    cases = "\n".join(
        f"\tcase {i}:\n\t\tx = x * {2 * i + 3}U + (x >> {i % 13 + 1});\n\t\ttable[x % 64] ^= x;\n"
        f"\t\tbreak;" for i in range(STEPS // 2))
    return f"""#include <stdint.h>
#include <stdlib.h>
static uint32_t table[64];
__attribute__((noinline)) uint32_t {FUNCTION}(uint32_t rounds)
{{
\tuint32_t x = 1;
\tfor (uint32_t i = 0; i < rounds; i++)
\tswitch ((x ^ i) % {STEPS // 2}) {{
{cases}
\t}}
\treturn x;
}}
int main(int argc, char **argv)
{{
\tvolatile uint32_t x = {FUNCTION}((uint32_t)strtoul(argc > 1 ? argv[1] : "1", NULL, 10));
\treturn x == 1;
}}
"""


def program():
    """Compile it; the number of its instructions."""
    with open("large.c", "w", encoding="ascii") as file:
        file.write(source())
    subprocess.run(["cc", "-O2", "-g", "large.c", "-o", "large"], check=True)
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={FUNCTION}",
                           "large"], capture_output=True, text=True, check=True).stdout
    return len(re.findall(r"^ +[0-9a-f]+:\t", text, re.MULTILINE))


def recording():
    """perf.data of the program, and the addresses of its samples in the file."""
    subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "4999", "-o", "perf.data",
                    "--", "./large", "60000000"], check=True, stderr=subprocess.DEVNULL)
    script = subprocess.run(["perf", "script", "-i", "perf.data", "-F", "ip,sym,symoff"],
                            capture_output=True, text=True, check=True).stdout
    nm = subprocess.run(["nm", "large"], capture_output=True, text=True, check=True).stdout
    base = int(re.search(rf"^([0-9a-f]+) . {FUNCTION}$", nm, re.MULTILINE)[1], 16)
    return [base + int(off, 16) for off in re.findall(rf" {FUNCTION}\+0x([0-9a-f]+)", script)]


def run_of(build, addrs):
    """A run of the same samples, and where it comes from."""
    assay = os.path.join(build, "assay")
    for words in (["import", "perf.data", "-o", "x.assay"],
                  ["annotate", "x.assay", FUNCTION, "--by", "line"]):
        done = subprocess.run([assay, *words], capture_output=True, check=False)
        if done.returncode:
            break
    else:
        return "perf.data imported"
    lines = "".join(f"cpu-clock 200040 {addr:x}\n" for addr in addrs)
    subprocess.run([os.path.join(build, "tests/workloads/sampled-run"),
                    os.path.abspath("large"), "x.assay"], input=lines, text=True, check=True)
    return "the same addresses"


def main():
    build = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    for needed in ("perf", "cc", "objdump"):
        if not shutil.which(needed):
            sys.exit(f"annotate: {needed} is not installed")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        count, addrs = program(), recording()
        origin = run_of(build, addrs)
        assay = os.path.join(build, "assay")
        ways = {"perf annotate --stdio": ["perf", "annotate", "--stdio", "-i", "perf.data", "-s",
                                          FUNCTION],
                "assay annotate --all": [assay, "annotate", "x.assay", FUNCTION, "--all"],
                "assay annotate": [assay, "annotate", "x.assay", FUNCTION],
                "assay annotate --json": [assay, "annotate", "x.assay", FUNCTION, "--json"],
                "assay annotate --by line": [assay, "annotate", "x.assay", FUNCTION, "--by",
                                             "line"]}
        times = side.rounds_of(ways, rounds)
        os.chdir("/")
    print(f"annotate: a function of {count} instructions, {len(addrs)} samples ({origin}), "
          f"{rounds} interleaved rounds, {side.load()}")
    print(f"{'command':<26}{'ms: median [p10 .. p90]':>30}{'of perf':>10}")
    peer = times["perf annotate --stdio"]
    for way, values in times.items():
        ratio = statistics.median(a / b for a, b in zip(values, peer))
        print(f"{way:<26}{side.spread(values, 1e6):>30}{ratio:>10.3f}")


main()
