/* hotspot_gain.c - the gain by arithmetic, for a program with one busy thread, or one at a time, or
 * with several that do the same.
 *
 * Nothing else can take over the time that one busy thread saves, so a place with a share p of the
 * samples that takes s less time saves p * s of the CPU time, and of the wall time as much of that
 * as the thread is busy (a program that waits half of the time gains half).  A thread that waits
 * for a CPU which others have is busy too: with less work it waits less.  What is missing to a
 * thread that is nearly always busy (its start, a host that takes its CPU) may shrink with the work
 * or not: the upper bound takes it in.
 *
 * The interval is that of a share of n samples (the normal approximation of the binomial; samples
 * of different weight count as fewer), widened by how much runs differ in CPU time: what holds for
 * the sampled run holds for the next one to that accuracy only, and 2 % is what two runs of the
 * same program differ by on a quiet machine.  Wall times also differ by what other programs do.
 *
 * Of several busy threads one may only wait for another.  But where each spends about the same
 * share of its time at the place, whichever the program waits for gets shorter by that share: from
 * the least share to the largest.  While they wait for each other the wait shrinks too, while they
 * wait for anything else it does not: the lower bound has only the time that they are busy.
 *
 * Of threads that do different things, what is known is when they run.  While a place runs alone in
 * a program that is always busy, what it saves the program saves: the lower bound.  It cannot save
 * more than the time in which it runs: the upper bound.
 *
 * A collector of garbage runs beside the program's thread.  What that one saves the program saves:
 * the lower bound.  What the thread waits for may be the collector, and goes with the allocations:
 * the upper bound takes it in for a place that allocates.
 *
 * When all of the work is gone, what is around it may go with it (hotspot_reach.c): the upper
 * bound takes that in. */
#include <math.h>

#include "analyze/causal_view.h"
#include "analyze/profile_filter.h"
#include "base/stats.h"
#include "base/str.h"
#include "hotspot_parts.h"
#include "model/run.h"

#define ONE_THREAD 0.95	  /* of the samples in one thread */
#define TOGETHER_MOST 0.1 /* of the time in which two threads of it run */
#define ONE_CPU 1.1	  /* CPUs used; above it something runs beside it */
#define BUSY_LEAST 0.05	  /* of the wall time: a program that only waits is another matter */
#define BUSY_MOST 0.9	  /* from here on it does not wait for anything that it asked for */
#define EVEN_MOST 0.25	  /* between the shares of two threads that do the same */
#define EVEN_BUSY 0.3	  /* of the time that several threads run or are ready to */
#define SAMPLED_LEAST 0.8 /* of the CPUs used: threads that are too short are never sampled */
/* Of a share: what a fix that removed the work gained was off it by 4.5 % (rms of 21 real fixes,
 * the error of ab included; bench/mainjob/RESULTS.md): code at its edges, what the fix leaves,
 * caches. */
#define SPREAD_LEAST 0.04
#define SPREAD_UNKNOWN 0.05 /* fewer than three runs */
#define Z 1.96		    /* 95 % */

const char *gain_source_word(enum gain_source source)
{
	static const char *const words[] = {
		[GAIN_NONE] = NULL,
		[GAIN_EXPERIMENT] = "experiment",
		[GAIN_WHOLE_RUNS] = "whole_runs",
		[GAIN_ONE_THREAD] = "arithmetic",
		[GAIN_EVEN_THREADS] = "arithmetic",
		[GAIN_ALONE] = "arithmetic",
		[GAIN_BESIDE_RUNTIME] = "arithmetic",
	};

	return words[source];
}

const char *gain_source_note(enum gain_source source)
{
	static const char *const notes[] = {
		[GAIN_NONE] = "",
		[GAIN_EXPERIMENT] = "",
		[GAIN_WHOLE_RUNS] = "whole runs compared",
		[GAIN_ONE_THREAD] = "by arithmetic: one thread",
		[GAIN_EVEN_THREADS] = "by arithmetic: all threads do the same",
		[GAIN_ALONE] = "by arithmetic: it runs alone for part of the time",
		[GAIN_BESIDE_RUNTIME] = "by arithmetic: one thread beside the collector",
	};

	return notes[source];
}

bool gain_is_arithmetic(enum gain_source source)
{
	return source == GAIN_ONE_THREAD || source == GAIN_EVEN_THREADS || source == GAIN_ALONE ||
	       source == GAIN_BESIDE_RUNTIME;
}

bool gain_is_experiment(enum gain_source source)
{
	return source == GAIN_EXPERIMENT || source == GAIN_WHOLE_RUNS;
}

struct one_thread {
	double samples; /* that count for an interval */
	double busy;	/* of the wall time */
	double spread;	/* of the runs, relative */
};

struct gain_range {
	double gain, lo, hi;
};

#define NOT_WHOLE                                                                                  \
	(EXECUTION_WARMUP | EXECUTION_NO_USAGE | EXECUTION_INTERRUPTED | EXECUTION_TIMED_OUT)

/* Standard deviation of the CPU time of whole runs over its mean. */
static double spread_of(const struct run *baseline, struct arena *arena)
{
	uint32_t most = baseline ? baseline->executions.count : 0, count = 0;
	double *cpu_ns = arena_take(arena, (most + 1) * sizeof(*cpu_ns));

	for (uint32_t i = 0; i < most; i++) {
		const struct execution_row row = run_execution(baseline, i + 1);

		if (!(row.flags & NOT_WHOLE))
			cpu_ns[count++] = (double)(row.user_ns + row.system_ns);
	}
	return count < 3 ? SPREAD_UNKNOWN : fmax(SPREAD_LEAST, stats_variation(cpu_ns, count));
}

/* The part of the time in which two threads run at once, by when the clock ticked for each: two
 * that run together tick within half a period of each other half of the time; one after the other
 * only where one ends and the next begins. */
static double together_share(const struct run *run, const struct profile_samples *samples)
{
	const struct sample_row *before = NULL;
	uint64_t close = 0;

	vec_foreach (const struct sample_row, sample, &run->samples) {
		if (sample->event != samples->event)
			continue;
		if (before && before->thread != sample->thread &&
			sample->time_ns - before->time_ns < sample->period / 2)
			close++;
		before = sample;
	}
	return 2 * (double)close / (double)samples->total.samples;
}

static bool is_one_at_a_time(const struct run *run, const struct profile_samples *samples)
{
	double most = 0;

	for (uint32_t i = 0; i <= run->threads.count; i++)
		most = fmax(most, (double)samples->by_thread[i].weight);
	if (most >= ONE_THREAD * (double)samples->total.weight)
		return true;
	return str_equal(samples->unit, "ns") && !samples->merged &&
	       together_share(run, samples) <= TOGETHER_MOST;
}

/* False: several threads are busy, or it is not known. */
static bool one_thread_find(
	const struct run *profile, const struct signals *signals, struct one_thread *ret_thread)
{
	double cpus = signals_value(signals, "cpus_used"),
	       ready = signals_value(signals, "runnable");
	struct profile_samples samples;
	struct err ignored = {0};
	bool is_one;

	if (!profile ||
		profile_samples_take(profile, &(struct profile_filter){0}, &samples, &ignored) < 0)
		return false;
	is_one = cpus <= ONE_CPU && cpus >= BUSY_LEAST && is_one_at_a_time(profile, &samples);
	ret_thread->samples = (double)samples.total.samples;
	if (samples.weighted && samples.weight_squares > 0)
		ret_thread->samples = (double)samples.total.weight * (double)samples.total.weight /
				      samples.weight_squares;
	profile_samples_done(&samples);
	ret_thread->busy = fmin(1, fmax(cpus, ready)); /* ignores NAN */
	return is_one;
}

static struct gain_range range_of(const struct one_thread *thread, double share, double speedup)
{
	double scale = speedup * thread->busy;
	double error = sqrt(share * (1 - share) / thread->samples +
			    share * share * thread->spread * thread->spread);
	double lo = fmax(0, share - Z * error), hi = fmin(1, share + Z * error);
	double most = thread->busy >= BUSY_MOST ? speedup : scale;

	return (struct gain_range){share * scale, lo * scale, hi * most};
}

static void gain_all_put(struct hotspot *spot, enum gain_source source, struct gain_range all)
{
	spot->gain_all = all.gain;
	spot->gain_all_lo = all.lo;
	spot->gain_all_hi = all.hi;
	spot->gain_all_source = source;
}

static void gain_put(struct hotspot *spot, enum gain_source source, struct gain_range half,
	struct gain_range all)
{
	spot->gain = half.gain;
	spot->gain_lo = half.lo;
	spot->gain_hi = half.hi;
	spot->gain_at = 0.5;
	spot->gain_source = source;
	gain_all_put(spot, source, all);
}

static struct gain_range all_of_one(
	const struct one_thread *thread, const struct hotspot_draft *draft)
{
	struct gain_range all = range_of(thread, draft->samples_share, 1);

	all.hi = fmax(all.hi, range_of(thread, draft->reach, 1).hi);
	return all;
}

static void gain_put_one(const struct one_thread *thread, struct hotspot_draft *draft)
{
	gain_put(&draft->spot, GAIN_ONE_THREAD, range_of(thread, draft->samples_share, 0.5),
		all_of_one(thread, draft));
}

/* Several threads: `busy` is of the time of one. */
static struct gain_range even_range_of(
	const struct one_thread *thread, const struct hotspot_draft *draft, double speedup)
{
	double reach = speedup < 1 ? 1 : draft->reach / draft->samples_share;
	struct one_thread all = *thread;
	struct gain_range least, most;

	least = range_of(thread, draft->thread_least, speedup);
	all.busy = 1;
	most = range_of(&all, fmin(1, draft->thread_most * reach), speedup);
	return (struct gain_range){
		draft->samples_share * speedup * (1 + thread->busy) / 2, least.lo, most.hi};
}

static void even_threads_gain(
	const struct signals *signals, struct one_thread *thread, struct hotspot_drafts *drafts)
{
	double cpus = signals_value(signals, "cpus_used"),
	       ready = signals_value(signals, "runnable");

	if (drafts->busy_threads < 2 || !(cpus > ONE_CPU))
		return;
	thread->samples /= drafts->busy_threads;
	thread->busy = fmin(1, fmax(cpus, ready) / drafts->busy_threads);
	if (thread->busy < EVEN_BUSY)
		return;
	vec_foreach (struct hotspot_draft, draft, &drafts->rows) {
		struct hotspot *spot = &draft->spot;

		if (!(draft->samples_share > 0) ||
			draft->thread_most - draft->thread_least > EVEN_MOST)
			continue;
		if (!draft->tried)
			gain_put(spot, GAIN_EVEN_THREADS, even_range_of(thread, draft, 0.5),
				even_range_of(thread, draft, 1));
		else if (draft->pays && !isfinite(spot->gain_all_hi))
			gain_all_put(spot, GAIN_EVEN_THREADS, even_range_of(thread, draft, 1));
	}
}

/* Threads that do different things, in a program that is always busy.  Who was not sampled cannot
 * be told to have slept. */
static void alone_gain(const struct signals *signals, const struct one_thread *thread,
	struct hotspot_drafts *drafts)
{
	const struct one_thread always = {thread->samples, 1, thread->spread};

	if (drafts->busy < BUSY_MOST ||
		!(drafts->sampled_cpus >= SAMPLED_LEAST * signals_value(signals, "cpus_used")))
		return;
	vec_foreach (struct hotspot_draft, draft, &drafts->rows) {
		struct gain_range half[2], all[2];
		double most = draft->times.present, least = fmin(draft->times.alone, most);
		double reach = draft->reach / draft->samples_share;

		if (draft->tried || draft->spot.gain_source != GAIN_NONE || !(most > 0))
			continue;
		half[0] = range_of(&always, least, 0.5);
		half[1] = range_of(&always, most, 0.5);
		all[0] = range_of(&always, least, 1);
		all[1] = range_of(&always, fmin(1, most * reach), 1);
		if (!(all[0].lo > 0)) /* from nothing to all: not known */
			continue;
		gain_put(&draft->spot, GAIN_ALONE,
			(struct gain_range){(least + most) / 4, half[0].lo, half[1].hi},
			(struct gain_range){(least + most) / 2, all[0].lo, all[1].hi});
	}
}

/* What was tried is believed, unless both are apart.  One thread that is busy cannot hide anything,
 * nor gain more than its share: hot and flat is then a fault of the experiment, and more than all
 * of it is the gain of a part of the run, in which the progress was visited. */
static void gain_compare(
	const struct one_thread *thread, struct arena *arena, struct hotspot_draft *draft)
{
	struct hotspot *spot = &draft->spot;
	struct gain_range told = range_of(thread, draft->samples_share, spot->gain_at);
	const bool is_more = spot->gain_lo > told.hi;

	if (isfinite(spot->gain_all_hi))
		spot->gain_all_hi = fmax(spot->gain_all_hi, range_of(thread, draft->reach, 1).hi);
	if (spot->gain_hi >= told.lo && spot->gain_lo <= told.hi) {
		spot->gain = fmin(spot->gain, told.hi);
		spot->gain_hi = fmin(spot->gain_hi, told.hi);
		if (!isfinite(spot->gain_all_hi))
			gain_all_put(spot, GAIN_ONE_THREAD, all_of_one(thread, draft));
		return;
	}
	spot->gain_doubt = arena_format(arena,
		"experiments say %.1f %% (%.1f to %.1f) at %.0f %% faster, the share of the "
		"samples says %.1f %% (%.1f to %.1f): %s",
		100 * spot->gain, 100 * spot->gain_lo, 100 * spot->gain_hi, 100 * spot->gain_at,
		100 * told.gain, 100 * told.lo, 100 * told.hi,
		is_more ? "one thread cannot gain more than its share, so they saw a part of the "
			  "run"
			: "one of them is wrong");
	for (uint32_t i = 0; i < spot->evidence_count && !is_more; i++)
		if (str_equal(draft->evidence[i].mechanism, "experiments"))
			draft->evidence[i].agrees = false;
	if (draft->flat || is_more) {
		draft->flat = draft->tried = draft->pays = false;
		gain_put_one(thread, draft);
	}
}

/* Experiments that leave it open, but allow less than the arithmetic says at their level. */
static void open_compare(struct hotspot *spot, struct gain_range told, struct arena *arena)
{
	if (spot->open_hi < told.lo) /* false of NAN */
		spot->gain_doubt = arena_format(arena,
			"experiments leave room for %.1f to %.1f %% at %.0f %% faster, the share "
			"of the samples says %.1f %% (%.1f to %.1f): one of them is wrong",
			100 * spot->open_lo, 100 * spot->open_hi, 100 * spot->open_at,
			100 * told.gain, 100 * told.lo, 100 * told.hi);
}

/* One thread at a time, and the collector and the scheduler of its language beside it.  False: it
 * is another program. */
static bool beside_runtime_gain(const struct signals *signals, const struct one_thread *thread,
	struct hotspot_drafts *drafts)
{
	double own = 1 - drafts->runtime, cpus = signals_value(signals, "cpus_used");
	const struct one_thread one = {thread->samples * own, fmin(1, cpus * own), thread->spread};

	if (!(drafts->runtime > 0) || !(drafts->together <= TOGETHER_MOST) ||
		!(one.busy >= BUSY_LEAST))
		return false;
	vec_foreach (struct hotspot_draft, draft, &drafts->rows) {
		double waits = draft->spot.garbage > 0 ? 1 - one.busy : 0;
		const bool is_open = draft->pays && !isfinite(draft->spot.gain_all_hi);
		struct gain_range half, all;

		if ((draft->tried && !is_open) || draft->is_runtime || !(draft->samples_share > 0))
			continue;
		half = range_of(&one, fmin(1, draft->samples_share / own), 0.5);
		all = range_of(&one, fmin(1, draft->samples_share / own), 1);
		half.hi = fmin(0.5, half.hi + waits / 2);
		all.hi = fmax(all.hi, range_of(&one, fmin(1, draft->reach / own), 1).hi);
		all.hi = fmin(1, all.hi + waits);
		if (waits > 0)
			all.gain = (all.lo + all.hi) / 2;
		if (is_open)
			gain_all_put(&draft->spot, GAIN_BESIDE_RUNTIME, all);
		else
			gain_put(&draft->spot, GAIN_BESIDE_RUNTIME, half, all);
	}
	return true;
}

/* Of several threads the arithmetic is an estimate, so what the experiments leave open stays. */
static void several_threads_gain(const struct signals *signals, const struct one_thread *thread,
	struct arena *arena, struct hotspot_drafts *drafts)
{
	struct one_thread even = *thread;

	if (!beside_runtime_gain(signals, thread, drafts))
		even_threads_gain(signals, &even, drafts);
	alone_gain(signals, thread, drafts);
	vec_foreach (struct hotspot_draft, draft, &drafts->rows) {
		struct hotspot *spot = &draft->spot;
		double scale = spot->open_at / spot->gain_at;

		if (spot->open_at > 0 && gain_is_arithmetic(spot->gain_source))
			open_compare(spot,
				(struct gain_range){spot->gain * scale, spot->gain_lo * scale,
					spot->gain_hi * scale},
				arena);
	}
}

void hotspots_gain(const struct evidence *evidence, const struct signals *signals,
	struct arena *arena, struct hotspot_drafts *drafts)
{
	struct one_thread thread = {0};
	bool is_one;

	if (evidence->causal && evidence->causal->pace != CAUSAL_PACE_OWN)
		return; /* less work is a longer wait for the clock, or for another program */
	is_one = one_thread_find(evidence->piece[EVIDENCE_PROFILE].run, signals, &thread);
	thread.spread = spread_of(evidence->piece[EVIDENCE_BASELINE].run, arena);
	hotspots_reach(signals, arena, drafts);
	if (!is_one) {
		several_threads_gain(signals, &thread, arena, drafts);
		return;
	}
	vec_foreach (struct hotspot_draft, draft, &drafts->rows) {
		if (draft->samples_share <= 0)
			continue; /* not in the samples */
		if (draft->tried) {
			gain_compare(&thread, arena, draft);
			continue;
		}
		gain_put_one(&thread, draft);
		if (draft->spot.open_at > 0)
			open_compare(&draft->spot,
				range_of(&thread, draft->samples_share, draft->spot.open_at),
				arena);
		draft->spot.open_at = 0; /* the arithmetic tells */
	}
}
