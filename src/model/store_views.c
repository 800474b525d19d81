/* store_views.c - plain questions, one line of SQL each (docs/format.md shows them).
 *
 * The views put texts in place of ids, words in place of enumerations, and NULL where nothing was
 * measured.  A share is a fraction of the samples of the same event, weighed by their periods where
 * each has one; `assay report` says the same.  Nothing in assay reads them: they are for people
 * with sqlite3, and they use nothing newer than SQLite 3.8.
 *
 * A function's total counts each sample once, however often the function stands in its stack: the
 * chains of the distinct stacks (not of the samples) are walked, then reduced to one row for each
 * stack and function. */
#include "store_schema.h"

/* The segment `g` that stack `id` is in, and what stands there: any stack is one seek away. */
#define SEGMENT_OF(id) "(SELECT id FROM segment WHERE id <= " id " ORDER BY id DESC LIMIT 1)"
#define LOCATION_AT(id)                                                                            \
	"CAST(substr(g.locations, (" id " - g.id) * g.width + 1, g.width) AS INTEGER)"
#define CALLER_AT(id) "CASE WHEN " id " > g.id THEN " id " - 1 ELSE g.parent END"

/* Samples of the rows "s" of one event: as many as there are, or as their periods say.  A row
 * without a period is one, as in run_sample_count(). */
#define SAMPLES                                                                                    \
	"CASE WHEN (SELECT flags & 4 FROM event WHERE id = s.event)\n"                             \
	"    THEN CAST(total(max(s.period, 1)) AS INTEGER) ELSE count(*) END"

/* The share of what `part` leaves of the rows "o" in their event "w". */
#define SHARE(part)                                                                                \
	"  CASE WHEN w.weighted THEN total(o.period " part ") / w.period\n"                        \
	"    ELSE 1.0 * sum(o.samples " part ") / w.samples END"

/* clang-format off */
const char store_create_views[] =
	"CREATE VIEW warnings AS\n"
	"SELECT c.text AS code, t.text AS text, h.text AS hint\n"
	"FROM note n LEFT JOIN text c ON c.id = n.code LEFT JOIN text t ON t.id = n.text\n"
	"LEFT JOIN text h ON h.id = n.hint ORDER BY n.id;\n"

	"CREATE VIEW fingerprint AS\n"
	"SELECT g.text AS \"group\", n.text AS name,\n"
	"  CASE f.state WHEN 0 THEN ifnull(v.text, '') WHEN 1 THEN 'absent' ELSE 'denied' END AS "
	"value\n"
	"FROM field f LEFT JOIN text g ON g.id = f.\"group\" LEFT JOIN text n ON n.id = f.name\n"
	"LEFT JOIN text v ON v.id = f.value ORDER BY f.id;\n"

	"CREATE VIEW capabilities AS\n"
	"SELECT n.text AS name, CASE c.status WHEN 0 THEN 'ok' WHEN 1 THEN 'limited' ELSE 'no' "
	"END\n"
	"  AS status, r.text AS reason, x.text AS fix\n"
	"FROM capability c LEFT JOIN text n ON n.id = c.name LEFT JOIN text r ON r.id = c.reason\n"
	"LEFT JOIN text x ON x.id = c.fix ORDER BY c.id;\n"

	"CREATE VIEW events AS\n"
	"SELECT e.id AS id, n.text AS name, u.text AS unit, c.text AS core,\n"
	"  nullif(e.\"group\", 0) AS \"group\", e.scale AS scale, e.flags & 1 AS prescaled,\n"
	"  (e.flags & 2) / 2 AS simulated,\n"
	"  CASE e.status WHEN 0 THEN 'counted' WHEN 1 THEN 'not counted' WHEN 2 THEN 'not "
	"supported'\n"
	"    WHEN 3 THEN 'not permitted' ELSE 'not trusted' END AS status, r.text AS reason\n"
	"FROM event e LEFT JOIN text n ON n.id = e.name LEFT JOIN text u ON u.id = e.unit\n"
	"LEFT JOIN text c ON c.id = e.core LEFT JOIN text r ON r.id = e.reason ORDER BY e.id;\n"

	"CREATE VIEW executions AS\n"
	"SELECT e.id AS execution, wall_ns, CASE WHEN flags & 1 THEN NULL ELSE user_ns END AS "
	"user_ns,\n"
	"  CASE WHEN flags & 1 THEN NULL ELSE system_ns END AS system_ns,\n"
	"  CASE WHEN flags & 513 = 1 THEN NULL ELSE max_rss_bytes END AS max_rss_bytes,\n"
	"  CASE WHEN flags & 1 THEN NULL ELSE minor_faults END AS minor_faults,\n"
	"  CASE WHEN flags & 1 THEN NULL ELSE major_faults END AS major_faults,\n"
	"  CASE WHEN flags & 1 THEN NULL ELSE voluntary_switches END AS voluntary_switches,\n"
	"  CASE WHEN flags & 1 THEN NULL ELSE involuntary_switches END AS involuntary_switches,\n"
	"  CASE WHEN flags & 129 = 1 OR signal THEN NULL ELSE exit_status END AS exit_status,\n"
	"  nullif(signal, 0) AS signal, (flags & 2) / 2 AS interrupted, (flags & 4) / 4 AS "
	"leftovers,\n"
	"  (flags & 8) / 8 AS timed_out, (flags & 16) / 16 AS warmup,\n"
	"  CASE WHEN flags & 32 THEN steal_ns END AS steal_ns,\n"
	"  CASE WHEN flags & 64 THEN pressure_ns END AS pressure_ns, t.text AS command,\n"
	"  (flags & 256) / 256 AS failed,\n"
	"  CASE WHEN flags & 1024 THEN max_rss_bytes END AS max_rss_upper_bytes,\n"
	"  CASE WHEN flags & 2048 THEN user_ns WHEN flags & 1 THEN NULL\n"
	"    ELSE user_ns + system_ns END AS cpu_ns,\n"
	"  CASE WHEN flags & 32768 THEN queue_ns END AS queue_ns,\n"
	"  CASE WHEN flags & 106501 = 32768 AND queue_ns < wall_ns THEN wall_ns - queue_ns END\n"
	"    AS corrected_wall_ns\n"
	"FROM execution e LEFT JOIN command c ON c.id = e.command LEFT JOIN text t ON t.id = "
	"c.argv\n"
	"ORDER BY e.id;\n"

	"CREATE VIEW places AS\n"
	"SELECT e.text AS event, u.text AS function, f.text AS file, nullif(p.line, 0) AS line,\n"
	"  p.value AS value\n"
	"FROM place p JOIN event v ON v.id = p.event LEFT JOIN text e ON e.id = v.name\n"
	"LEFT JOIN text u ON u.id = p.function LEFT JOIN text f ON f.id = p.file ORDER BY p.id;\n"

	"CREATE VIEW facts AS\n"
	"SELECT n.text AS name, f.value AS value, u.text AS unit, w.text AS witness,\n"
	"  f.execution AS execution, r.text AS reason\n"
	"FROM fact f LEFT JOIN text n ON n.id = f.name LEFT JOIN text u ON u.id = f.unit\n"
	"LEFT JOIN text w ON w.id = f.witness LEFT JOIN text r ON r.id = f.reason ORDER BY f.id;\n"

	"CREATE VIEW spans AS\n"
	"SELECT n.text AS name, c.text AS category, s.count AS count, total_ns, p50_ns, p95_ns,\n"
	"  p99_ns, p999_ns, max_ns, e.text AS evidence\n"
	"FROM span s LEFT JOIN text n ON n.id = s.name LEFT JOIN text c ON c.id = s.category\n"
	"LEFT JOIN text e ON e.id = s.evidence ORDER BY s.id;\n"

	/* An event without a value has a row too, with the reason. */
	"CREATE VIEW counts AS\n"
	"SELECT e.name AS event, e.unit AS unit, c.execution AS execution, nullif(c.at_ns, 0) AS "
	"at_ns,\n"
	"  CASE WHEN e.status NOT IN ('counted', 'not trusted') THEN NULL\n"
	"    WHEN c.running_ns < c.enabled_ns AND c.running_ns = 0 THEN NULL\n"
	"    WHEN c.running_ns < c.enabled_ns AND NOT e.prescaled\n"
	"      THEN round(e.scale * c.value * c.enabled_ns / c.running_ns, 3)\n"
	"    WHEN e.scale = 1 THEN c.value ELSE e.scale * c.value END AS value,\n"
	"  CASE WHEN NOT e.prescaled THEN c.value END AS raw,\n"
	"  CASE WHEN c.enabled_ns THEN 1.0 * c.running_ns / c.enabled_ns END AS running_share,\n"
	"  e.status AS status, e.reason AS reason\n"
	"FROM events e LEFT JOIN count c ON c.event = e.id ORDER BY c.execution, c.at_ns, e.id;\n"

	"CREATE VIEW samples AS\n"
	"SELECT s.id AS id, s.time_ns AS time_ns, e.text AS event, t.pid AS pid, t.tid AS tid,\n"
	"  n.text AS thread, nullif(s.cpu, 4294967295) AS cpu, s.period AS period,\n"
	"  u.text AS function, f.line AS line,\n"
	"  p.text AS module, s.flags & 1 AS truncated, (s.flags & 2) / 2 AS kernel\n"
	"FROM sample s LEFT JOIN event v ON v.id = s.event LEFT JOIN text e ON e.id = v.name\n"
	"LEFT JOIN thread t ON t.id = s.thread LEFT JOIN text n ON n.id = t.name\n"
	"LEFT JOIN segment g ON g.id = " SEGMENT_OF("s.stack") "\n"
	"LEFT JOIN location l ON l.id = " LOCATION_AT("s.stack") "\n"
	"LEFT JOIN frame f ON f.id = l.frame\n"
	"LEFT JOIN function c ON c.id = f.function LEFT JOIN text u ON u.id = c.name\n"
	"LEFT JOIN module m ON m.id = l.module LEFT JOIN text p ON p.id = m.path;\n"

	"CREATE VIEW quality_of_run AS\n"
	"SELECT t.text AS name, q.value AS value FROM quality q JOIN text t ON t.id = q.name\n"
	"ORDER BY q.id;\n"

	/* One row for each stack: a segment taken apart. */
	"CREATE VIEW stack AS\n"
	"WITH RECURSIVE part(id, parent, segment, count) AS (\n"
	"  SELECT id, parent, id, length(locations) / width FROM segment\n"
	"  UNION ALL SELECT id + 1, id, segment, count FROM part WHERE id + 1 < segment + count)\n"
	"SELECT p.id AS id, p.parent AS parent, nullif(" LOCATION_AT("p.id") ", 0) AS location\n"
	"FROM part p JOIN segment g ON g.id = p.segment;\n"

	/* Every frame of every distinct stack, innermost at depth 0, with its samples:
	 * out of a frame into the one it was inlined into, then to the caller's location. */
	"CREATE VIEW chains AS\n"
	"WITH RECURSIVE leaf(event, stack, samples, period) AS (\n"
	"  SELECT event, stack, " SAMPLES ", total(period)\n"
	"  FROM sample s GROUP BY event, stack),\n"
	"chain(event, stack, samples, period, depth, caller, location, frame, outer) AS (\n"
	"  SELECT f.event, f.stack, f.samples, f.period, 0, " CALLER_AT("f.stack") ", l.id,\n"
	"    l.frame, r.outer\n"
	"  FROM leaf f LEFT JOIN segment g ON g.id = " SEGMENT_OF("f.stack") "\n"
	"  LEFT JOIN location l ON l.id = " LOCATION_AT("f.stack") "\n"
	"  LEFT JOIN frame r ON r.id = l.frame\n"
	"  UNION ALL SELECT c.event, c.stack, c.samples, c.period, c.depth + 1, c.caller, "
	"c.location,\n"
	"    r.id, r.outer\n"
	"  FROM chain c JOIN frame r ON r.id = c.outer\n"
	"  UNION ALL SELECT c.event, c.stack, c.samples, c.period, c.depth + 1,\n"
	"    " CALLER_AT("c.caller") ", l.id, l.frame, r.outer\n"
	"  FROM chain c JOIN segment g ON g.id = " SEGMENT_OF("c.caller") "\n"
	"  LEFT JOIN location l ON l.id = " LOCATION_AT("c.caller") "\n"
	"  LEFT JOIN frame r ON r.id = l.frame WHERE c.outer IS NULL)\n"
	"SELECT c.event AS event, c.stack AS stack, c.depth AS depth, c.samples AS samples,\n"
	"  c.location AS location, c.frame AS frame, f.function AS function, l.module AS module,\n"
	"  f.file AS file, nullif(f.line, 0) AS line, c.period AS period\n"
	"FROM chain c LEFT JOIN location l ON l.id = c.location LEFT JOIN frame f ON f.id = "
	"c.frame;\n"

	/* What the shares of an event are taken of. */
	"CREATE VIEW sampled_events AS\n"
	"SELECT s.event AS event, v.text AS name, " SAMPLES "\n"
	"    AS samples, total(s.period) AS period,\n"
	"  min(s.period) > 0 AS weighted\n"
	"FROM sample s LEFT JOIN event e ON e.id = s.event LEFT JOIN text v ON v.id = e.name\n"
	"GROUP BY s.event;\n"

	/* Rows of one name, file and module are one function: inlined copies have rows too. */
	"CREATE VIEW top_functions AS\n"
	"WITH once AS (SELECT c.event AS event, c.stack AS stack, f.name AS name,\n"
	"  CASE WHEN f.name IS NOT NULL THEN f.file END AS file,\n"
	"  CASE WHEN f.name IS NOT NULL THEN f.module ELSE c.module END AS module,\n"
	"  max(c.samples) AS samples, max(c.period) AS period, max(c.depth = 0) AS innermost\n"
	"  FROM chains c LEFT JOIN function f ON f.id = c.function GROUP BY 1, 2, 3, 4, 5)\n"
	"SELECT CASE WHEN o.stack IS NULL THEN '[no stack]' ELSE ifnull(n.text, '[unknown]') END\n"
	"    AS function, p.text AS module, d.text AS file, sum(o.samples * o.innermost) AS self,\n"
	SHARE("* o.innermost") " AS self_share, sum(o.samples) AS total,\n"
	SHARE("") " AS total_share, w.name AS event\n"
	"FROM once o JOIN sampled_events w ON w.event IS o.event LEFT JOIN text n ON n.id = "
	"o.name\n"
	"LEFT JOIN text d ON d.id = o.file LEFT JOIN module m ON m.id = o.module\n"
	"LEFT JOIN text p ON p.id = m.path\n"
	"GROUP BY o.event, o.name, o.file, o.module, o.stack IS NULL ORDER BY self DESC, total "
	"DESC;\n"

	"CREATE VIEW top_lines AS\n"
	"WITH once AS (SELECT c.event AS event, c.stack AS stack, f.name AS name, f.file AS home,\n"
	"  CASE WHEN f.name IS NULL AND c.line IS NULL THEN c.module ELSE f.module END AS module,\n"
	"  c.file AS file, c.line AS line, max(c.samples) AS samples, max(c.period) AS period,\n"
	"  max(c.depth = 0) AS innermost\n"
	"  FROM chains c LEFT JOIN function f ON f.id = c.function GROUP BY 1, 2, 3, 4, 5, 6, 7)\n"
	"SELECT d.text AS file, o.line AS line,\n"
	"  CASE WHEN o.stack IS NULL THEN '[no stack]' ELSE ifnull(n.text, '[unknown]') END\n"
	"    AS function, sum(o.samples * o.innermost) AS self,\n"
	SHARE("* o.innermost") " AS self_share, sum(o.samples) AS total,\n"
	SHARE("") " AS total_share, w.name AS event, p.text AS module\n"
	"FROM once o JOIN sampled_events w ON w.event IS o.event LEFT JOIN text n ON n.id = "
	"o.name\n"
	"LEFT JOIN text d ON d.id = o.file LEFT JOIN module m ON m.id = o.module\n"
	"LEFT JOIN text p ON p.id = m.path\n"
	"GROUP BY o.event, o.name, o.home, o.module, o.file, o.line, o.stack IS NULL\n"
	"ORDER BY self DESC, total DESC;\n"

	"CREATE VIEW top_modules AS\n"
	"WITH once AS (SELECT event, stack, module, max(samples) AS samples, max(period) AS "
	"period,\n"
	"  max(depth = 0) AS innermost FROM chains GROUP BY event, stack, module)\n"
	"SELECT CASE WHEN o.stack IS NULL THEN '[no stack]' ELSE ifnull(p.text, '[unknown]') END\n"
	"    AS module, sum(o.samples * o.innermost) AS self,\n"
	SHARE("* o.innermost") " AS self_share, sum(o.samples) AS total,\n"
	SHARE("") " AS total_share, w.name AS event\n"
	"FROM once o JOIN sampled_events w ON w.event IS o.event LEFT JOIN module m ON m.id = "
	"o.module\n"
	"LEFT JOIN text p ON p.id = m.path\n"
	"GROUP BY o.event, o.module, o.stack IS NULL ORDER BY self DESC, total DESC;\n"

	"CREATE VIEW top_threads AS\n"
	"SELECT t.pid AS pid, t.tid AS tid, n.text AS thread,\n"
	"  " SAMPLES " AS samples,\n"
	"  CASE WHEN w.weighted THEN total(s.period) / w.period\n"
	"    ELSE 1.0 * " SAMPLES " / w.samples END AS share, w.name AS event\n"
	"FROM sample s JOIN sampled_events w ON w.event IS s.event LEFT JOIN thread t ON t.id = "
	"s.thread\n"
	"LEFT JOIN text n ON n.id = t.name GROUP BY s.event, s.thread ORDER BY samples DESC;\n";
/* clang-format on */
