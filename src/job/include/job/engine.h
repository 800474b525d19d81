/* engine.h - where the numbers about the CPU come from. */
#pragma once

enum job_engine {
	ENGINE_AUTO, /* asked for: the PMU where it can be used, else the simulator */
	ENGINE_PMU,
	ENGINE_SIM,
};
