#include <fmt/core.h>

#include <map>
#include <memory>

#include "commands.h"
#include "sorus/base/error.h"
#include "sorus/compiler/program.h"
#include "sorus/formats/checkpoint.h"

namespace {

using sorus::formats::CheckpointEntry;

void describe(const char* what, const std::vector<sorus::ProgramValue>& values) {
  for (const sorus::ProgramValue& v : values) fmt::print("{} {} {}\n", what, v.name, v.type);
}

}  // namespace

void run_run(const RunArguments& arguments) {
  const sorus::Program program = sorus::load_program(arguments.program);
  if (arguments.inputs.empty()) {
    describe("input", program.inputs());
    describe("output", program.outputs());
    return;
  }
  std::map<std::string, sorus::Tensor> in;
  for (CheckpointEntry& e : sorus::formats::read_checkpoint(arguments.inputs)) {
    auto* tensor = std::get_if<sorus::Tensor>(&e.value);
    SORUS_CHECK(tensor, sorus::TypeError, "run: an input is no tensor: got the text '{}', need a tensor",
                e.name);
    in.emplace(e.name, std::move(*tensor));
  }
  std::vector<CheckpointEntry> out;
  for (auto& [name, value] : program.by_name(in)) out.push_back({name, value});
  if (arguments.outputs.empty())
    for (const CheckpointEntry& e : out)
      fmt::print("{} {}\n", e.name, std::get<sorus::Tensor>(e.value).type());
  else
    sorus::formats::write_checkpoint(arguments.outputs, out);
}
