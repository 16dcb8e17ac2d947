#include "sorus/compiler/signatures.h"

#include <mutex>
#include <string>
#include <unordered_map>

#include "sorus/base/flags.h"
#include "sorus/base/fork_mutex.h"
#include "sorus/base/log.h"
#include "sorus/compiler/recording.h"
#include "sorus/dispatch/apply.h"

namespace sorus {
namespace {

constexpr size_t kMostFunctions = 4096;

struct Known {
  int signatures = 0;
  std::vector<TensorType> last;
};

/// The functions that were recorded; the oldest knowledge goes when there are too many of them.
class Signatures {
 public:
  static Signatures& instance() {
    static auto& signatures = *new Signatures;
    return signatures;
  }
  /// Notes one more signature; returns how many there are now, and the one before.
  Known note(uint64_t function, std::vector<TensorType> types) {
    std::lock_guard lock(mutex_);
    if (functions_.size() >= kMostFunctions && !functions_.contains(function)) functions_.clear();
    Known& known = functions_[function];
    Known before{++known.signatures, std::move(known.last)};
    known.last = std::move(types);
    return before;
  }
  int count(uint64_t function) {
    std::lock_guard lock(mutex_);
    auto at = functions_.find(function);
    return at == functions_.end() ? 0 : at->second.signatures;
  }

 private:
  ForkMutex mutex_;
  std::unordered_map<uint64_t, Known> functions_;
};

const NamedCall*& current_call() {
  static thread_local const NamedCall* call = nullptr;
  return call;
}

std::string difference(const std::vector<TensorType>& before, const std::vector<TensorType>& now) {
  if (before.size() != now.size())
    return fmt::format("it is given {} tensors, and was given {}", now.size(), before.size());
  for (size_t i = 0; i < now.size(); ++i)
    if (!(now[i] == before[i])) return fmt::format("tensor {} is {}, and was {}", i, now[i], before[i]);
  return "its types are the same, and a setting (gradients, mixed precision, numerics, engines) or the "
         "thread is "
         "another";
}

std::string place() {
  std::string site = current_call_site();
  return site.empty() ? std::string("a function") : site;
}

}  // namespace

std::vector<TensorType> types_of(std::span<const Tensor> tensors) {
  std::vector<TensorType> types;
  for (const Tensor& t : tensors)
    if (t.defined()) types.push_back(t.type());
  return types;
}

NamedCall::NamedCall(uint64_t function, TypesOf types_of_call, const void* context)
    : function_(function), types_(types_of_call), context_(context), outer_(current_call()) {
  current_call() = this;
}
NamedCall::NamedCall(uint64_t function, const std::span<const Tensor>& operands)
    : NamedCall(
          function,
          [](const void* span) { return types_of(*static_cast<const std::span<const Tensor>*>(span)); },
          &operands) {}
NamedCall::~NamedCall() { current_call() = outer_; }
const NamedCall* NamedCall::current() { return current_call(); }

void note_new_recording() {
  ++follow_stats().signatures;
  const NamedCall* call = NamedCall::current();
  if (!call) return;
  const std::vector<TensorType> types = call->types();
  const Known before = Signatures::instance().note(call->function(), types);
  static const bool explaining = verbose("compile");
  if (explaining && before.signatures > 1)
    log_message(LogLevel::kWarning, fmt::format("compile: {} is recorded for another time, {} so far: {}",
                                                place(), before.signatures, difference(before.last, types)));
  if (before.signatures == kManySignatures)
    log_warning(
        "graph mode: many sets of shapes and dtypes: got {} in {} (last: {}), need few, as each is recorded "
        "and "
        "compiled by itself: pad to a few shapes, or call it outside graph mode",
        kManySignatures, place(), difference(before.last, types));
}

int signatures_of(uint64_t function) { return Signatures::instance().count(function); }

}  // namespace sorus
