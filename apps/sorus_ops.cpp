/// Lists the op table. usage: sorus_ops [--json]
#include <cstdio>
#include <cstring>
#include <string>

#include "sorus/dispatch/kernel.h"

namespace {

using sorus::OpDef;

/// An op with kernels of its own is a primitive; there are no others in the table.
void print_json() {
  std::printf("[");
  const char* separator = "";
  for (const OpDef* op : sorus::all_ops()) {
    std::printf("%s\n  {\"name\": \"%s\", \"primitive\": true, \"elementwise\": %s, \"backward\": %s}",
                separator, std::string(op->name).c_str(), op->traits.elementwise ? "true" : "false",
                op->traits.backward ? "true" : "false");
    separator = ",";
  }
  std::printf("\n]\n");
}

void print_text() {
  for (const OpDef* op : sorus::all_ops()) {
    std::printf("%-32s", std::string(op->name).c_str());
    for (const sorus::Kernel* kernel : sorus::kernels_of(*op, {}))
      std::printf(" %s", std::string(kernel->name).c_str());
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) {
    print_text();
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "--json") == 0) {
    print_json();
    return 0;
  }
  std::fprintf(stderr, "usage: sorus_ops [--json]\n");
  return 2;
}
