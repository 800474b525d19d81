/* fingerprint_noise.c - what else the machine was doing at this moment.
 *
 * Only readings that cost microseconds: averages the kernel keeps anyway.  Temperatures come from
 * the sensors of the processor alone; the ACPI ones ask the embedded controller and may take
 * milliseconds each. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fingerprint_facts.h"

static void noise_load(struct facts *facts)
{
	double one, five, fifteen;
	unsigned running, total, cpus = cpus_count(&facts->online);
	int r = facts_read(facts, "proc/loadavg");

	if (r >= 0 && sscanf(str_text(&facts->text), "%lf %lf %lf %u/%u", &one, &five, &fifteen,
			      &running, &total) == 5) {
		facts_putf(facts, "load", "%.2f %.2f %.2f", one, five, fifteen);
		facts_putf(facts, "load_per_cpu", "%.2f", one / (cpus ? cpus : 1));
		facts_putf(facts, "running", "%u of %u", running, total);
		return;
	}
	facts_put_missing(facts, "load", r);
	facts_put_missing(facts, "load_per_cpu", r);
	facts_put_missing(facts, "running", r);
}

/* "some avg10=0.69 ...": the share of the last 10 s in which a task waited. */
static void noise_pressure(struct facts *facts)
{
	static const struct fact_file files[] = {
		{"pressure_cpu", "proc/pressure/cpu"},
		{"pressure_memory", "proc/pressure/memory"},
		{"pressure_io", "proc/pressure/io"},
		{0},
	};

	for (const struct fact_file *file = files; file->name; file++) {
		int r = facts_read(facts, file->path);
		const char *average = r < 0 ? NULL : strstr(str_text(&facts->text), "avg10=");

		if (average)
			facts_putf(facts, file->name, "%.2f %%", strtod(average + 6, NULL));
		else
			facts_put_missing(facts, file->name, r < 0 ? r : -ENOENT);
	}
}

static void noise_steal(struct facts *facts)
{
	unsigned long long ticks[8] = {0}, sum = 0;
	int r = facts_read_start(facts, "proc/stat", &facts->text);

	if (r < 0 || sscanf(str_text(&facts->text), "cpu %llu %llu %llu %llu %llu %llu %llu %llu",
			     &ticks[0], &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5],
			     &ticks[6], &ticks[7]) != 8) {
		facts_put_missing(facts, "steal", r < 0 ? r : -ENOENT);
		return;
	}
	for (unsigned i = 0; i < 8; i++)
		sum += ticks[i];
	facts_putf(facts, "steal", "%.2f %% since boot",
		sum ? 100.0 * (double)ticks[7] / (double)sum : 0.0);
}

static bool sensor_is_processor(const char *name)
{
	static const char *const names[] = {
		"x86_pkg_temp", "cpu", "soc", "coretemp", "k10temp", "zenpower"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (str_starts(name, names[i]))
			return true;
	return false;
}

/* The hottest processor sensor below `folder`, in thousandths of a degree. */
static void sensors_read(
	struct facts *facts, const char *folder, const struct fact_file *files, long long *hottest)
{
	name_list_auto struct name_list sensors = {0};

	facts_list(facts, folder, "", &sensors);
	for (uint32_t i = 0; i < sensors.at.count && i < 64; i++) {
		long long value;
		char path[256];

		snprintf(path, sizeof(path), "%s/%.64s/%s", folder, sensors.at.at[i], files->name);
		if (facts_read(facts, path) <= 0 || !sensor_is_processor(facts->text.at))
			continue;
		snprintf(path, sizeof(path), "%s/%.64s/%s", folder, sensors.at.at[i], files->path);
		if (facts_read_number(facts, path, &value) == 0 && value > *hottest)
			*hottest = value;
	}
}

static void noise_temperature(struct facts *facts)
{
	long long hottest = -1000000;

	sensors_read(facts, "sys/class/thermal", &(struct fact_file){"type", "temp"}, &hottest);
	sensors_read(
		facts, "sys/class/hwmon", &(struct fact_file){"name", "temp1_input"}, &hottest);
	if (hottest > -1000000)
		facts_putf(facts, "temperature", "%lld C", hottest / 1000);
	else
		facts_put_missing(facts, "temperature", -ENOENT);
}

static void noise_throttles(struct facts *facts)
{
	long long sum = 0, value;
	int r = -ENOENT;

	for (int cpu = cpus_next(&facts->online, -1); cpu >= 0;
		cpu = cpus_next(&facts->online, cpu)) {
		char path[128];

		snprintf(path, sizeof(path),
			"sys/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count", cpu);
		r = facts_read_number(facts, path, &value);
		if (r < 0)
			break;
		sum += value;
	}
	if (r < 0)
		facts_put_missing(facts, "thermal_throttles", r);
	else
		facts_putf(facts, "thermal_throttles", "%lld since boot", sum);
}

static void noise_power(struct facts *facts)
{
	name_list_auto struct name_list supplies = {0};
	const char *source = NULL;
	str_auto struct str battery = {0};

	facts_list(facts, "sys/class/power_supply", "", &supplies);
	for (uint32_t i = 0; i < supplies.at.count && i < 16; i++) {
		const char *name = supplies.at.at[i];
		long long online;
		char path[128];

		snprintf(path, sizeof(path), "sys/class/power_supply/%.64s/type", name);
		if (facts_read(facts, path) <= 0)
			continue;
		if (str_equal(facts->text.at, "Mains")) {
			snprintf(path, sizeof(path), "sys/class/power_supply/%.64s/online", name);
			if (facts_read_number(facts, path, &online) == 0)
				source = online ? "mains" : source ? source : "battery";
		} else if (str_equal(facts->text.at, "Battery") && !battery.len) {
			snprintf(path, sizeof(path), "sys/class/power_supply/%.64s/status", name);
			if (facts_read(facts, path) > 0)
				str_add(&battery, facts->text.at);
		}
	}
	if (source)
		facts_put(facts, "power_source", source);
	else
		facts_put_missing(facts, "power_source", -ENOENT);
	if (battery.len)
		facts_put(facts, "battery", battery.at);
	else
		facts_put_missing(facts, "battery", -ENOENT);
}

static void noise_memory(struct facts *facts)
{
	str_auto struct str total = {0}, available = {0};
	double whole;
	int r = facts_read(facts, "proc/meminfo");

	if (r < 0 || !line_value(str_text(&facts->text), "MemTotal", &total) ||
		!line_value(str_text(&facts->text), "MemAvailable", &available)) {
		facts_put_missing(facts, "memory_available", r < 0 ? r : -ENOENT);
		return;
	}
	whole = strtod(total.at, NULL);
	facts_putf(facts, "memory_available", "%.1f %%",
		whole > 0 ? 100 * strtod(available.at, NULL) / whole : 0.0);
}

void fingerprint_noise(struct facts *facts)
{
	facts->group = "noise";
	noise_load(facts);
	noise_pressure(facts);
	noise_steal(facts);
	noise_memory(facts);
	noise_temperature(facts);
	noise_throttles(facts);
	noise_power(facts);
}
