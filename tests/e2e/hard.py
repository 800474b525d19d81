"""Programs that profilers stumble over: deep recursion, code that comes and goes, static and
replaced files, vfork, JIT maps, other languages."""
import json
import os
import shutil
import subprocess

from golang import go_build
from tap import ASSAY, assay, case, cpu_s_below, main, need, run, skip, wait_for

RECURSE = r"""
#include <stdlib.h>
static volatile long sink;
__attribute__((noinline)) static long leaf(long n)
{
	for (long i = 0; i < n; i++)
		sink += i;
	return sink;
}
__attribute__((noinline)) static long down(long depth, long n)
{
	long below = depth ? down(depth - 1, n) : leaf(n);

	return below + sink;
}
int main(int argc, char **argv)
{
	return (int)(down(atol(argv[1]), atol(argv[2]) * 1000000) & 0 * argc);
}
"""
PLUGIN = r"""
static volatile long sink;
long NAME(long n) { for (long i = 0; i < n; i++) sink += i; return sink; }
"""
LOADER = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	void *where[2] = {0};

	for (int i = 0; i < atoi(argv[3]); i++) {
		void *library = dlopen(argv[1 + i % 2], RTLD_NOW);
		const char *name = i % 2 ? "second" : "first";
		long (*work)(long) = library ? (long (*)(long))dlsym(library, name) : 0;

		if (!work)
			return 2;
		where[i % 2] = (void *)work;
		work(3000000);
		dlclose(library);
	}
	printf("%d\n", where[0] == where[1]);
	return argc - argc;
}
"""
SPIN = r"""
#include <stdlib.h>
static volatile long sink;
__attribute__((noinline)) void hot(long n) { for (long i = 0; i < n; i++) sink += i; }
int main(int argc, char **argv) { hot(atol(argv[argc - 1]) * 1000000); return 0; }
"""
VFORK = r"""
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	for (int i = 0; i < 20; i++) {
		pid_t child = vfork();
		if (child == 0) { execv(argv[1], argv + 1); _exit(127); }
		waitpid(child, NULL, 0);
	}
	return argc - argc;
}
"""


def build(name, source, *flags):
    gcc = need("gcc")
    with open(name + ".c", "w", encoding="ascii") as f:
        f.write(source)
    r = run(gcc, "-O1", "-g", "-o", name, name + ".c", *flags)
    assert r.status == 0, r
    return os.path.abspath(name)


def record(*words, rate="2999"):
    r = assay("record", "--json", "-F", rate, "-e", "cpu-clock", "-o", "run.assay", "--", *words)
    if r.status == 6:
        skip(r.err.splitlines()[0])
    assert r.status == 0, r
    return json.loads(r.out)["data"]


def report(*words):
    r = assay("report", "--json", "run.assay", "--limit", "0", "--min", "0", *words)
    assert r.status == 0, r
    return json.loads(r.out)["data"]


def share(name, key="self_share"):
    return sum(row[key] for row in report()["rows"] if row["name"].startswith(name))


@case("10,000 frames of recursion: the stack is marked as cut, and no root is invented")
def _():
    d = record(build("recurse", RECURSE), "10000", "300")
    assert d["truncated"] > 0.8 * d["samples"], d
    assert share("leaf") > 0.8, report()["rows"][:5]
    assert share("main", "total_share") < 0.2, "the root was never seen"
    d = record(os.path.abspath("recurse"), "100", "300")
    assert d["truncated"] == 0 and share("main", "total_share") > 0.9, d


@case("two libraries that take turns at one address keep their samples apart")
def _():
    for name in ("first", "second"):
        build(name, PLUGIN.replace("NAME", name), "-shared", "-fPIC")
    loader = build("loader", LOADER, "-ldl")
    record(loader, os.path.abspath("first"), os.path.abspath("second"), "60")
    first, second = share("first"), share("second")
    assert 0.3 < first < 0.7 and 0.3 < second < 0.7, (first, second)


@case("static, static PIE and vfork programs are followed and named")
def _():
    for name, flags in (("fixed", ("-static",)), ("pie", ("-static-pie",))):
        record(build(name, SPIN, *flags), "200")
        assert share("hot") > 0.8, (name, report()["rows"][:5])
    record(build("starter", VFORK), build("plain", SPIN), "20")
    assert share("hot") > 0.7, report()["rows"][:5]


@case("a binary that is replaced while it runs is said to be, and gets no wrong names")
def _():
    program = build("victim", SPIN)
    other = build("other", SPIN.replace("hot", "cold").replace("sink += i", "sink += i * 3 + 1"))
    child = subprocess.Popen([ASSAY, "record", "--json", "-o", "run.assay", "--", program, "3000"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(lambda: cpu_s_below(child.pid) > 0.2)
    os.rename(other, program)
    out, err = child.communicate(timeout=60)
    if child.returncode == 6:
        skip(err.decode().splitlines()[0])
    assert child.returncode == 0, err
    assert share("cold") == 0, report()["rows"][:5]
    assert share("hot") > 0.8 or "replaced" in out.decode() + assay("report", "run.assay").out, out


@case("Node with --perf-basic-prof: JIT code has the names of its map")
def _():
    node = need("node")
    with open("hot.js", "w", encoding="ascii") as f:
        f.write("function hotLoop(n){let s=0;for(let i=0;i<n;i++)s=(s+i*7)%1000003;return s}\n"
                "let t=0;for(let k=0;k<60;k++)t+=hotLoop(3e6);console.log(t)\n")
    record(node, "--perf-basic-prof", "hot.js")
    assert sum(r["self_share"] for r in report()["rows"] if "hotLoop" in r["name"]) > 0.5, \
        report()["rows"][:5]


@case("Python is unwound to its start")
def _():
    python = shutil.which("python3", path="/usr/bin:/bin") or skip("no python3 in /usr/bin")
    d = record(python, "-c", "sum(i*i for i in range(6000000))")
    assert d["truncated"] < 0.02 * d["samples"], d
    # Debian's python3 is stripped: _start has no name, so the main binary is looked for.
    assert d["samples"] > 100, d


@case("a Rust program has demangled names and whole stacks")
def _():
    rustc = need("rustc")
    with open("hot.rs", "w", encoding="ascii") as f:
        f.write("#[inline(never)]\nfn spin_here(n: u64) -> u64 {\n    let mut s = 0u64;\n"
                "    for i in 0..n { s = s.wrapping_mul(31) + i;\n"
                "        unsafe { std::arch::asm!(\"/* {0} */\", inout(reg) s) } }\n"
                "    s\n}\n"
                "fn main() { println!(\"{}\", spin_here(400_000_000)); }\n")
    r = run(rustc, "-O", "-g", "hot.rs", limit_s=120)
    if r.status:
        skip("rustc cannot build here: " + r.err.splitlines()[0][:80])
    record(os.path.abspath("hot"))
    assert sum(r["total_share"] for r in report()["rows"] if "spin_here" in r["name"]) > 0.8, \
        report()["rows"][:5]
    assert share("main", "total_share") > 0.8 or share("hot::main", "total_share") > 0.8


@case("a Go program, also stripped, has the names of its functions, and whole stacks")
def _():
    source = ("package main\n\nimport \"fmt\"\n\n//go:noinline\nfunc spinHere(n int) int {\n"
              "\ts := 0\n\tfor i := 0; i < n; i++ {\n\t\ts = s*31 + i\n\t}\n\treturn s\n}\n\n"
              "func main() { fmt.Println(spinHere(600000000)) }\n")
    for flags in ((), ("-ldflags=-s -w",)):
        d = record(go_build(source, *flags))
        assert d["broken"] < 0.1 * d["samples"], d
        assert sum(r["self_share"] for r in report()["rows"] if "spinHere" in r["name"]) > 0.7, \
            report()["rows"][:5]


main()
