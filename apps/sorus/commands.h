#pragma once

#include <optional>
#include <string>
#include <vector>

// The commands of `sorus`, one file each, with what the command line gives them. Only main.cpp knows how: the
// parser takes longer to compile than all commands.

struct OpsArguments {
  bool json = false;
  bool markdown = false;
};
void run_ops(const OpsArguments& arguments);

struct OptArguments {
  std::string file;
  std::vector<std::string> passes;
  std::string picture;
  bool none = false;
  bool relaxed = false;
  bool each = false;
  bool report = false;
  std::vector<std::string> libraries;
  std::string engine;
};
void run_opt(const OptArguments& arguments);
/// The names of all passes, for the help.
std::string pass_names();

struct RunArguments {
  std::string program;
  std::string inputs;
  std::string outputs;
};
void run_run(const RunArguments& arguments);

struct TuneArguments {
  std::string file;
  std::string inputs;
  std::string op;
  std::vector<std::string> shapes;
  std::vector<std::string> dtypes = {"float32"};
  std::string attributes;
  double budget = 30;
  bool relaxed = false;
  bool list = false;
  bool show = false;
  bool dry_run = false;
  bool quiet = false;
  std::optional<std::string> database;
};
void run_tune(const TuneArguments& arguments);
