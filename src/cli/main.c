/* main.c - find the command, hand it its words, turn what it says into an exit status. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "drive/phase.h"
#include "model/run.h"

static volatile sig_atomic_t interrupts, last_signal, terminal_signal, leaving;

static void leave(void)
{
	static const char words[] = "assay: interrupted; nothing was written\n";

	if (write(STDERR_FILENO, words, sizeof(words) - 1) < 0)
		_exit(EXIT_INTERRUPTED);
	_exit(EXIT_INTERRUPTED);
}

static void on_interrupt(int signal, siginfo_t *info, void *context)
{
	(void)context;
	interrupts++;
	last_signal = signal;
	terminal_signal = info->si_code == SI_KERNEL;
	if (leaving)
		leave();
}

static void on_pipe(int signal)
{
	(void)signal;
}

/* Handlers, never SIG_IGN: a handler is gone after exec, so the target starts with the signals our
 * caller gave us, while an ignored signal would stay ignored in it.  What our caller ignores
 * (nohup) we leave ignored. */
static void handle(int signal, const struct sigaction *action)
{
	struct sigaction old;

	if (sigaction(signal, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(signal, action, NULL);
}

void cli_watch_interrupts(void)
{
	/* No SA_RESTART: waits must end. */
	const struct sigaction stop = {.sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO};
	const struct sigaction closed = {.sa_handler = on_pipe};

	handle(SIGINT, &stop);
	handle(SIGTERM, &stop);
	handle(SIGHUP, &stop);
	handle(SIGPIPE, &closed);
}

void cli_leave_on_interrupt(void)
{
	leaving = 1;
	if (interrupts)
		leave();
}

void cli_stay(void)
{
	leaving = 0;
}

void cli_forget_interrupts(void)
{
	interrupts = 0;
}

int cli_load(struct cli *cli, const char *path, struct run **ret_run, struct err *err)
{
	int r;

	cli_stay();
	r = job_load_run(&cli->host, path, ret_run, err);
	if (r >= 0)
		cli_leave_on_interrupt();
	return r;
}

struct interrupt cli_interrupted(void)
{
	return (struct interrupt){
		.count = (unsigned)interrupts,
		.signal = (int)last_signal,
		.from_terminal = terminal_signal != 0,
	};
}

int cli_status_of(const struct err *err)
{
	switch (err->kind) {
	case ERR_USAGE:
		return EXIT_USAGE;
	case ERR_TARGET:
		return EXIT_TARGET;
	case ERR_UNAVAILABLE:
		return EXIT_UNAVAILABLE;
	case ERR_OUTPUT:
		return EXIT_NOT_WRITTEN;
	case ERR_INTERRUPTED:
		return EXIT_INTERRUPTED;
	}
	return EXIT_USAGE;
}

int cli_target_status(const struct cli *cli, const struct run *run)
{
	vec_foreach (const struct execution_packed, e, &run->executions) {
		/* One that assay stopped at the limit did not fail. */
		if ((!e->exit_status && !e->signal) || (e->flags & EXECUTION_TIMED_OUT))
			continue;
		if (!cli->target_status)
			return EXIT_TARGET;
		return e->signal ? 128 + e->signal : e->exit_status;
	}
	return EXIT_DONE;
}

void cli_target_tell(struct cli *cli, const struct run *run)
{
	cli->target_ended = cli->program && cli->target_status && run->executions.count;
	if (cli->target_ended)
		cli->target_exit = cli_target_status(cli, run);
}

/* A reader of stdout that has seen enough (`| head`) knows that it went away: the status tells the
 * rest. */
static bool reader_left(const struct err *err)
{
	return err->kind == ERR_OUTPUT && err->code == EPIPE;
}

static int fail(const struct err *err)
{
	str_auto struct str text = {0};

	if (reader_left(err))
		return cli_status_of(err);
	str_addf(&text, "assay: %s\n", err->text);
	if (err->hint[0])
		str_addf(&text, "  %s\n", err->hint);
	(void)cli_say(STDERR_FILENO, &text);
	return cli_status_of(err);
}

/* Who asked for it gets the failure in a descriptor of its own (drive/phase.h).  Neither that nor
 * the variable is the target's; it goes from /proc/self/environ too, where the fingerprint reads
 * what the target inherits. */
static int failure_take(void)
{
	char *value = getenv(PHASE_FAILURE);
	uint64_t fd = UINT64_MAX;

	if (!value)
		return -1;
	(void)str_to_u64(value, &fd);
	unsetenv(PHASE_FAILURE);
	memset(value - sizeof(PHASE_FAILURE), 0, sizeof(PHASE_FAILURE) + strlen(value));
	return fd > INT_MAX || fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0 ? -1 : (int)fd;
}

static int print_text(const char *text, size_t len)
{
	struct err err = {0};

	return cli_print(text, len, &err) < 0 ? fail(&err) : EXIT_DONE;
}

static int print_help(const struct command *command)
{
	str_auto struct str text = {0};
	struct paper paper = {.out = &text, .color = false};

	if (command)
		help_command(&paper, command);
	else
		help_overview(&paper);
	return print_text(text.at, text.len);
}

static int print_version(bool verbose)
{
	str_auto struct str text = {0};

	version_write(&text, verbose);
	return print_text(text.at, text.len);
}

static int run_command(struct cli *cli, char **words)
{
	int failure = failure_take();
	struct err err = {0};
	int r = cli_parse(cli, words, &err);

	if (r >= 0 && cli_has(cli, "help"))
		return print_help(cli->command);
	if (r >= 0) {
		cli->host = cli_host(cli);
		r = cli->command->run(cli, &err);
	}
	if (r >= 0)
		return r;
	if (failure >= 0)
		dprintf(failure, "%s\n%s\n", err.text, err.hint);
	r = fail(&err);
	/* The main job asks its phases for the program's status, and still wants to know this. */
	if (cli->target_ended && err.kind == ERR_OUTPUT && failure < 0)
		return cli->target_exit;
	return cli->target_status && cli->target_exit ? cli->target_exit : r;
}

/* A descriptor 0, 1 or 2 that our caller closed would be given to the next file that is opened, and
 * what we say would end up in a run file.  This holds its place, takes no byte, and is closed again
 * in the target. */
static void keep_places(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_PATH | O_CLOEXEC) < 0)
			return;
}

int main(int argc, char **argv)
{
	struct cli cli = {.argv = argv};
	struct err err = {0};
	const char *name = argc > 1 ? argv[1] : "--help";
	int status;

	keep_places();
	if (str_equal(name, "--help") || str_equal(name, "-h"))
		return print_help(NULL);
	if (str_equal(name, "--version"))
		return print_version(argc > 2 && str_equal(argv[2], "--verbose"));
	if (str_equal(name, "--"))
		name = "run";
	cli.command = command_find(name);
	if (!cli.command) {
		command_unknown(name, &err);
		return fail(&err);
	}
	cli_watch_interrupts();
	status = run_command(&cli, argv + (str_equal(argv[1], "--") ? 1 : 2));
	vec_done(&cli.operands);
	vec_done(&cli.options);
	str_done(&cli.target);
	arena_done(&cli.arena);
	return status;
}
