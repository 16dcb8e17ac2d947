#include "sorus/compiler/session.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <sstream>
#include <thread>

#include "sorus/ops/elementwise/activation.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/nn/softmax.h"
#include "tests/compiler/programs/tensor_stream.h"

namespace sorus {
namespace {

Tensor random_tensor(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> items(static_cast<size_t>(shape.numel()));
  for (float& x : items) x = normal(random);
  return Tensor(std::span<const float>(items), shape);
}

/// A perceptron, as the host program has it.
struct Network {
  Tensor weight1 = random_tensor({20, 30}, 1), weight2 = random_tensor({30, 10}, 2),
         bias = random_tensor({30}, 3);
  TensorList operator()(const TensorList& in) const {
    const Tensor hidden = relu(add(matmul(in[0], weight1), bias));
    return {softmax(matmul(hidden, weight2), -1), tanh(hidden)};
  }
};

Program perceptron() {
  const ProgramValue inputs[] = {{"x", {DType::kFloat32, {}, {4, 20}}}};
  return Program::trace(Network(), inputs);
}

void expect_same_bits(const TensorList& got, const TensorList& wanted) {
  EXPECT_EQ(bytes_of(got), bytes_of(wanted));
}

TEST(Session, AddsRunsAndRemoves) {
  Session session;
  const Session::Id id = session.add(perceptron().bytes()), other = session.add(perceptron());
  EXPECT_NE(id, other);
  session.compile(id);
  const TensorList in = {random_tensor({4, 20}, 5)};
  const TensorList wanted = Network()(in);
  expect_same_bits(session.run(id, in), wanted);
  const auto named = session.run_by_name(other, {{"x", in[0]}});
  expect_same_bits({named.at("output0"), named.at("output1")}, wanted);
  session.remove(id);
  EXPECT_EQ(session.ids(), std::vector<Session::Id>{other});
  EXPECT_THROW(static_cast<void>(session.run(id, in)), KeyError);
  EXPECT_THROW(session.remove(id), KeyError);
  EXPECT_THROW(session.add(Program()), ValueError);
  EXPECT_THROW(session.add("no program"), IOError);
  EXPECT_GT(session.add(perceptron()), other);
}

TEST(Session, ServesManyThreadsAtOnce) {
  Session session;
  const std::string bytes = perceptron().bytes();
  const Session::Id shared = session.add(bytes);
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 20; ++i) {
        const TensorList in = {random_tensor({4, 20}, 100 * t + i)};
        const std::string wanted = bytes_of(Network()(in));
        const Session::Id own = session.add(bytes);
        const bool same =
            bytes_of(session.run(shared, in)) == wanted && bytes_of(session.run(own, in)) == wanted;
        session.remove(own);
        good += same ? 1 : 0;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(good, 160);
  EXPECT_EQ(session.ids().size(), 1U);
}

struct Outcome {
  std::string output;
  int status = 0;
};

/// Runs the engine's program with what it is to read; what it wrote.
Outcome run_engine(const std::string& input) {
  int to[2], from[2];
  EXPECT_EQ(pipe(to) + pipe(from), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    for (int end : {to[0], to[1], from[0], from[1]}) close(end);
    execl(SESSION_PROCESS, SESSION_PROCESS, nullptr);
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  std::thread writer([&] {
    for (size_t at = 0; at < input.size();) {
      const ssize_t n = write(to[1], input.data() + at, input.size() - at);
      if (n <= 0) break;
      at += static_cast<size_t>(n);
    }
    close(to[1]);
  });
  Outcome outcome;
  char buffer[4096];
  for (ssize_t n = read(from[0], buffer, sizeof(buffer)); n > 0; n = read(from[0], buffer, sizeof(buffer)))
    outcome.output.append(buffer, static_cast<size_t>(n));
  close(from[0]);
  writer.join();
  waitpid(child, &outcome.status, 0);
  return outcome;
}

TEST(Session, RunsInAnotherProcess) {
  std::ostringstream to;
  write_bytes(to, perceptron().bytes());
  std::vector<TensorList> inputs;
  for (unsigned i = 0; i < 6; ++i) {
    inputs.push_back({random_tensor({4, 20}, 40 + i)});
    write_bytes(to, bytes_of(inputs.back()));
  }
  const Outcome outcome = run_engine(to.str());
  ASSERT_EQ(outcome.status, 0);
  std::istringstream from(outcome.output);
  for (const TensorList& in : inputs) expect_same_bits(tensors_from(read_bytes(from)), Network()(in));
}

TEST(Session, AnotherProcessRefusesWhatIsNoProgram) {
  std::ostringstream to;
  std::string bytes = perceptron().bytes();
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_bytes(to, bytes);
  const Outcome outcome = run_engine(to.str());
  EXPECT_TRUE(WIFEXITED(outcome.status));
  EXPECT_EQ(WEXITSTATUS(outcome.status), 2);
}

}  // namespace
}  // namespace sorus
