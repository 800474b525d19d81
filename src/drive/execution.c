/* execution.c - see execution.h.  What counting and recording have in common. */
#include "drive/execution.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "wire/record.h"

static int watch_open(struct execution *x, struct err *err)
{
	const struct execution_options *o = &x->options;

	if (o->mode != COUNTERS_PROCESS && o->mode != COUNTERS_THREAD)
		return 0;
	x->watched = (int)syscall(SYS_pidfd_open, o->id, 0);
	if (x->watched >= 0 || errno != ESRCH)
		return 0; /* a thread has no pidfd before 6.9: Ctrl-C or a program ends it */
	err_set(err, ERR_TARGET, ESRCH, "no process %d", (int)o->id);
	err_hint(err, "`ps -e` lists processes");
	return -ESRCH;
}

int execution_open(
	const struct execution_options *options, struct execution *ret_execution, struct err *err)
{
	const struct spawner_command command = {
		.path = options->path, .argv = options->argv, .folder = options->folder};
	struct spawner_options spawn = {
		.commands = &command,
		.stdout_to_stderr = options->stdout_to_stderr,
		.variables = options->variables,
		.input_path = options->input_path,
		.output_path = options->output_path,
	};
	int r;

	*ret_execution = (struct execution){.options = *options, .watched = -1};
	r = options->path ? spawner_open(&spawn, &ret_execution->spawner, err) : 0;
	return r < 0 ? r : watch_open(ret_execution, err);
}

pid_t execution_id(const struct execution *execution)
{
	return execution->options.mode == COUNTERS_CHILDREN ? spawner_id(execution->spawner)
							    : execution->options.id;
}

int execution_start(struct execution *execution, struct err *err)
{
	execution->number++;
	execution->start_ns = clock_monotonic_ns();
	return execution->spawner
		       ? spawner_start(execution->spawner, &(struct spawner_request){0}, err)
		       : 0;
}

int execution_descriptor(const struct execution *execution)
{
	return execution->spawner ? spawner_descriptor(execution->spawner) : execution->watched;
}

void execution_pass_on_signals(struct execution *execution)
{
	struct interrupt now = interrupt_now(execution->options.interrupted);

	if (now.count == execution->signals_seen)
		return;
	execution->stopped = true;
	if (execution->spawner && now.count > 1)
		spawner_signal(execution->spawner, SIGKILL);
	else if (execution->spawner && !now.from_terminal)
		spawner_signal(execution->spawner, now.signal);
	execution->signals_seen = now.count;
}

int execution_finish(struct execution *execution, struct err *err)
{
	int r;

	/* A signal that came together with the target's end was not passed on yet. */
	execution_pass_on_signals(execution);
	if (!execution->spawner)
		return 0;
	r = spawner_result(execution->spawner, &execution->result, err);
	if (r >= 0 && execution->result.spawn_errno)
		r = spawner_failed(execution->options.path, execution->result.spawn_errno, err);
	return r;
}

int execution_emit(const struct execution *execution, const struct wire_sink *sink)
{
	const struct spawner_result *result = &execution->result;
	struct wire_execution e = {
		.head = {WIRE_EXECUTION, sizeof(e)},
		.execution = execution->number,
		.start_ns = execution->start_ns,
		.wall_ns = clock_monotonic_ns() - execution->start_ns,
		.flags = WIRE_EXECUTION_NO_USAGE,
	};

	if (execution->spawner && execution->options.mode == COUNTERS_CHILDREN) {
		e.flags = result->leftovers ? WIRE_EXECUTION_LEFTOVERS : 0;
		e.start_ns = result->start_ns;
		e.wall_ns = result->wall_ns;
		e.user_ns = result->user_ns;
		e.system_ns = result->system_ns;
		e.max_rss_bytes = result->max_rss_bytes;
		e.rss_floor_bytes = result->rss_floor_bytes;
		e.minor_faults = result->minor_faults;
		e.major_faults = result->major_faults;
		e.voluntary_switches = result->voluntary_switches;
		e.involuntary_switches = result->involuntary_switches;
	}
	/* Stopping a watch is how it ends; only a program can be cut short. */
	if (execution->spawner) {
		e.exit_status = result->exit_status;
		e.signal = result->signal;
		if (execution->stopped)
			e.flags |= WIRE_EXECUTION_INTERRUPTED;
		if (execution->ended)
			e.flags |= WIRE_EXECUTION_TIMED_OUT;
	}
	return sink->take(sink->context, &e.head);
}

void execution_close(struct execution *execution)
{
	spawner_close_pointer(&execution->spawner);
	io_close_pointer(&execution->watched);
}
