#pragma once

#include <CLI/CLI.hpp>

// The commands of `sorus`, one file each. A command runs as a callback of its subcommand.
void add_ops_command(CLI::App& app);
void add_opt_command(CLI::App& app);
void add_run_command(CLI::App& app);
void add_tune_command(CLI::App& app);
