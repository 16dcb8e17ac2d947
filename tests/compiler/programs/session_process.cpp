#include <iostream>
#include <thread>
#include <vector>

#include "sorus/compiler/session.h"
#include "tests/compiler/programs/tensor_stream.h"

/// An engine of its own process: reads a program and lists of inputs from standard input, runs each list on a
/// thread of its own, and writes the results to standard output. Programs that are no programs end it with 2.
int main() {
  using namespace sorus;
  Session session;
  Session::Id id = 0;
  try {
    id = session.add(read_bytes(std::cin));
    session.compile(id);
  } catch (const IOError& e) {
    std::cerr << e.what();
    return 2;
  }
  std::vector<TensorList> results;
  std::vector<TensorList> inputs;
  for (std::string bytes = read_bytes(std::cin); !bytes.empty(); bytes = read_bytes(std::cin))
    inputs.push_back(tensors_from(bytes));
  results.resize(inputs.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < inputs.size(); ++i)
    threads.emplace_back([&, i] { results[i] = session.run(id, inputs[i]); });
  for (std::thread& t : threads) t.join();
  session.remove(id);
  for (const TensorList& list : results) write_bytes(std::cout, bytes_of(list));
  return 0;
}
