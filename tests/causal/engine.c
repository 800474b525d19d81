/* engine.c - the causal engine by hand, for tests and bench/causal: pairs as JSON lines.
 *
 *     engine [OPTION...] -- PROGRAM [ARGUMENT...]
 *     --target NAME:FILE:OFFSET:LEN[,OFFSET:LEN...]   code, as bytes of a file (repeat for more)
 *     --caller FILE:OFFSET:LEN    only when called from there
 *     --wait                      targets are the waits in calls made there
 *     --levels 250,500,...        speed-ups in permille; --budget S  --window MS  --period US
 *     --uprobe NAME:FILE:OFFSET   --syscall NAME     progress points;  --stop: end it afterwards
 *     --save FILE                 the run file;  --engine auto|bpf|preload
 *
 * Targets and levels come in random order, each as often as the others.  The last line is the
 * summary.  Exits like assay: 0, 3 when the machine cannot, 4 for the target. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/str.h"
#include "drive/causal.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "model/store.h"

enum { TARGETS = 16, LEVELS = 16 };

struct engine {
	struct causal_choice targets[TARGETS];
	struct causal_place places[TARGETS][CAUSAL_RANGES_MAX], caller;
	struct causal_point points[CAUSAL_PROBED_MAX];
	uint32_t target_count, levels[LEVELS], level_count, point_count;
	uint32_t deck[TARGETS * LEVELS], dealt;
	uint32_t numbers[TARGETS], numbered;
	struct random random;
};

static volatile sig_atomic_t signals;

static void on_signal(int signal)
{
	(void)signal;
	signals = signals + 1;
}

static struct interrupt interrupted(void)
{
	return (struct interrupt){.count = (unsigned)signals, .signal = SIGINT};
}

/* ---- options ---- */

static _Noreturn void wrong(const char *what)
{
	fprintf(stderr, "engine: %s\n", what);
	exit(2);
}

static char *part(char **rest, const char *ends)
{
	char *text = strsep(rest, ends);

	if (!text)
		wrong("a part of the option is missing");
	return text;
}

static struct causal_place place_read(const char *path, char **rest)
{
	struct causal_place place = {.path = path};

	place.offset = strtoull(part(rest, ":"), NULL, 0);
	place.len = strtoull(part(rest, ","), NULL, 0);
	return place;
}

static void target_add(struct engine *e, char *text)
{
	struct causal_choice *target = &e->targets[e->target_count];
	struct causal_place *places = e->places[e->target_count];
	const char *path;

	if (e->target_count == TARGETS)
		wrong("too many targets");
	e->target_count++;
	target->name = target->function = part(&text, ":");
	path = part(&text, ":");
	while (text && target->what.count < CAUSAL_RANGES_MAX)
		places[target->what.count++] = place_read(path, &text);
	target->what.places = places;
}

static void point_add(struct engine *e, enum causal_point_kind kind, char *text)
{
	struct causal_point *point = &e->points[e->point_count++];

	*point = (struct causal_point){.kind = kind, .name = part(&text, ":")};
	if (kind == CAUSAL_SYSCALL)
		return;
	point->path = part(&text, ":");
	point->offset = strtoull(part(&text, ":"), NULL, 0);
}

static void levels_read(struct engine *e, char *text)
{
	for (char *level; e->level_count < LEVELS && (level = strsep(&text, ","));)
		e->levels[e->level_count++] = (uint32_t)atoi(level);
}

static void option_take(
	struct engine *e, struct causal_run_options *o, int option, const char **save)
{
	if (option == 't')
		target_add(e, optarg);
	else if (option == 'c') {
		char *path = part(&optarg, ":");

		e->caller = place_read(path, &optarg);
	} else if (option == 'w')
		o->waits = true;
	else if (option == 'l')
		levels_read(e, optarg);
	else if (option == 'b')
		o->budget_ns = (uint64_t)(atof(optarg) * 1e9);
	else if (option == 'm')
		o->window_ns = (uint64_t)atoi(optarg) * 1000000;
	else if (option == 'p')
		o->period_ns = (uint64_t)atoi(optarg) * 1000;
	else if (option == 'u' || option == 's')
		point_add(e, option == 'u' ? CAUSAL_UPROBE : CAUSAL_SYSCALL, optarg);
	else if (option == 'x')
		o->stop_target = true;
	else if (option == 'o')
		*save = optarg;
	else if (option == 'e')
		o->engine = *optarg == 'b'   ? CAUSAL_ONLY_BPF
			    : *optarg == 'p' ? CAUSAL_ONLY_PRELOAD
					     : CAUSAL_AUTO;
	else if (option == 'P')
		o->id = atoi(optarg);
	else
		wrong("see its head for the options");
}

static void options_read(
	struct engine *e, int argc, char **argv, struct causal_run_options *o, const char **save)
{
	static const struct option words[] = {{"target", 1, NULL, 't'}, {"caller", 1, NULL, 'c'},
		{"wait", 0, NULL, 'w'}, {"levels", 1, NULL, 'l'}, {"budget", 1, NULL, 'b'},
		{"window", 1, NULL, 'm'}, {"period", 1, NULL, 'p'}, {"uprobe", 1, NULL, 'u'},
		{"syscall", 1, NULL, 's'}, {"stop", 0, NULL, 'x'}, {"save", 1, NULL, 'o'},
		{"pid", 1, NULL, 'P'}, {"engine", 1, NULL, 'e'}, {NULL, 0, NULL, 0}};

	for (int option; (option = getopt_long(argc, argv, "", words, NULL)) != -1;)
		option_take(e, o, option, save);
	if ((!argv[optind] && !o->id) || !e->target_count)
		wrong("name a target and a program");
	for (uint32_t i = 0; i < e->target_count; i++) {
		e->targets[i].what.waits = o->waits;
		e->targets[i].what.callers = &e->caller;
		e->targets[i].what.caller_count = e->caller.len != 0;
	}
	if (!e->level_count)
		levels_read(e, (char[]){"250,500,750,1000"});
	o->path = argv[optind];
	o->argv = argv + optind;
	o->points = e->points;
	o->point_count = e->point_count;
}

/* ---- experiments ---- */

static void deck_mix(struct engine *e)
{
	uint32_t cards = e->target_count * e->level_count;

	for (uint32_t i = 0; i < cards; i++) {
		uint32_t other = (uint32_t)random_below(&e->random, i + 1);

		e->deck[i] = e->deck[other];
		e->deck[other] = i;
	}
	e->dealt = cards;
}

static int next(
	void *context, uint32_t pairs_left, struct causal_choice *ret_choice, struct err *err)
{
	struct engine *e = context;
	uint32_t card, target;

	(void)pairs_left;
	(void)err;
	if (!e->dealt)
		deck_mix(e);
	card = e->deck[--e->dealt];
	target = card / e->level_count;
	if (!e->numbers[target])
		e->numbers[target] = ++e->numbered;
	*ret_choice = e->targets[target];
	ret_choice->target = e->numbers[target];
	ret_choice->speedup_permille = e->levels[card % e->level_count];
	return 1;
}

static void half_print(const char *name, const struct causal_half *half)
{
	const struct causal_result *r = &half->result;
	const struct causal_counts *n = &r->counts;

	printf("\"%s\":{\"wall\":%lu,\"virtual\":%lu,\"owed\":%lu,\"unpaid\":%lu,\"threads\":%u,"
	       "\"samples\":%lu,\"hits\":%lu,\"hit_ns\":%lu,\"lost\":%lu,\"handed\":%lu,"
	       "\"outside\":%lu,\"irq\":%lu,\"timer\":%lu,\"signals\":%lu,\"masked\":%lu,"
	       "\"unheard\":%lu,\"in_kernel\":%lu,\"paused\":%lu,\"pauses\":%lu,\"queued\":%lu,"
	       "\"ran\":%lu,\"inside\":%lu,\"no_seat\":%lu,\"points\":{",
		name, r->wall_ns, r->virtual_ns, r->owed_ns, r->unpaid_ns, r->threads, n->samples,
		n->hits, n->hit_ns, n->lost, n->handed, n->outside, n->irq, n->timer, n->signals,
		n->masked, n->unheard, n->in_kernel, n->paused_ns, n->pauses, n->queued_ns,
		n->ran_ns, n->inside, n->no_seat);
	for (uint32_t i = 0; i < half->visit_count; i++)
		printf("%s\"%s\":[%lu,%lu,%lu,%lu]", i ? "," : "", half->visits[i].name,
			half->visits[i].arrivals, half->visits[i].departures,
			half->visits[i].open_before, half->visits[i].open_after);
	printf("}}");
}

static void done(void *context, const struct causal_pair *pair)
{
	(void)context;
	printf("{\"pair\":%u,\"target\":\"%s\",\"speedup\":%u,", pair->number, pair->choice.name,
		pair->choice.speedup_permille);
	half_print("base", pair->base);
	printf(",");
	half_print("faster", pair->faster);
	printf("}\n");
	fflush(stdout);
}

static int run_save(const struct run *run, const char *path, struct err *err)
{
	store_auto struct store *store = NULL;
	int r = store_create(path, &store, err);

	return r < 0 ? r : store_finish(store, run, err);
}

static int status_of(const struct err *err)
{
	fprintf(stderr, "engine: %s\n%s%s", err->text, err->hint, *err->hint ? "\n" : "");
	return err->kind == ERR_UNAVAILABLE ? 3 : 4;
}

int main(int argc, char **argv)
{
	static struct engine engine;
	run_auto struct run *run = run_open();
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);
	struct causal_run_options options = {.stdout_to_stderr = true,
		.interrupted = interrupted,
		.choose_pair = next,
		.take_pair = done,
		.context = &engine};
	struct causal_summary summary;
	const char *save = NULL;
	struct err err = {0};
	int r;

	options_read(&engine, argc, argv, &options, &save);
	random_seed(&engine.random, clock_monotonic_ns());
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	r = causal_run(&options, &sink, &summary, &err);
	printf("{\"summary\":{\"pairs\":%u,\"executions\":%u,\"cut\":%u,\"progressed\":%s,"
	       "\"malformed\":%lu,\"stopped\":%s,\"engine\":\"%s\",\"stop_ns\":%lu}}\n",
		summary.pairs, summary.executions, summary.cut,
		summary.progressed ? "true" : "false", ingest.malformed, r == 1 ? "true" : "false",
		summary.preload ? "preload" : "bpf", summary.stop_ns);
	fflush(stdout);
	ingest_end(&ingest);
	if (r >= 0 && save)
		r = run_save(run, save, &err);
	ingest_done(&ingest);
	return r < 0 ? status_of(&err) : 0;
}
