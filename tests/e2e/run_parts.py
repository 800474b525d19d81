"""What the tests of `assay run` share: a small program, and looks into the directory."""
import json
import os
import shutil
import tempfile

from tap import assay, need, run

FOLDER = tempfile.TemporaryDirectory()  # gone at the end
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
static volatile unsigned long sum;
__attribute__((noinline)) static void heavy(unsigned long n)
{
	unsigned long x = n;
	while (n--)
		x = x * 6364136223846793005UL + 1;
	sum += x;
}
int main(int count, char **words)
{
	long rounds = count > 1 ? atol(words[1]) : 100, lines = 0;
	for (int c; (c = getchar()) != EOF;)
		lines += c == '\n';
	for (long i = 0; i < rounds; i++)
		heavy(1000000);
	printf("%ld rounds, %ld lines\n", rounds, lines);
	return 0;
}
"""
ALWAYS = {"DEFINE.md", "fingerprint.json", "preflight.json", "BASELINE.md", "trial.assay",
          "baseline.assay", "hotspot_table.md", "hypothesis.md", "report.md", "report.json",
          "queries.sql", "golden/stdout", "golden_checksums.txt", "HISTORY.md", "history.ndjson"}
# Quick: what takes longest is tried where it is the question.
SHORT = ("--budget", "6s", "--skip", "causal,counters,calls")


def program():
    """PROGRAM, made once."""
    path = os.path.join(FOLDER.name, "work")
    if not os.path.exists(path):
        source = os.path.join(FOLDER.name, "work.c")
        with open(source, "w", encoding="ascii") as out:
            out.write(PROGRAM)
        r = run(need("gcc"), "-O1", "-g", source, "-o", path)
        assert r.status == 0, r
    return path


def measured_directory(path):
    """The directory of one whole run of 100 rounds, made once, copied to `path`."""
    kept = os.path.join(FOLDER.name, "measured")
    if not os.path.exists(kept):
        r = assay("run", *SHORT, "-o", kept, "--", program(), "100")
        assert r.status in (0, 3), r
    shutil.copytree(kept, path, symlinks=True)
    return path


def manifest(folder="assay-out/latest"):
    with open(os.path.join(folder, "MANIFEST.json"), encoding="utf-8") as file:
        return json.load(file)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def phase(name, folder="assay-out/latest"):
    return next(p for p in manifest(folder)["phases"] if p["phase"] == name)
