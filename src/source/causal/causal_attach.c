/* causal_attach.c - the handler in a process that runs: put in, taken out.
 *
 * The work is done by a child of a few milliseconds that has a session of its own and holds back
 * all signals: Ctrl-C, a kill of assay or of its whole process group does not reach it half-way.
 * (Killed itself, it leaves a process that undoes by itself what was done: inject.h.)  Its end also
 * lets go of a thread that would not stop. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "causal_parts.h"

enum { DETACH_TRIES = 5 };

/* What the child says, in a page shared with it. */
struct attach_answer {
	int result;
	struct err err;
	struct injection injection;
};

static _Noreturn void child_work(
	const struct causal *causal, bool put, struct attach_answer *answer)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	answer->result =
		put ? inject_put(&answer->injection, causal_map_descriptor(causal, "assay_board"),
			      causal_map_descriptor(causal, "assay_seats"), &answer->err)
		    : inject_take_out(&answer->injection, &answer->err);
	_exit(0);
}

/* Have it done, and take over what was said. */
static int child_run(struct causal *causal, bool put, struct err *err)
{
	struct attach_answer *answer = mmap(
		NULL, sizeof(*answer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;
	int r;

	if (answer == MAP_FAILED)
		return err_set(err, ERR_UNAVAILABLE, errno, "cannot share a page with a child: %s",
			err_words(errno));
	answer->injection = causal->injection;
	answer->result = -EIO;
	err_set(&answer->err, ERR_UNAVAILABLE, EIO, "the process that attaches was killed");
	child = fork();
	if (child == 0)
		child_work(causal, put, answer);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	r = answer->result;
	if (r < 0)
		*err = answer->err;
	else
		causal->injection = answer->injection;
	munmap(answer, sizeof(*answer));
	return r;
}

int causal_inject(struct causal *causal, pid_t pid, struct err *err)
{
	int r = causal_check_process(pid, err);

	if (r < 0)
		return r;
	r = causal_bind(causal, pid, err);
	if (r < 0)
		return r;
	causal->injection = (struct injection){.pid = pid,
		.owner = getpid(),
		.board_bytes = (sizeof(*causal->board) + 4095) & ~(size_t)4095,
		.seats_bytes = sizeof(*causal->seats) * WIRE_CAUSAL_SEATS};
	r = child_run(causal, true, err);
	if (r < 0) {
		causal->injection.pid = 0;
		return r == -EPERM ? causal_check_permission(pid, err) : r;
	}
	causal->board->signal = causal->injection.signal;
	__atomic_store_n(&causal->board->handler, causal->injection.handler, __ATOMIC_RELEASE);
	return 0;
}

int causal_take_out(struct causal *causal, struct err *err)
{
	int r = 0;

	if (!causal->injection.pid)
		return 0;
	if (causal->kernel)
		causal->kernel->settings.active = 0;
	__atomic_store_n(&causal->board->active, 0, __ATOMIC_RELEASE);
	causal_silence(causal);
	if (causal_check_filters(causal->injection.pid, err) < 0) { /* set meanwhile */
		causal->injection.pid = 0;
		return -err->code;
	}
	/* On a busy machine a thread may not get the CPU that it needs to stop. */
	for (unsigned tries = 0; tries < DETACH_TRIES && (!tries || r == -EBUSY); tries++)
		r = kill(causal->injection.pid, 0) == 0 ? child_run(causal, false, err) : 0;
	causal->injection.pid = 0;
	return r == -ESRCH ? 0 : r;
}
