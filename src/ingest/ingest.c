/* ingest.c - one small function per record type, one switch. */
#include "ingest/ingest.h"

#include <errno.h>
#include <math.h>

#include "base/str.h"
#include "code/names.h"
#include "model/run.h"
#include "profile.h"

/* What a record or a sample costs: its rows, and their place in tables. */
enum { SAMPLE_STEPS = 12, RECORD_BYTES = 64, SAMPLE_BYTES = 96, BRANCH_BYTES = 48 };

static void take_note(struct run *run, const struct wire_record *record)
{
	const struct wire_note *note = (const struct wire_note *)record;

	run_add_note(run, wire_text(record, note->code), wire_text(record, note->text),
		wire_text(record, note->hint));
}

static void take_field(struct run *run, const struct wire_record *record)
{
	const struct wire_field *field = (const struct wire_field *)record;

	run_add_field(run, &(struct field_row){
				   .group = run_intern(run, wire_text(record, field->group)),
				   .name = run_intern(run, wire_text(record, field->name)),
				   .value = run_intern(run, wire_text(record, field->value)),
				   .state = (enum field_state)field->state,
			   });
}

static void take_capability(struct run *run, const struct wire_record *record)
{
	const struct wire_capability *capability = (const struct wire_capability *)record;

	run_add_capability(
		run, &(struct capability_row){
			     .name = run_intern(run, wire_text(record, capability->name)),
			     .reason = run_intern(run, wire_text(record, capability->reason)),
			     .fix = run_intern(run, wire_text(record, capability->fix)),
			     .status = (enum capability_status)capability->status,
		     });
}

/* An event comes once when it is opened, and again at the end when its status is final. */
static void take_event(const struct ingest *ingest, const struct wire_record *record)
{
	const struct wire_event *event = (const struct wire_event *)record;
	struct run *run = ingest->run;
	uint64_t id = (uint64_t)event->event + ingest->event_base;
	struct event_row row = {
		.name = run_intern(run, wire_text(record, event->name)),
		.unit = run_intern(run, wire_text(record, event->unit)),
		.core = run_intern(run, wire_text(record, event->core)),
		.reason = run_intern(run, wire_text(record, event->reason)),
		.group = event->group,
		.flags = event->flags,
		.status = (enum event_status)event->status,
		.scale = event->scale,
	};

	if (event->event >= 1 && id <= run->events.count)
		run_set_event(run, (row_id)id, &row);
	else
		run_add_event(run, &row);
}

/* A command without a word would be a text that cannot be split again. */
static bool take_command(struct run *run, const struct wire_record *record)
{
	const char *argv = wire_text(record, ((const struct wire_command *)record)->argv);

	if (!*argv)
		return false;
	run_add_command(run, &(struct command_row){.argv = run_intern(run, argv)});
	return true;
}

static bool take_execution(struct run *run, const struct wire_record *record)
{
	const struct wire_execution *e = (const struct wire_execution *)record;

	if (e->command > run->commands.count || e->command > EXECUTION_COMMANDS_MAX ||
		e->flags > EXECUTION_FLAGS_MAX)
		return false;
	run_add_execution(run, &(struct execution_row){
				       .start_ns = e->start_ns,
				       .wall_ns = e->wall_ns,
				       .user_ns = e->user_ns,
				       .system_ns = e->system_ns,
				       .max_rss_bytes = e->max_rss_bytes,
				       .rss_floor_bytes = e->rss_floor_bytes,
				       .minor_faults = e->minor_faults,
				       .major_faults = e->major_faults,
				       .voluntary_switches = e->voluntary_switches,
				       .involuntary_switches = e->involuntary_switches,
				       .steal_ns = e->steal_ns,
				       .pressure_ns = e->pressure_ns,
				       .queue_ns = e->queue_ns,
				       .command = e->command,
				       .exit_status = e->exit_status,
				       .signal = e->signal,
				       .flags = e->flags,
			       });
	return true;
}

/* A count of an event or execution that does not exist would make the run unreadable.  Intervals
 * come before their execution has ended and has its row. */
static bool take_count(const struct ingest *ingest, const struct wire_record *record)
{
	const struct wire_count *count = (const struct wire_count *)record;
	struct run *run = ingest->run;
	uint64_t event = (uint64_t)count->event + ingest->event_base;
	uint64_t execution =
		count->execution ? (uint64_t)count->execution + ingest->execution_base : 0;

	if (!count->event || event > run->events.count ||
		execution > (uint64_t)run->executions.count + 1)
		return false;
	run_add_count(run, &(struct count_row){
				   .event = (row_id)event,
				   .execution = (row_id)execution,
				   .at_ns = count->at_ns,
				   .value = count->value,
				   .enabled_ns = count->enabled_ns,
				   .running_ns = count->running_ns,
			   });
	return true;
}

static void take_target(struct run *run, const struct wire_record *record)
{
	const struct wire_target *target = (const struct wire_target *)record;

	run_add_causal_target(
		run, &(struct causal_target_row){
			     .name = run_intern(run, wire_text(record, target->name)),
			     .file = run_intern(run, wire_text(record, target->file)),
			     .function = run_intern(run, wire_text(record, target->function)),
			     .line = target->line,
			     .kind = (enum causal_target_kind)target->kind,
		     });
}

static void take_progress(struct run *run, const struct wire_record *record)
{
	const struct wire_progress *point = (const struct wire_progress *)record;

	run_add_progress_point(run, &(struct progress_point_row){
					    .name = run_intern(run, wire_text(record, point->name)),
					    .kind = (enum progress_kind)point->kind,
				    });
}

/* Its execution has its row only when it has ended. */
static bool take_experiment(struct run *run, const struct wire_record *record)
{
	const struct wire_experiment *e = (const struct wire_experiment *)record;

	if (!e->target || e->target > run->causal_targets.count ||
		e->execution > run->executions.count + 1)
		return false;
	run_add_experiment(run, &(struct experiment_row){
					.target = e->target,
					.execution = e->execution,
					.pair = e->pair,
					.speedup_permille = e->speedup_permille,
					.threads = e->threads,
					.flags = e->flags,
					.start_ns = e->start_ns,
					.wall_ns = e->wall_ns,
					.virtual_ns = e->virtual_ns,
					.owed_ns = e->owed_ns,
					.unpaid_ns = e->unpaid_ns,
					.samples = e->samples,
					.hits = e->hits,
					.hit_ns = e->hit_ns,
					.lost = e->lost,
					.handed = e->handed,
					.outside = e->outside,
					.timer = e->timer,
					.signals = e->signals,
					.unheard = e->unheard,
					.paused_ns = e->paused_ns,
					.queued_ns = e->queued_ns,
					.ran_ns = e->ran_ns,
				});
	return true;
}

static bool take_visit(struct run *run, const struct wire_record *record)
{
	const struct wire_visit *visit = (const struct wire_visit *)record;

	if (!run->experiments.count || !visit->point || visit->point > run->progress_points.count)
		return false;
	run_add_visit(run, &(struct visit_row){
				   .experiment = run->experiments.count,
				   .point = visit->point,
				   .arrivals = visit->arrivals,
				   .departures = visit->departures,
				   .open_before = visit->open_before,
				   .open_after = visit->open_after,
			   });
	return true;
}

/* The simulator spells a function as the symbol table does; samples have it demangled. */
static bool take_place(const struct ingest *ingest, const struct wire_record *record)
{
	const struct wire_place *place = (const struct wire_place *)record;
	struct run *run = ingest->run;
	uint64_t event = (uint64_t)place->event + ingest->event_base;
	const char *linkage = wire_text(record, place->function);
	str_auto struct str function = {0};

	if (!place->event || event > run->events.count)
		return false;
	if (*linkage == '_')
		names_demangle(linkage, &function);
	run_add_place(
		run, &(struct place_row){
			     .event = (row_id)event,
			     .function = run_intern(run, function.len ? function.at : linkage),
			     .file = run_intern(run, wire_text(record, place->file)),
			     .line = place->line,
			     .value = place->value,
		     });
	return true;
}

/* Its execution has its row only when it has ended. */
static bool take_fact(struct run *run, const struct wire_record *record)
{
	const struct wire_fact *fact = (const struct wire_fact *)record;
	text_id reason = run_intern(run, wire_text(record, fact->reason));

	if (fact->execution > run->executions.count + 1)
		return false;
	run_add_fact(run, &(struct fact_row){
				  .name = run_intern(run, wire_text(record, fact->name)),
				  .unit = run_intern(run, wire_text(record, fact->unit)),
				  .witness = run_intern(run, wire_text(record, fact->witness)),
				  .reason = reason,
				  .execution = fact->execution,
				  .value = reason ? (double)NAN : fact->value,
			  });
	return true;
}

static void take_span(struct run *run, const struct wire_record *record)
{
	const struct wire_span *span = (const struct wire_span *)record;

	run_add_span(run, &(struct span_row){
				  .name = run_intern(run, wire_text(record, span->name)),
				  .category = run_intern(run, wire_text(record, span->category)),
				  .evidence = run_intern(run, wire_text(record, span->evidence)),
				  .count = span->count,
				  .total_ns = span->total_ns,
				  .p50_ns = span->p50_ns,
				  .p95_ns = span->p95_ns,
				  .p99_ns = span->p99_ns,
				  .p999_ns = span->p999_ns,
				  .max_ns = span->max_ns,
			  });
}

static void take_claim(struct run *run, const struct wire_record *record)
{
	const struct wire_claim *claim = (const struct wire_claim *)record;

	run_add_claim(run, &(struct claim_row){
				   .name = run_intern(run, wire_text(record, claim->name)),
				   .verdict = run_intern(run, wire_text(record, claim->verdict)),
				   .evidence = run_intern(run, wire_text(record, claim->evidence)),
			   });
}

static struct profile *ingest_profile(struct ingest *ingest)
{
	if (!ingest->profile)
		ingest->profile = profile_open(ingest->run, ingest->quota);
	return ingest->profile;
}

static int ingest_take_sample(void *context, const struct wire_sample *sample)
{
	struct ingest *ingest = context;
	struct wire_sample moved = *sample;

	if (!quota_step(
		    ingest->quota, SAMPLE_STEPS + FRAME_STEPS * (uint64_t)sample->branch_count) ||
		!quota_take(ingest->quota,
			SAMPLE_BYTES + BRANCH_BYTES * (uint64_t)sample->branch_count))
		return 0;
	if (sample->event && sample->event <= UINT32_MAX - ingest->event_base)
		moved.event = sample->event + ingest->event_base;
	profile_sample(ingest_profile(ingest), &moved);
	return 0;
}

void ingest_next_source(struct ingest *ingest)
{
	ingest->event_base = ingest->run->events.count;
	ingest->execution_base = ingest->run->executions.count;
	if (ingest->profile)
		ingest->profile->known.count = 0;
}

static void take_quality(struct run *run, const struct wire_quality *quality)
{
	run_set_quality(run, wire_text(&quality->head, quality->name), quality->value);
}

/* What a causal experiment emits. */
static bool take_causal(struct run *run, const struct wire_record *record)
{
	if (record->type == WIRE_EXPERIMENT)
		return take_experiment(run, record);
	if (record->type == WIRE_VISIT)
		return take_visit(run, record);
	if (record->type == WIRE_TARGET)
		take_target(run, record);
	else
		take_progress(run, record);
	return true;
}

/* What is known besides: of places, of the target, by the program itself. */
static bool take_evidence(const struct ingest *ingest, const struct wire_record *record)
{
	if (record->type == WIRE_PLACE)
		return take_place(ingest, record);
	if (record->type == WIRE_FACT)
		return take_fact(ingest->run, record);
	if (record->type == WIRE_SPAN)
		take_span(ingest->run, record);
	else
		take_claim(ingest->run, record);
	return true;
}

/* What comes beside samples. */
static void take_sampling(struct ingest *ingest, const struct wire_record *record)
{
	if (record->type == WIRE_MAP)
		profile_map(ingest_profile(ingest), record);
	else if (record->type == WIRE_TASK)
		profile_task(ingest_profile(ingest), record);
	else if (record->type == WIRE_LOST)
		profile_lost(ingest_profile(ingest), record);
	else if (ingest->profile)
		order_flush(ingest->profile, ((const struct wire_round *)record)->time_ns);
}

static int ingest_take(void *context, const struct wire_record *record)
{
	struct ingest *ingest = context;

	if (!wire_check(record, record->size)) {
		ingest->malformed++;
		return 0;
	}
	if (record->type != WIRE_NOTE && /* they say what was left out */
		(!quota_step(ingest->quota, SAMPLE_STEPS) ||
			!quota_take(ingest->quota, RECORD_BYTES + record->size)))
		return 0;
	switch ((enum wire_type)record->type) {
	case WIRE_NOTE:
		take_note(ingest->run, record);
		break;
	case WIRE_FIELD:
		take_field(ingest->run, record);
		break;
	case WIRE_CAPABILITY:
		take_capability(ingest->run, record);
		break;
	case WIRE_EVENT:
		take_event(ingest, record);
		break;
	case WIRE_EXECUTION:
		ingest->malformed += !take_execution(ingest->run, record);
		break;
	case WIRE_COUNT:
		ingest->malformed += !take_count(ingest, record);
		break;
	case WIRE_MAP:
	case WIRE_TASK:
	case WIRE_LOST:
	case WIRE_ROUND:
		take_sampling(ingest, record);
		break;
	case WIRE_QUALITY:
		take_quality(ingest->run, (const struct wire_quality *)record);
		break;
	case WIRE_TARGET:
	case WIRE_PROGRESS:
	case WIRE_EXPERIMENT:
	case WIRE_VISIT:
		ingest->malformed += !take_causal(ingest->run, record);
		break;
	case WIRE_COMMAND:
		ingest->malformed += !take_command(ingest->run, record);
		break;
	case WIRE_PLACE:
	case WIRE_FACT:
	case WIRE_SPAN:
	case WIRE_CLAIM:
		ingest->malformed += !take_evidence(ingest, record);
		break;
	case WIRE_TYPES:
		break;
	}
	return 0;
}

struct wire_sink ingest_sink(struct ingest *ingest)
{
	return (struct wire_sink){
		.take = ingest_take, .take_sample = ingest_take_sample, .context = ingest};
}

void ingest_end(struct ingest *ingest)
{
	if (ingest->profile)
		profile_end(ingest->profile);
	if (ingest->malformed)
		run_set_quality(ingest->run, "malformed_records", ingest->malformed);
}

void ingest_done(struct ingest *ingest)
{
	profile_close(ingest->profile);
	ingest->profile = NULL;
}
