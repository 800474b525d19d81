"""`assay run` and what the program is: a script that starts another one, a writer of files.

Experiments follow the program that the time is in, and files are not left as a stopped phase left
them."""
import contextlib
import json
import os
import sqlite3
import tempfile

from run_parts import SHORT, phase, read
from tap import BUILD, assay, case, main, measured, need, no_kernel_engine, run, script, skip

SHAPES = os.path.join(BUILD, "tests/workloads/shapes")
FOLDER = tempfile.TemporaryDirectory()  # gone at the end
STOPPED = ("--budget", "16s")
WRITER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <wmmintrin.h>
/* Encrypts with one instruction: a simulator takes two hundred times as long for it. */
__attribute__((noinline, target("aes"))) static unsigned long work_step(void)
{
	__m128i a = _mm_set1_epi32(1), b = a, c = a, d = a;

	for (int i = 0; i < 1000000; i++) {
		a = _mm_aesenc_si128(a, a), b = _mm_aesenc_si128(b, b);
		c = _mm_aesenc_si128(c, c), d = _mm_aesenc_si128(d, d);
		__asm__ volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d));
	}
	return _mm_cvtsi128_si32(a);
}
#else
/* Many cheap instructions a cycle: a simulator takes long for them, the CPU does not. */
__attribute__((noinline)) static unsigned long work_step(void)
{
	unsigned long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;

	for (int i = 0; i < 1000000; i++) {
		a += 3, b ^= 5, c -= 7, d += 9, e ^= 11, f -= 13;
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
	}
	return a + b + c + d + e + f;
}
#endif

/* A database of one number with a journal: a run that finds one refuses to work. */
int main(int count, char **words)
{
	long rounds = atol(words[1]);
	unsigned long sum = 0;
	FILE *data, *journal, *log = fopen("log", "a");
	char text[32] = "";

	if (access("data-journal", F_OK) == 0) {
		fprintf(stderr, "data-journal: the last run was cut\n");
		return 3;
	}
	journal = fopen("data-journal", "w");
	data = fopen(count > 2 ? words[2] : "data", "r+");
	if (!data)
		data = fopen("data", "w+");
	fprintf(data, "half");
	fflush(data);
	fprintf(log, "began\n");
	fflush(log);
	sleep(count > 3 ? atoi(words[3]) : 0);
	while (rounds--)
		sum += work_step();
	rewind(data);
	fprintf(data, "full\n");
	snprintf(text, sizeof(text), "%d\n", (int)sum & 0);
	fputs(text, data);
	fclose(data);
	fclose(journal);
	remove("data-journal");
	fclose(log);
	return 0;
}
"""


def writer(*more):
    """WRITER, made once, and its rounds: they end in the first run, and not in the simulation."""
    path = os.path.join(FOLDER.name, "writer")
    if not os.path.exists(path):
        with open(path + ".c", "w", encoding="ascii") as out:
            out.write(WRITER)
        r = run(need("gcc"), "-O1", "-g", path + ".c", "-o", path)
        assert r.status == 0, r
    return path, *(more or ("500",))


@measured("experiments follow the program that a shell starts")
def _():
    why = no_kernel_engine()
    if why:
        skip(why)
    r = assay("run", "--budget", "20s", "--phase", "profile,causal", "-o", "d", "--", "sh", "-c",
              f"{SHAPES} split 3; true", limit_s=120)
    assert r.status in (0, 3), r
    row = phase("causal", "d")
    assert f"--follow {os.path.realpath(SHAPES)}" in row["command"], row
    assert row["outcome"] in ("done", "watched"), row
    assert "which sh starts" in r.out, r
    base = json.loads(assay("causal", "--show", "d/causal.assay", "--json").out)["data"]
    assert base["pairs"] > 3, base


@case("a program to follow that is never started is told as that")
def _():
    why = no_kernel_engine()
    if why:
        skip(why)
    r = assay("causal", "--follow", SHAPES, "--budget", "4s", "--", "sh", "-c", "sleep 1")
    assert r.status == 3 and "the command did not start" in r.err, r
    assert "progress" not in r.err and "shows which used the time" in r.err, r


@measured("a child of a child is followed, and the next one after it; an exec too")
def _():
    why = no_kernel_engine()
    if why:
        skip(why)
    follow = ("causal", "--follow", SHAPES, "-f", "work_a", "--budget", "4s", "--json", "--")
    for words in (("env", "X=1", SHAPES, "split", "20"),
                  ("sh", "-c", f"exec {SHAPES} split 20"),
                  ("sh", "-c", f"sh -c '{SHAPES} split 20; true'; true"),
                  ("sh", "-c", f"for i in 1 2 3 4 5 6; do {SHAPES} split 2; done")):
        r = assay(*follow, *words, limit_s=60)
        assert r.status == 0, (words, r)
        data = json.loads(r.out)["data"]
        assert data["pairs"] > 3 and data["targets"][0]["function"] == "work_a", (words, data)
    r = assay("causal", "--follow", SHAPES, "-p", "1", "--progress", "auto")
    assert r.status == 2 and "--follow needs a program" in r.err, r


@case("what cannot be followed is told, with the command to type")
def _():
    static = os.path.join(FOLDER.name, "static")
    r = run(need("gcc"), "-O1", "-static", "-x", "c", "-", "-o", static,
            stdin="int main(void) { for (volatile long i = 0; i < 700000000; i++); }")
    if r.status != 0:
        skip("no static libc")
    r = assay("run", "--budget", "12s", "--phase", "profile,causal", "-o", "d", "--", "sh", "-c",
              f"{static}; true")
    row = phase("causal", "d")
    assert r.status in (0, 3) and "static, so" in row["reason"], row
    assert f"assay run -- {static} ARGS" in row["fix"], row


@case("files that the program writes are as the last whole run left them")
def _():
    need("valgrind")  # which stops the program at its time limit
    r = assay("run", *STOPPED, "--phase", "counters,baseline", "-o", "d", "--", *writer(),
              limit_s=120)
    assert r.status in (0, 3), r
    assert phase("counters", "d")["outcome"] == "watched", phase("counters", "d")
    assert phase("baseline", "d")["outcome"] in ("done", "watched"), phase("baseline", "d")
    assert read("data") == "full\n0\n" and not os.path.exists("data-journal"), os.listdir()
    assert "put back after a phase had stopped it: " in r.out and "data-journal" in r.out, r
    assert not os.path.exists("d/files"), "copies are not evidence"
    assert read("log").count("began") >= 3, "what is appended to is left alone"


@case("a file that others write beside the program is not touched")
def _():
    need("valgrind")
    path = script("beside", "(sleep 0.2; echo x >> mine.txt; : > empty.txt) &",
                  "exec " + " ".join(writer()))
    with open("mine.txt", "w", encoding="ascii") as file:
        file.write("1")
    r = assay("run", *STOPPED, "--phase", "counters", "-o", "d", "--", path, limit_s=120)
    assert r.status in (0, 3), r
    assert read("mine.txt").count("x") >= 2 and os.path.exists("empty.txt"), read("mine.txt")
    assert not os.path.exists("data-journal"), os.listdir()


@case("a file that another program has open is left as it is, and that is said")
def _():
    need("valgrind")
    with open("data", "a+", encoding="ascii"):
        r = assay("run", *STOPPED, "--phase", "counters", "-o", "d", "--", *writer(), limit_s=120)
    assert r.status in (0, 3), r
    assert "put back after" not in r.out, r
    assert "were not put back: another program writes " in " ".join(r.out.split()), r


@case("a program that ended by itself was not stopped, whatever was planned")
def _():
    need("valgrind")
    with open("data", "a+", encoding="ascii"):
        r = assay("run", *STOPPED, "--phase", "counters", "-o", "d", "--",
                  *writer("4", "data", "2"), limit_s=120)
    assert r.status in (0, 3), r
    row = phase("counters", "d")  # asleep it takes the simulator no longer than it takes alone
    assert row["outcome"] == "done" and "a part of a run" in r.out + r.err, (row, r)
    assert "put back" not in r.out and "stopped the program" not in r.out, r
    assert read("data") == "full\n0\n", read("data")


def was_cut(path, which=-1):
    """Whether the last execution did not come to its own end, as the file says."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        return bool(db.execute("SELECT flags FROM execution ORDER BY id").fetchall()[which][0] & 8)


@case("a program that experiments end is marked, one that ends by itself is not")
def _():
    why = no_kernel_engine()
    if why:
        skip(why)
    causal = ("causal", "--progress", "work_step", "--budget", "3s", "-o", "c.assay", "--")
    r = assay(*causal, *writer("600"), limit_s=120)
    assert r.status in (0, 3) and not was_cut("c.assay", 0), r
    for name in ("c.assay", "data", "data-journal"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
    r = assay(*causal, *writer("40000"), limit_s=120)
    assert r.status in (0, 3) and was_cut("c.assay"), r


@case("experiments that end the program put its files back too")
def _():
    why = no_kernel_engine()
    if why:
        skip(why)
    with open("data", "w", encoding="ascii") as file:
        file.write("full\n0\n")
    r = assay("run", "--budget", "40s", "--phase", "profile,causal", "-o", "d", "--",
              *writer("2000"), limit_s=120)
    assert r.status in (0, 3), r
    assert phase("causal", "d")["outcome"] == "done", phase("causal", "d")
    # Whether their time is up in the middle of a run is chance.
    assert ("put back after a phase had stopped it: " in r.out) == was_cut("d/causal.assay"), r
    assert read("data") == "full\n0\n" and not os.path.exists("data-journal"), (os.listdir(), r)


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
