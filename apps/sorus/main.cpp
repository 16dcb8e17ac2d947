/// The command-line program: `sorus ops`, `sorus opt`, `sorus run`, `sorus tune`.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.h"
#include "sorus/base/error.h"

// A command runs as a callback of its subcommand.
namespace {

void add_ops_command(CLI::App& app) {
  auto arguments = std::make_shared<OpsArguments>();
  CLI::App& command = *app.add_subcommand("ops", "lists the op table with its kernels");
  CLI::Option* json = command.add_flag("--json", arguments->json, "as JSON");
  command.add_flag("--markdown", arguments->markdown, "as the reference page")->excludes(json);
  command.callback([arguments] { run_ops(*arguments); });
}

void add_opt_command(CLI::App& app) {
  auto arguments = std::make_shared<OptArguments>();
  CLI::App& command = *app.add_subcommand("opt", "runs passes over a graph given as text, and prints it");
  command.add_option("file", arguments->file, "graph as text, - for standard input")->required();
  command.add_option("--passes", arguments->passes, "only these, in their usual order: " + pass_names())
      ->delimiter(',');
  command.add_flag("--none", arguments->none, "no pass: only check and print");
  command.add_flag("--relaxed", arguments->relaxed, "relaxed passes too");
  command.add_flag("--each", arguments->each, "print the graph after every pass");
  command.add_flag("--report", arguments->report, "times, kernels and memory on standard error");
  command.add_option("--picture", arguments->picture, "write the result as a picture to this .svg file");
  command.add_option("--load", arguments->libraries, "shared libraries of engines, loaded before")
      ->delimiter(',');
  command.add_option("--engine", arguments->engine, "an engine that gets whatever it takes");
  command.callback([arguments] { run_opt(*arguments); });
}

void add_run_command(CLI::App& app) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App& command =
      *app.add_subcommand("run", "runs a saved program; without inputs, says what it takes and gives");
  command.add_option("file", arguments->program, "program, as save_program writes it")->required();
  command.add_option("--inputs", arguments->inputs, "checkpoint with a tensor for each input, by name");
  command.add_option("--outputs", arguments->outputs, "checkpoint to which the results are written");
  command.callback([arguments] { run_run(*arguments); });
}

void add_tune_command(CLI::App& app) {
  auto arguments = std::make_shared<TuneArguments>();
  TuneArguments& a = *arguments;
  CLI::App& command = *app.add_subcommand(
      "tune", "looks for faster tile sizes, grains and limits of passes, and keeps them in a database");
  command.add_option("file", a.file, "program, as save_program writes it, or a graph as text");
  command.add_option("--inputs", a.inputs, "checkpoint with a tensor for each input, by name; else made up");
  command.add_option("--op", a.op, "an op instead of a file");
  command.add_option("--shapes", a.shapes, "of its operands: 64x128,128x256; scalar for none")
      ->delimiter(',');
  command.add_option("--dtype", a.dtypes, "of all operands, or of each")->delimiter(',');
  command.add_option("--attributes", a.attributes, "as graphs write them: \"axis=-1\"");
  command.add_option("--budget", a.budget, "seconds, about")->check(CLI::PositiveNumber);
  command.add_flag("--relaxed", a.relaxed, "for relaxed numerics, with parameters that move bits as well");
  command.add_option("--database", a.database,
                     "file of the values; default: SORUS_TUNING_DATABASE, or that "
                     "of the user");
  command.add_flag("--dry-run", a.dry_run, "keep nothing");
  command.add_flag("--quiet", a.quiet, "say nothing meanwhile");
  command.add_flag("--list", a.list, "only list the parameters");
  command.add_flag("--show", a.show, "only list what the database holds for this processor and build");
  command.callback([arguments] { run_tune(*arguments); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Looks into Sorus, its op table and its graphs, and runs and tunes saved programs."};
  app.require_subcommand(1);
  add_ops_command(app);
  add_opt_command(app);
  add_run_command(app);
  add_tune_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e);
  } catch (const std::exception& e) {
    fmt::print(stderr, "sorus: {}\n", e.what());
    return 1;
  }
  return 0;
}
