/* attestation.c - see attestation.h.  The document comes from outside: every type is checked. */
#include "source/attestation.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static const char digest_key[] = "document_sha256";

static void data_digest(json_t *data, char ret_digest[SHA256_TEXT])
{
	struct sha256 sha;
	char *text;

	json_object_del(data, digest_key);
	text = json_dumps(data, JSON_COMPACT | JSON_SORT_KEYS);
	sha256_init(&sha);
	if (text)
		sha256_add(&sha, text, strlen(text));
	sha256_text(&sha, ret_digest);
	free(text);
}

static int refuse(const char *name, const char *what, struct err *err)
{
	err_set(err, ERR_USAGE, EINVAL, "%s is not an attestation: %s", name, what);
	return err_hint(err, "write one with `assay attest RUN -o FILE`");
}

static json_t *load(const char *bytes, size_t len, const char *name, struct err *err)
{
	json_error_t error;
	json_t *document = json_loadb(bytes, len, JSON_REJECT_DUPLICATES, &error);
	char where[80];

	if (document)
		return document;
	snprintf(where, sizeof(where), "not valid JSON at line %d, column %d", error.line,
		error.column);
	refuse(name, where, err);
	return NULL;
}

int attestation_digest(const char *data, size_t len, char ret_digest[SHA256_TEXT], struct err *err)
{
	json_t *object = load(data, len, "the document", err);

	if (!object)
		return -EINVAL;
	data_digest(object, ret_digest);
	json_decref(object);
	return 0;
}

static const char *text_of(const json_t *object, const char *key, struct arena *arena)
{
	const char *text = json_string_value(json_object_get(object, key));

	return arena_copy(arena, text ? text : "");
}

static int document_take(json_t *document, const char *name, struct arena *arena,
	struct attestation *taken, struct err *err)
{
	const char *schema = json_string_value(json_object_get(document, "schema"));
	json_t *data = json_object_get(document, "data"), *run;
	const char *recorded;

	if (!schema || !str_starts(schema, "assay.attest/"))
		return refuse(name, "it is JSON, but not written by assay attest", err);
	if (!str_equal(schema, "assay.attest/1"))
		return refuse(name, "it was written by a newer assay", err);
	recorded = json_string_value(json_object_get(data, digest_key));
	if (!recorded || strlen(recorded) != SHA256_TEXT - 1)
		return refuse(name, "it has no digest", err);
	memcpy(taken->recorded, recorded, SHA256_TEXT);
	run = json_object_get(data, "run");
	taken->attester = text_of(data, "attester", arena);
	taken->time_utc = text_of(data, "time_utc", arena);
	taken->run_path = text_of(run, "path", arena);
	taken->run_sha256 = text_of(run, "sha256", arena);
	taken->fails = json_integer_value(json_object_get(data, "fails"));
	data_digest(data, taken->computed); /* last: it takes the digest out */
	return 0;
}

int attestation_read(const char *bytes, size_t len, const char *name, struct arena *arena,
	struct attestation *ret_attestation, struct err *err)
{
	json_t *document = load(bytes, len, name, err);
	struct attestation taken = {0};
	int r = document ? document_take(document, name, arena, &taken, err) : -EINVAL;

	if (r >= 0)
		*ret_attestation = taken;
	json_decref(document);
	return r;
}
