/// The command-line program: `sorus ops`, `sorus opt`, `sorus run`, `sorus tune`.
#include <fmt/core.h>

#include "commands.h"
#include "sorus/base/error.h"

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
