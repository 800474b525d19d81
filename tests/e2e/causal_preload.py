"""The causal engine without BPF rights: what an ordinary user gets, and what it says it cannot see.

The bounds are loose, as in causal.py.  Everything runs as user nobody where the tests are root."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from tap import ASSAY, BUILD, SOURCE, case, chance, main, measured, run, skip, wait_for

sys.path.insert(0, os.path.join(SOURCE, "bench", "causal"))
from truth import calm_pairs, gains, place_of  # noqa: E402  pylint: disable=wrong-import-position
sys.path.append(os.path.join(SOURCE, "bench", "calibration"))  # it has another truth.py
from loads import beside  # noqa: E402  pylint: disable=wrong-import-position

PARTS = [ASSAY] + [os.path.join(BUILD, name) for name in (
    "libassay-rt.so", "libassay-rt-interpose.so", "tests/causal/causal-engine",
    "tests/workloads/shapes", "tests/workloads/points")]
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
NO_PERF = """#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter steps[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {4, steps};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	return argc > 1 ? execv(argv[1], argv + 1) : 2;
}
"""
OWN = """#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include "assay.h"
static volatile sig_atomic_t ticks;
static sem_t full, empty;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int over;
static void on_tick(int signal) { (void)signal; ticks++; }
__attribute__((noinline)) static void work(void)
{
	unsigned long left = 200000, x = 1;
	while (left--)
		x = x * 6364136223846793005UL + 1;
	__asm__ volatile("" : : "r"(x));
}
static void *consume(void *argument)
{
	while (!over) {
		sem_wait(&full);
		pthread_rwlock_rdlock(&lock);
		work();
		pthread_rwlock_unlock(&lock);
		sem_post(&empty);
	}
	pthread_exit(argument);
}
static void *nothing(void *argument) { return argument; }
int main(int argc, char **argv)
{
	struct itimerval every = {{0, 10000}, {0, 10000}};
	time_t until = time(NULL) + atoi(argv[argc - 1]);
	pthread_t thread, other;
	void *result;
	signal(SIGPROF, on_tick);
	setitimer(ITIMER_PROF, &every, NULL);
	sem_init(&empty, 0, 1);
	sem_init(&full, 0, 0);
	pthread_create(&thread, NULL, consume, &lock);
	while (time(NULL) < until) {
		sem_wait(&empty);
		pthread_rwlock_wrlock(&lock);
		pthread_rwlock_unlock(&lock);
		sem_post(&full);
		pthread_create(&other, NULL, nothing, argv);
		if (pthread_join(other, &result) || result != argv)
			return 7;
		ASSAY_PROGRESS_NAMED("tick");
	}
	over = 1;
	sem_post(&full);
	if (pthread_join(thread, &result) || result != &lock)
		return 8;
	printf("%d ticks\\n", (int)ticks);
	return 0;
}
"""
LATE = """#include <dlfcn.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	void *part = dlopen(argv[1], RTLD_NOW);
	int (*go)(int) = part ? dlsym(part, "go") : NULL;
	return argc > 2 && go ? go(atoi(argv[2])) : 1;
}
"""
LATE_PART = """#include <pthread.h>
#include <unistd.h>
#include "assay.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int over;
__attribute__((noinline)) static void work(void)
{
	unsigned long left = 200000, x = 1;
	while (left--)
		x = x * 6364136223846793005UL + 1;
	__asm__ volatile("" : : "r"(x));
}
static void *live(void *argument)
{
	while (!over) {
		pthread_mutex_lock(&lock);
		work();
		ASSAY_PROGRESS_NAMED("tick");
		pthread_mutex_unlock(&lock);
	}
	return argument;
}
int go(int seconds)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, live, NULL);
	sleep((unsigned)seconds);
	over = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
"""


def prepare():
    """All that runs, where nobody can read it; the words before a command."""
    for path in PARTS:
        shutil.copy(path, ".")
    os.chmod(".", 0o755)
    return NOBODY if os.geteuid() == 0 else []


def compiled(name, text, *options):
    with open(name + ".c", "w", encoding="ascii") as file:
        file.write(text)
    r = run("cc", "-O1", "-g", *options, name + ".c", "-o", name)
    if r.status:
        skip("no C compiler: " + r.err[-100:])
    return os.path.abspath(name)


def experiment(program, *words, targets, levels="1000", before=(), env=None, options=()):
    """Pairs and the summary of one run of the engine; `before`: what starts it, as a container."""
    first = prepare()
    argv = first + list(before) + [os.path.abspath("causal-engine"), "--engine", "preload",
                                   "--levels", levels]
    for function in targets:
        argv += ["--target", place_of(program, function)]
    r = run(*argv, *options, "--", os.path.abspath(program), *words, env=env, limit_s=90)
    assert r.status == 0, r
    lines = [json.loads(line) for line in r.out.splitlines()]
    assert lines[-1]["summary"]["engine"] == "preload", r
    return lines[:-1], r


def calm(pairs, point):
    """The gains, from pairs in which nobody else wanted the CPUs where there are enough of them."""
    return gains(calm_pairs(pairs, .25, 2), point)


def allocator(name):
    for folder in ("x86_64-linux-gnu", "aarch64-linux-gnu"):
        path = f"/usr/lib/{folder}/{name}"
        if os.path.exists(path):
            return path
    return skip(f"{name} is not installed")


@measured("without rights the fallback is chosen, named, and says what it does not see")
def _():
    first = prepare()
    r = run(*first, "./assay", "causal", "--budget", "4s", "--json", "-f", "work_a", "--",
            "./shapes", "fping", "30")
    assert r.status in (0, 3), r
    answer = json.loads(r.out)
    if answer["data"]["engine"] == "bpf":
        skip("nobody may use BPF here")
    data = answer["data"]
    assert data["engine"] == "preload" and data["pairs"] + data["disturbed"] > 3, r
    assert data["pairs"] > 3 or data["disturbed"], r  # beside other tests
    assert "raw futexes" in answer["data"]["not_seen"], r
    r = run(*first, "./assay", "causal", "--budget", "2s", "-f", "work_a", "--", "./shapes",
            "split", "30")
    assert "preload" in r.out + r.err and "raw futexes" in r.out + r.err and "BPF" in r.err, r


@measured("what others took is not taken out without BPF: such pairs are excluded", alone=True)
def _():
    prepare()
    with beside("spin2"):
        r = run("./assay", "causal", "--engine", "preload", "--budget", "5s", "--json", "-f",
                "work_a", "--", "./shapes", "barrier", "30")
    data = json.loads(r.out)["data"]
    assert data["engine"] == "preload" and data["disturbed"] > 0, r


@case("--engine chooses; what only the kernel can do is refused with the way out")
def _():
    prepare()
    r = run("./assay", "causal", "--engine", "preload", "--progress", "work_a", "--budget", "3s",
            "--", "./shapes", "split", "30")
    assert r.status == 6 and "ASSAY_PROGRESS" in r.err, r
    r = run("./assay", "causal", "--engine", "preload", "--waits", "work_a", "--budget", "3s",
            "--", "./shapes", "split", "30")
    assert r.status == 6 and "BPF" in r.err, r
    with subprocess.Popen(["./shapes", "split", "10"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as running:
        r = run("./assay", "causal", "--engine", "preload", "--progress", "work_a", "-p",
                running.pid)
        running.kill()
    assert r.status == 6 and "not a running" in r.err and "BPF" in r.err, r
    if run("cc", "-static", os.path.join(SOURCE, "tests/workloads/causal/shapes.c"), "-I",
           os.path.join(SOURCE, "include"), "-o", "still", "-lpthread").status == 0:
        r = run("./assay", "causal", "--engine", "preload", "--", "./still", "split", "10")
        assert r.status == 6 and "static" in r.err and "BPF" in r.err, r
    r = run("./assay", "causal", "--engine", "other", "--", "./shapes", "split", "1")
    assert r.status == 2 and "preload" in r.err, r
    if os.geteuid() == 0:
        r = run(*NOBODY, "./assay", "causal", "--engine", "bpf", "--", "./shapes", "split", "1")
        assert r.status == 6, r


@measured("automatic choice of lines works by the samples that the program takes itself")
def _():
    first = prepare()
    r = run(*first, "./assay", "causal", "--engine", "preload", "--budget", "6s", "--json", "--",
            "./shapes", "split", "30")
    assert r.status == 0, r
    targets = json.loads(r.out)["data"]["targets"]
    share = sorted(t["sample_share"] for t in targets)
    assert len(targets) >= 2 and share[-1] > share[-2] > .1, r


@measured("a line that takes most of a thread promises most of the gain")
def _():
    pairs, r = experiment("shapes", "split", "5", targets=["work_a", "work_b"])
    gain = calm(pairs, "round")
    assert 35 < gain["work_a", 1000] < 95 and 5 < gain["work_b", 1000] < 60, (gain, r)
    assert gain["work_a", 1000] > gain["work_b", 1000] + 10, (gain, r)


@measured("a producer that waits anyway promises less than its consumer, over mutex and condition",
          alone=True)
def _():
    pairs, r = experiment("shapes", "pipe", "6", targets=["work_a", "work_b"])
    gain = calm(pairs, "round")
    assert gain["work_a", 1000] < 25 < gain["work_b", 1000], (gain, r)
    assert sum(p["faster"]["pauses"] for p in pairs) and sum(p["base"]["handed"] for p in pairs), r


@measured("who arrives first at a barrier has nothing to gain", alone=True)
def _():
    pairs, r = experiment("shapes", "barrier", "6", targets=["work_a", "work_b"])
    gain = calm(pairs, "round")
    assert 10 < gain["work_a", 1000] < 65 and gain["work_b", 1000] < 20, (gain, r)


@measured("both sides of a hand-off matter, the longer one more")
def _():
    pairs, r = experiment("shapes", "ping", "6", targets=["work_a", "work_b"])
    gain = calm(pairs, "round")
    assert gain["work_b", 1000] > gain["work_a", 1000] + 5, (gain, r)
    assert gain["work_a", 1000] > 5 and gain["work_b", 1000] > 25, (gain, r)


@measured("where perf events are forbidden the kernel's timers do")
def _():
    wrapper = compiled("noperf", NO_PERF)
    pairs, r = experiment("shapes", "split", "5", targets=["work_a", "work_b"], before=[wrapper])
    half = pairs[-1]["base"]
    assert 0 < half["samples"] < half["wall"] / 1.5e6, r  # one per tick, not one per period
    gain = calm(pairs, "round")
    assert gain["work_a", 1000] > gain["work_b", 1000] + 10, (gain, r)


@measured("allocators that lock before anything is ready do not hang or fall over")
def _():
    missing = []
    for name in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4"):
        try:
            path = allocator(name)
        except Exception:  # noqa: BLE001  pylint: disable=broad-except
            missing.append(name)
            continue
        pairs, r = experiment("shapes", "ping", "2", targets=["work_b"],
                              env={"LD_PRELOAD": path})
        assert pairs and pairs[0]["base"]["points"]["round"][0] > 5, r
    if len(missing) == 2:
        skip("neither jemalloc nor tcmalloc is installed")


@measured("semaphores, read-write locks, many short threads and a SIGPROF of the program's own")
def _():
    program = compiled("own", OWN, "-I", os.path.join(SOURCE, "include"), "-pthread")
    pairs, r = experiment(program, "3", targets=["work"])
    assert pairs and pairs[0]["base"]["points"]["tick"][0] > 5, r
    assert max(p["base"]["handed"] for p in pairs) > 5, r
    assert int(r.err.split()[0]) > 20, r


@case("a thousand threads have a seat each; a forked child counts for itself")
def _():
    pairs, r = experiment("points", "threads", "4", targets=["work"], levels="500")
    # How many are seen depends on who runs in a window; nobody may be left without a seat.
    assert pairs and all(p["base"]["no_seat"] == 0 for p in pairs), r
    assert int(r.err.split()[0]) > 20, r
    pairs, r = experiment("points", "children", "3", targets=["work"])
    assert pairs and all(p["base"]["points"]["tick"][0] < 10000 for p in pairs), r


@case("a thread that blocks all signals is left alone, and that is counted")
def _():
    pairs, r = experiment("points", "masked", "3", targets=["work"], levels="500")
    assert pairs and all(p["faster"]["samples"] == 0 for p in pairs), r
    assert all(p["faster"]["masked"] > 0 for p in pairs), r


@measured("threads of a library that was loaded later take part")
def _():
    first = prepare()
    program = compiled("late", LATE, "-ldl")
    compiled("late.so", LATE_PART, "-shared", "-fPIC", "-pthread", "-I",
             os.path.join(SOURCE, "include"))
    r = run(*first, "./assay", "causal", "--engine", "preload", "--budget", "4s", "--json", "--",
            program, os.path.abspath("late.so"), "20")
    assert r.status in (0, 3), r
    targets = json.loads(r.out)["data"]["targets"]
    assert any("late.so.c" in t["location"] for t in targets), r


@measured("in a PID namespace of its own, as in a container, the fallback does it")
def _():
    if os.geteuid() != 0:
        skip("not root: no namespace can be made")
    prepare()
    r = run("unshare", "--pid", "--fork", "--mount-proc", "./assay", "causal", "--budget", "3s",
            "--json", "-f", "work_a", "--", "./shapes", "split", "30")
    if "unshare" in r.err:
        skip("unshare: " + r.err[:80])
    data = json.loads(r.out)["data"]
    assert data["engine"] == "preload" and data["pairs"] > 1, r


@case("the kernel's engine loads nothing that interposes")
def _():
    prepare()
    r = run("nm", "-D", "--defined-only", "./libassay-rt.so")
    assert "pthread_" not in r.out and "assay_point" in r.out, r
    assert "pthread_mutex_lock" in run("nm", "-D", "--defined-only",
                                       "./libassay-rt-interpose.so").out


def sampled(pid):
    """Whether its working threads still have perf events; main waits for them and has no ticks."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        return file.read().count("perf_event") > 1


@case("the tool is killed at any moment: the target runs on, and is sampled no longer")
def _():
    first = prepare()
    for _ in range(2):
        with subprocess.Popen(first + ["./causal-engine", "--engine", "preload", "--target",
                                       place_of("shapes", "work_a"), "--levels", "1000", "--",
                                       "./shapes", "pipe", "8"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as tool:
            found = wait_for(lambda: [pid for pid in filter(str.isdigit, os.listdir("/proc"))
                                      if target_of(pid, tool.pid)])  # pylint: disable=W0640
            time.sleep(chance.uniform(0, 1.7))
            tool.send_signal(signal.SIGKILL)
            tool.wait()
        assert len(found) == 1, found
        wait_for(lambda: not os.path.exists(f"/proc/{found[0]}/maps") or not sampled(found[0]))
        assert os.path.exists(f"/proc/{found[0]}/stat"), "it did not run on"
        os.kill(int(found[0]), signal.SIGKILL)


def target_of(pid, tool):
    """Whether `pid` is the target that `tool` started."""
    try:
        with open(f"/proc/{pid}/environ", errors="replace", encoding="utf-8") as file:
            ours = f"assay-causal-{tool}-" in file.read()
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            return ours and file.read() == "shapes\n"
    except OSError:
        return False


main()
