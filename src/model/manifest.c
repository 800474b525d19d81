/* manifest.c - see manifest.h.
 *
 * Numbers that are not known are null.  Paths of files are checked when read: one that leads out of
 * the directory would make a check read what it was never told to. */
#include "model/manifest.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/jsonw.h"
#include "json_member.h"

#define SCHEMA "assay.manifest/1"

static const char *const states[MANIFEST_STATES] = {"running", "partial", "complete"};
static const char *const outcomes[PHASE_OUTCOMES] = {
	"skipped", "done", "watched", "failed", "interrupted"};

const char *manifest_state_word(enum manifest_state state)
{
	return states[state];
}

const char *phase_outcome_word(enum phase_outcome outcome)
{
	return outcomes[outcome];
}

void manifest_init(struct manifest *manifest)
{
	*manifest = (struct manifest){
		.run_id = "",
		.version = "",
		.target = "",
		.fingerprint = "",
		.against = "",
		.output_sha256 = "",
		.median_ns = (double)NAN,
		.compounded = (double)NAN,
		.planned_s = (double)NAN,
		.seconds = (double)NAN,
		.promise = {"", "", "", (double)NAN, (double)NAN, (double)NAN, (double)NAN,
			(double)NAN},
	};
}

void manifest_done(struct manifest *manifest)
{
	arena_done(&manifest->texts);
	vec_done(&manifest->phases);
	vec_done(&manifest->files);
}

static void put_phase(struct jsonw *w, const struct manifest_phase *phase)
{
	jsonw_begin_object(w);
	jsonw_put_text(w, "phase", phase->name);
	jsonw_put_text(w, "outcome", phase_outcome_word(phase->outcome));
	jsonw_put_text(w, "command", phase->command);
	jsonw_put_text(w, "file", phase->file);
	jsonw_put_i64(w, "status", phase->status);
	jsonw_put_double(w, "planned_seconds", phase->planned_s);
	jsonw_put_double(w, "seconds", phase->seconds);
	jsonw_put_text(w, "reason", phase->reason);
	jsonw_put_text(w, "fix", phase->fix);
	jsonw_end_object(w);
}

static void put_promise(struct jsonw *w, const struct manifest_promise *promise)
{
	jsonw_open_object(w, "promise");
	jsonw_put_text(w, "location", promise->location);
	jsonw_put_text(w, "function", promise->function);
	jsonw_put_text(w, "sentence", promise->sentence);
	jsonw_put_double(w, "gain", promise->gain);
	jsonw_put_double(w, "gain_lo", promise->lo);
	jsonw_put_double(w, "gain_hi", promise->hi);
	jsonw_put_double(w, "gain_at", promise->at);
	jsonw_put_double(w, "score", promise->score);
	jsonw_end_object(w);
}

void manifest_write(const struct manifest *manifest, struct str *out)
{
	struct jsonw w = {.out = out};

	jsonw_begin_object(&w);
	jsonw_put_text(&w, "schema", SCHEMA);
	jsonw_put_text(&w, "state", manifest_state_word(manifest->state));
	jsonw_put_i64(&w, "pid", manifest->pid);
	jsonw_put_text(&w, "run", manifest->run_id);
	jsonw_put_text(&w, "version", manifest->version);
	jsonw_put_u64(&w, "time_ns", manifest->time_ns);
	jsonw_put_u64(&w, "budget_ns", manifest->budget_ns);
	jsonw_put_double(&w, "planned_seconds", manifest->planned_s);
	jsonw_put_double(&w, "seconds", manifest->seconds);
	jsonw_put_text(&w, "target", manifest->target);
	jsonw_put_text(&w, "fingerprint", manifest->fingerprint);
	jsonw_put_text(&w, "output_sha256", manifest->output_sha256);
	jsonw_put_text(&w, "against", manifest->against);
	jsonw_put_u64(&w, "round", manifest->round);
	jsonw_put_double(&w, "median_ns", manifest->median_ns);
	jsonw_put_double(&w, "compounded", manifest->compounded);
	put_promise(&w, &manifest->promise);
	jsonw_open_array(&w, "phases");
	vec_foreach (const struct manifest_phase, phase, &manifest->phases)
		put_phase(&w, phase);
	jsonw_end_array(&w);
	jsonw_open_array(&w, "files");
	vec_foreach (const struct manifest_file, file, &manifest->files) {
		jsonw_begin_object(&w);
		jsonw_put_text(&w, "path", file->path);
		jsonw_put_u64(&w, "bytes", file->bytes);
		jsonw_put_text(&w, "sha256", file->sha256);
		jsonw_end_object(&w);
	}
	jsonw_end_array(&w);
	jsonw_end_object(&w);
	str_add_char(out, '\n');
}

/* The index of a word, -1: it is none of them. */
static int get_word(const json_t *object, const char *key, const char *const *words, int count)
{
	const char *text = json_string_value(json_object_get(object, key));

	for (int i = 0; text && i < count; i++)
		if (str_equal(text, words[i]))
			return i;
	return -1;
}

static bool path_stays_inside(const char *path)
{
	if (!*path || *path == '/')
		return false;
	for (const char *part = path; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (!strncmp(part, "..", 2) && (part[2] == '/' || !part[2]))
			return false;
	}
	return true;
}

static bool take_phase(struct manifest *manifest, const json_t *object)
{
	int outcome = get_word(object, "outcome", outcomes, PHASE_OUTCOMES);
	double status = json_member_number(object, "status");
	struct manifest_phase phase = {
		.name = json_member_text(object, "phase", &manifest->texts),
		.command = json_member_text(object, "command", &manifest->texts),
		.file = json_member_text(object, "file", &manifest->texts),
		.reason = json_member_text(object, "reason", &manifest->texts),
		.fix = json_member_text(object, "fix", &manifest->texts),
		.outcome = (enum phase_outcome)outcome,
		.status = status >= 0 && status < 1024 ? (int)status : -1,
		.planned_s = json_member_number(object, "planned_seconds"),
		.seconds = json_member_number(object, "seconds"),
	};

	if (outcome < 0 || !*phase.name || (*phase.file && !path_stays_inside(phase.file)))
		return false;
	vec_push(&manifest->phases, phase);
	return true;
}

static bool take_file(struct manifest *manifest, const json_t *object)
{
	const char *digest = json_string_value(json_object_get(object, "sha256"));
	struct manifest_file file = {
		.path = json_member_text(object, "path", &manifest->texts),
		.bytes = json_member_count(object, "bytes"),
	};

	if (!path_stays_inside(file.path) || !digest || strlen(digest) != SHA256_TEXT - 1)
		return false;
	memcpy(file.sha256, digest, SHA256_TEXT);
	vec_push(&manifest->files, file);
	return true;
}

static bool take_rows(struct manifest *manifest, const json_t *root, const char *key,
	bool (*take)(struct manifest *manifest, const json_t *object))
{
	const json_t *rows = json_object_get(root, key);
	bool fine = json_is_array(rows);

	for (size_t i = 0; fine && i < json_array_size(rows); i++)
		fine = take(manifest, json_array_get(rows, i));
	return fine;
}

static void take_head(struct manifest *manifest, const json_t *root)
{
	const json_t *promise = json_object_get(root, "promise");

	manifest->run_id = json_member_text(root, "run", &manifest->texts);
	manifest->version = json_member_text(root, "version", &manifest->texts);
	manifest->target = json_member_text(root, "target", &manifest->texts);
	manifest->fingerprint = json_member_text(root, "fingerprint", &manifest->texts);
	manifest->output_sha256 = json_member_text(root, "output_sha256", &manifest->texts);
	manifest->against = json_member_text(root, "against", &manifest->texts);
	manifest->time_ns = json_member_count(root, "time_ns");
	manifest->budget_ns = json_member_count(root, "budget_ns");
	manifest->pid = (int64_t)json_member_count(root, "pid");
	manifest->round = (uint32_t)json_member_count(root, "round");
	manifest->median_ns = json_member_number(root, "median_ns");
	manifest->compounded = json_member_number(root, "compounded");
	manifest->planned_s = json_member_number(root, "planned_seconds");
	manifest->seconds = json_member_number(root, "seconds");
	manifest->promise = (struct manifest_promise){
		.location = json_member_text(promise, "location", &manifest->texts),
		.function = json_member_text(promise, "function", &manifest->texts),
		.sentence = json_member_text(promise, "sentence", &manifest->texts),
		.gain = json_member_number(promise, "gain"),
		.lo = json_member_number(promise, "gain_lo"),
		.hi = json_member_number(promise, "gain_hi"),
		.at = json_member_number(promise, "gain_at"),
		.score = json_member_number(promise, "score"),
	};
}

int manifest_read(
	const char *text, size_t len, const char *name, struct manifest *manifest, struct err *err)
{
	json_t *root = json_loadb(text, len, 0, NULL);
	const char *schema = json_string_value(json_object_get(root, "schema"));
	int state = get_word(root, "state", states, MANIFEST_STATES);
	bool fine = schema && str_equal(schema, SCHEMA) && state >= 0;

	manifest_init(manifest);
	if (fine) {
		manifest->state = (enum manifest_state)state;
		take_head(manifest, root);
	}
	fine = fine && take_rows(manifest, root, "phases", take_phase) &&
	       take_rows(manifest, root, "files", take_file);
	json_decref(root);
	if (fine)
		return 0;
	manifest_done(manifest);
	manifest_init(manifest);
	err_set(err, ERR_USAGE, EINVAL, "%s is not a manifest that this version of assay can read",
		name);
	err_hint(err, "name a directory that assay run created");
	return -EINVAL;
}
