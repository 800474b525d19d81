/* simulate.c - see simulate.h.
 *
 * valgrind is the target that the spawner starts, the program is its words.  Everything that it
 * writes goes into a folder of ours below $TMPDIR, so nothing is left beside the program.  To stop
 * it SIGTERM is enough: cachegrind writes what it has counted when a program dies of a signal.  A
 * program that handles SIGTERM may go on; vim outlived SIGHUP and SIGQUIT too.  So the second is a
 * real-time signal, which hardly any program handles and no valgrind uses (its own is the last but
 * one); the last is SIGKILL, after which there is nothing to read. */
#include "drive/simulate.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/map.h"
#include "base/vec.h"
#include "code/binary.h"
#include "drive/execution.h"
#include "drive/simulate_caches.h"
#include "simulate_parts.h"
#include "source/cachegrind.h"
#include "source/emit.h"

enum { NS_PER_S = 1000000000, TICK_NS = 1000000000, PATIENCE_NS = 2000000000, TEXT_MOST = 1 << 30 };
enum { BEGIN_NS = 20000000 }; /* until a process can be told to count */

struct simulation {
	const struct simulate_options *options;
	const struct event_list *events;
	const struct wire_sink *sink;
	struct event_list own_events; /* when the caller gave none */
	struct arena arena;
	struct simulate_caches caches;
	const char *valgrind;
	struct simulate_folder folder;
	vec_of(char *) argv;
	struct execution execution;
	bool timed_out;
	struct simulate_begun begun; /* after what was to be left out */
	const char *setting;	     /* "NAME=VALUE" that the program needs there; NULL: none */
	struct map commands;	     /* of the processes whose counts were read */
	bool forked;	  /* one of them twice: the second began as a copy of the first */
	unsigned stops;	  /* signals sent because of the limit */
	uint64_t last_ns; /* of the last run, for the cost of the others */
};

static int valgrind_find(struct arena *arena, const char **ret_path, struct err *err)
{
	if (binary_find("valgrind", arena, ret_path, err) >= 0)
		return 0;
	err_set(err, ERR_UNAVAILABLE, ENOENT,
		"the simulator needs valgrind, which is not installed");
	err_hint(err, "sudo apt install valgrind");
	return -ENOENT;
}

int simulate_available(struct err *err)
{
	arena_auto struct arena arena = {0};
	const char *path;

	return valgrind_find(&arena, &path, err);
}

static void word_add(struct simulation *s, const char *name, const char *value)
{
	vec_push(&s->argv, arena_format(&s->arena, "%s%s", name, value));
}

/* A percent sign in the folder's name would be one of valgrind's words: "%p" is the process. */
static const char *file_pattern(struct simulation *s, const char *name)
{
	str_auto struct str path = {0};

	for (const char *at = s->folder.path; *at; at++)
		str_add(&path, *at == '%' ? "%%" : (char[]){*at, '\0'});
	return arena_format(&s->arena, "%s/%s.%%p", path.at, name);
}

/* Who calls and who loops is callgrind's; what it has in common with cachegrind costs more there
 * (docs/decisions/016-simulated.md). */
static void tool_words(struct simulation *s)
{
	if (!cachegrind_events_need_calls(s->events)) {
		word_add(s, "--tool=cachegrind", "");
		word_add(s, "--cachegrind-out-file=", file_pattern(s, "out"));
		return;
	}
	word_add(s, "--tool=callgrind", "");
	word_add(s, "--callgrind-out-file=", file_pattern(s, "out"));
	word_add(s, "--dump-instr=yes", "");
	word_add(s, "--collect-jumps=yes", "");
	if (s->options->delay_ns)
		word_add(s, "--instr-atstart=no", "");
}

/* Who may speak to it while it runs: nobody, or we. */
static void vgdb_words(struct simulation *s)
{
	str_auto struct str prefix = {0};

	if (!s->options->delay_ns) {
		word_add(s, "--vgdb=no", "");
		return;
	}
	str_addf(&prefix, "%s/vgdb", s->folder.path);
	word_add(s, "--vgdb=yes", "");
	word_add(s, "--vgdb-prefix=", prefix.at);
}

static void words_make(struct simulation *s)
{
	bool caches = cachegrind_events_need_caches(s->events);

	word_add(s, "valgrind", "");
	word_add(s, "--command-line-only=yes", ""); /* no ~/.valgrindrc, no $VALGRIND_OPTS */
	tool_words(s);
	vgdb_words(s);
	word_add(s, "--demangle=no", ""); /* ingest does it, with the names of the samples */
	word_add(s, "--trace-children=yes", "");
	word_add(s, "--cache-sim=", caches ? "yes" : "no");
	word_add(s, "--branch-sim=", caches ? "yes" : "no");
	word_add(s, "--I1=", simulate_cache_text(&s->caches.i1, &s->arena));
	word_add(s, "--D1=", simulate_cache_text(&s->caches.d1, &s->arena));
	word_add(s, "--LL=", simulate_cache_text(&s->caches.ll, &s->arena));
	word_add(s, "--log-file=", file_pattern(s, "log"));
	word_add(s, s->options->path, "");
	for (char *const *word = s->options->argv + 1; *word; word++)
		vec_push(&s->argv, *word);
	vec_push(&s->argv, NULL);
}

/* Addresses are not randomised, in the spawner and so in all that it starts. */
static int spawner_make(struct simulation *s, struct err *err)
{
	const struct simulate_options *o = s->options;
	struct execution_options how = {
		.path = s->valgrind,
		.argv = s->argv.at,
		.input_path = o->input_path,
		.stdout_to_stderr = o->stdout_to_stderr,
		.variables = (const struct spawner_variable[]){{.text = s->setting}, {0}},
		.mode = COUNTERS_CHILDREN,
		.interrupted = o->interrupted,
	};
	int before = personality(0xffffffff), r;

	if (before >= 0)
		(void)personality((unsigned long)before | ADDR_NO_RANDOMIZE);
	r = execution_open(&how, &s->execution, err);
	s->execution.options.variables = NULL;
	if (before >= 0)
		(void)personality((unsigned long)before);
	return r;
}

/* ---- what it costs ---- */

static const char *seconds_words(char *buf, size_t capacity, double ns)
{
	if (ns < 60e9)
		snprintf(buf, capacity, "%.*f s", ns < 10e9 ? 1 : 0, ns / 1e9);
	else
		snprintf(buf, capacity, "%.0f min", ns / 60e9);
	return buf;
}

static void tell_cost(const struct simulation *s)
{
	const struct simulate_options *o = s->options;
	bool caches = cachegrind_events_need_caches(s->events);
	bool calls = cachegrind_events_need_calls(s->events);
	int least = calls    ? SIMULATE_CALLS_LEAST
		    : caches ? SIMULATE_SLOWER_LEAST
			     : SIMULATE_INSTRUCTIONS_LEAST;
	int most = calls    ? SIMULATE_CALLS_MOST
		   : caches ? SIMULATE_SLOWER_MOST
			    : SIMULATE_INSTRUCTIONS_MOST;
	char text[256], low[32], high[32], times[32] = "";

	if (!o->tell)
		return;
	if (o->repeat > 1)
		snprintf(times, sizeof(times), ", %u times", o->repeat);
	if (o->native_ns)
		snprintf(text, sizeof(text),
			"the simulation takes %d to %d times as long: about %s to %s%s; Ctrl-C "
			"stops it and keeps the results so far",
			least, most, seconds_words(low, sizeof(low), (double)o->native_ns * least),
			seconds_words(high, sizeof(high), (double)o->native_ns * most), times);
	else
		snprintf(text, sizeof(text),
			"the simulation takes %d to %d times as long as the program alone%s; "
			"Ctrl-C stops it and keeps the results so far",
			least, most, times);
	o->tell(o->context, text);
}

/* The first run tells what the others take. */
static void tell_rest(const struct simulation *s)
{
	const struct simulate_options *o = s->options;
	char text[128], time[32];

	if (!o->tell || s->execution.number != 1 || o->repeat < 2)
		return;
	snprintf(text, sizeof(text), "the other %u runs take about %s", o->repeat - 1,
		seconds_words(time, sizeof(time), (double)s->last_ns * (o->repeat - 1)));
	o->tell(o->context, text);
}

/* ---- one run ---- */

/* When the limit has passed: ask, ask otherwise, end it. */
static void limit_check(struct simulation *s, uint64_t now_ns)
{
	const int signals[] = {SIGTERM, SIGRTMAX - 9, SIGQUIT, SIGKILL};
	uint64_t limit = s->options->limit_ns, since = now_ns - s->execution.start_ns;

	if (!limit || s->stops >= sizeof(signals) / sizeof(*signals) ||
		since < limit + s->stops * (uint64_t)PATIENCE_NS)
		return;
	s->timed_out = true;
	spawner_end(s->execution.spawner, signals[s->stops++]);
}

static void delay_check(struct simulation *s, uint64_t now_ns)
{
	uint64_t delay = s->options->delay_ns;

	if (delay && now_ns - s->execution.start_ns >= delay)
		simulate_begin(s->folder.path, &s->begun);
}

static uint64_t next_wake(const struct simulation *s, uint64_t now_ns)
{
	uint64_t limit = s->options->limit_ns, wake = TICK_NS;
	uint64_t end = s->execution.start_ns + limit + s->stops * (uint64_t)PATIENCE_NS;
	uint64_t begin = s->execution.start_ns + s->options->delay_ns;

	if (s->options->delay_ns && !s->begun.count && begin <= now_ns)
		wake = BEGIN_NS;
	if (limit && end > now_ns && end - now_ns < wake)
		wake = end - now_ns;
	if (s->options->delay_ns && begin > now_ns && begin - now_ns < wake)
		wake = begin - now_ns;
	return wake;
}

static void wait_for_end(struct simulation *s)
{
	const struct simulate_options *o = s->options;
	struct execution *x = &s->execution;
	struct pollfd ready = {.fd = execution_descriptor(x), .events = POLLIN};
	sigset_t all, before;

	/* Signals are only taken inside ppoll(), so that none slips in between check and sleep. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	for (;;) {
		uint64_t now = clock_monotonic_ns(), wake = next_wake(s, now);
		struct timespec timeout = {(time_t)(wake / NS_PER_S), (long)(wake % NS_PER_S)};
		int got = ppoll(&ready, 1, &timeout, &before);

		if (got > 0)
			break;
		execution_pass_on_signals(x);
		now = clock_monotonic_ns();
		delay_check(s, now);
		limit_check(s, now);
		if (got == 0 && o->progress)
			o->progress(o->context, x->number, now - x->start_ns);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	execution_pass_on_signals(x);
}

/* A process that was forked and not executed anew wrote the same "cmd:" as its parent, and began
 * with its parent's counts. */
static void command_note(struct simulation *s, const char *text)
{
	const char *at = strstr(text, "cmd:");
	size_t len = at ? strcspn(at, "\n") : 0;
	uint32_t seen;

	if (!len)
		return;
	s->forked |= map_get(&s->commands, at, len, &seen);
	map_put(&s->commands, at, len, 1);
}

/* The files of all processes that ended, summed; places only of the first run, because they have
 * no execution of their own. */
static int results_read(struct simulation *s, struct cachegrind_sums *sums)
{
	DIR *dir = opendir(s->folder.path);
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return -errno;
	while (r >= 0 && (entry = readdir(dir))) {
		str_auto struct str text = {0};

		if (!str_starts(entry->d_name, "out."))
			continue;
		r = io_read_at(dirfd(dir), entry->d_name, TEXT_MOST, &text);
		if (r >= 0 && s->execution.number == 1)
			command_note(s, str_text(&text));
		if (r >= 0)
			r = cachegrind_read(sums, s->events, str_text(&text), text.len,
				s->execution.number == 1 ? s->sink : NULL);
		if (r == -EINVAL) { /* of a process that was killed while it wrote */
			sums->malformed++;
			r = 0;
		}
		(void)unlinkat(dirfd(dir), entry->d_name, 0);
	}
	closedir(dir);
	return r;
}

static int emit_execution(const struct simulation *s)
{
	const struct spawner_result *result = &s->execution.result;
	/* Time and memory are the simulator's, so they are not told. */
	struct wire_execution e = {
		.head = {WIRE_EXECUTION, sizeof(e)},
		.execution = s->execution.number,
		.exit_status = result->exit_status,
		.signal = s->timed_out || s->execution.stopped ? 0 : result->signal,
		.flags = WIRE_EXECUTION_NO_USAGE | WIRE_EXECUTION_EXIT,
		.start_ns = result->start_ns,
		.wall_ns = result->wall_ns,
	};

	if (s->timed_out)
		e.flags |= WIRE_EXECUTION_TIMED_OUT;
	if (s->execution.stopped)
		e.flags |= WIRE_EXECUTION_INTERRUPTED;
	if (s->options->delay_ns)
		e.flags |= WIRE_EXECUTION_LATE;
	if (result->leftovers)
		e.flags |= WIRE_EXECUTION_LEFTOVERS;
	return s->sink->take(s->sink->context, &e.head);
}

static int refuse_instruction(const struct simulate_log *log, struct err *err)
{
	err_set(err, ERR_UNAVAILABLE, ENOTSUP,
		"valgrind cannot simulate an instruction of this program (%s); this is a "
		"limit of valgrind",
		*log->instruction ? log->instruction : "unknown");
	err_hint(err,
		"build it without -march=native (valgrind does not support AVX-512), or use `assay "
		"record`, which needs no simulator");
	return -ENOTSUP;
}

static int refuse_nothing(
	const struct simulation *s, const struct simulate_log *log, struct err *err)
{
	const struct spawner_result *result = &s->execution.result;

	if (s->timed_out || s->execution.stopped)
		return err_set(
			err, ERR_TARGET, ETIME, "the simulation ended before it wrote its results");
	if (s->options->delay_ns && !s->begun.count) {
		err_set(err, ERR_TARGET, ETIME, "the program ended before the delay was over");
		return err_hint(err, "use a shorter --delay");
	}
	if (result->signal)
		err_set(err, ERR_TARGET, EIO,
			"the program was killed by signal %d (%s) in the simulator, and nothing "
			"was counted",
			result->signal, strsignal(result->signal));
	else
		err_set(err, ERR_UNAVAILABLE, EIO, "valgrind could not simulate %s%s%s",
			s->options->path, *log->complaint ? ": " : "", log->complaint);
	err_hint(err, "`valgrind --tool=%s %s` shows the reason",
		cachegrind_events_need_calls(s->events) ? "callgrind" : "cachegrind",
		s->options->path);
	return -EIO;
}

static int note_partial(const struct simulation *s)
{
	if (s->options->delay_ns && !s->timed_out && !s->execution.stopped)
		return emit_note(s->sink, "partial-simulation",
			"partial simulation: counting began after a delay, so the counts cover a "
			"part of the run; use only their ratios",
			NULL);
	if (!s->timed_out && !s->execution.stopped)
		return 0;
	return emit_note(s->sink, "partial-simulation",
		s->timed_out
			? "partial simulation: the time limit was reached, so the counts cover a "
			  "part of the run; use only their ratios"
			: "partial simulation: it was stopped, so the counts cover a part of the "
			  "run; use only their ratios",
		s->timed_out ? "use a longer --time-limit or a smaller input" : NULL);
}

static int note_processes(const struct simulation *s, const struct cachegrind_sums *sums)
{
	char text[160];

	if (sums->texts < 2 || s->execution.number != 1)
		return 0;
	snprintf(text, sizeof(text), "the counts are the sum of %u processes%s", sums->texts,
		s->forked ? "; work done before a fork() is counted in the child too" : "");
	return emit_note(s->sink, "several-processes", text, NULL);
}

static int run_emit(struct simulation *s, const struct simulate_log *log, struct err *err)
{
	struct cachegrind_sums sums = {0};
	int r = results_read(s, &sums);

	if (r >= 0 && !sums.texts)
		return refuse_nothing(s, log, err);
	if (r >= 0)
		r = emit_execution(s);
	if (r >= 0)
		r = cachegrind_emit_counts(&sums, s->events, s->execution.number, s->sink);
	if (r >= 0 && sums.malformed)
		r = emit_quality(s->sink, "malformed_lines", sums.malformed);
	if (r >= 0 && log->unsupported)
		r = emit_note(s->sink, "simulator-instruction",
			"the program uses an instruction that valgrind does not support, and "
			"continued without it",
			"the counts may be of another path than the program normally takes");
	if (r >= 0)
		r = note_partial(s);
	if (r >= 0)
		r = note_processes(s, &sums);
	return r < 0 ? err_set(err, ERR_OUTPUT, -r, "cannot read the result of the simulation: %s",
			       err_words(-r))
		     : 0;
}

static int run_once(struct simulation *s, struct err *err)
{
	const struct simulate_options *o = s->options;
	struct simulate_log log;
	int r = execution_start(&s->execution, err);

	if (r < 0)
		return r;
	s->begun.count = 0;
	wait_for_end(s);
	r = execution_finish(&s->execution, err);
	if (r < 0)
		return r;
	s->last_ns = s->execution.result.wall_ns;
	simulate_log_read(s->folder.path, &log);
	if (log.unsupported && s->execution.result.signal == SIGILL)
		return refuse_instruction(&log, err);
	r = run_emit(s, &log, err);
	if (r >= 0)
		tell_rest(s);
	if (r >= 0 && o->each)
		r = o->each(o->context, s->execution.number, err);
	return r;
}

static int simulation_run(struct simulation *s, struct err *err)
{
	uint32_t repeat = s->options->repeat ? s->options->repeat : 1;
	bool caches = cachegrind_events_need_caches(s->events);
	int r = cachegrind_emit_events(s->events, s->sink);

	if (r >= 0 && caches)
		r = simulate_note_caches(&s->caches, s->sink);
	if (r >= 0)
		r = simulate_note_limits(!caches, s->sink);
	tell_cost(s);
	while (r >= 0 && s->execution.number < repeat && !s->timed_out) {
		execution_pass_on_signals(&s->execution);
		if (s->execution.stopped)
			break;
		r = run_once(s, err);
	}
	return r < 0 ? r : s->execution.stopped;
}

/* callgrind gives up when a signal handler returns on another stack than it came on, as those do by
 * which Go takes a CPU from a goroutine; without them a goroutine gives it up when it calls. */
static const char *go_setting(struct arena *arena)
{
	const char *own = getenv("GODEBUG");

	return arena_format(
		arena, "GODEBUG=%s%sasyncpreemptoff=1", own ? own : "", own && *own ? "," : "");
}

/* Valgrind is a shell to files without a #! line, and complains of a missing interpreter in its own
 * words: what exec would refuse is refused here, as by the other commands. */
static int program_check(struct simulation *s, struct err *err)
{
	struct binary_options options = {.without_libraries = true};
	struct binary_facts facts;
	struct stat file;
	int r = binary_inspect(s->options->path, &options, &s->arena, &facts, err);

	if (r >= 0 && facts.language == LANGUAGE_GO)
		s->setting = go_setting(&s->arena);
	if (r < 0 || facts.script || stat(s->options->path, &file) < 0 ||
		!(file.st_mode & (S_ISUID | S_ISGID)))
		return r;
	err_set(err, ERR_UNAVAILABLE, EPERM,
		"%s is set-uid, and valgrind does not run such programs", s->options->path);
	err_hint(err, "simulate a copy without that bit: cp %s copy", s->options->path);
	return -EPERM;
}

static int delay_possible(struct simulation *s, struct err *err)
{
	struct err ignored = {0};
	const char *vgdb;

	if (!s->options->delay_ns)
		return 0;
	if (!cachegrind_events_need_calls(s->events)) {
		err_set(err, ERR_USAGE, EINVAL, "--delay needs calls or loops among the events");
		return err_hint(err, "add -e calls, or remove it");
	}
	if (binary_find("vgdb", &s->arena, &vgdb, &ignored) >= 0)
		return 0;
	err_set(err, ERR_UNAVAILABLE, ENOENT,
		"--delay needs vgdb, a part of valgrind, which is not in PATH");
	return err_hint(err, "sudo apt install valgrind, or remove --delay");
}

static int simulation_open(struct simulation *s, struct err *err)
{
	struct cache_sizes sizes;
	int r = valgrind_find(&s->arena, &s->valgrind, err);

	if (r >= 0)
		r = delay_possible(s, err);
	if (r >= 0)
		r = program_check(s, err);
	if (r >= 0)
		r = simulate_folder_make(&s->arena, &s->folder, err);
	if (r < 0)
		return r;
	cache_sizes_read(CACHE_FOLDER, &sizes);
	simulate_caches_choose(&sizes, s->options->l2_is_last, &s->caches);
	words_make(s);
	return spawner_make(s, err);
}

int simulate_target(const struct simulate_options *options, const struct event_list *events,
	const struct wire_sink *sink, struct err *err)
{
	struct simulation s = {.options = options, .events = events, .sink = sink};
	int r;

	if (!events) {
		cachegrind_events_all(&s.own_events);
		s.events = &s.own_events;
	}
	s.execution.watched = -1;
	r = simulation_open(&s, err);
	if (r >= 0)
		r = simulation_run(&s, err);
	execution_close(&s.execution);
	simulate_folder_remove(&s.folder);
	map_done(&s.commands);
	vec_done(&s.argv);
	event_list_done(&s.own_events);
	arena_done(&s.arena);
	return r;
}
