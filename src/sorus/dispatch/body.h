#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sorus/dispatch/op_def.h"

/// Functions of tensors as data: what ops of control flow take as attributes. They are made by calling a
/// function once with abstract values, which have types and no bytes.
namespace sorus {

class Generator;

/// The op calls of a function. Immutable and thread-safe; two with equal text are one object as long as
/// somebody holds it, so that what was compiled for it is found again.
class SORUS_API FunctionBody {
 public:
  FunctionBody() = default;
  virtual ~FunctionBody() = default;
  FunctionBody(const FunctionBody&) = delete;
  FunctionBody& operator=(const FunctionBody&) = delete;

  [[nodiscard]] virtual const std::vector<TensorType>& input_types() const = 0;
  [[nodiscard]] virtual const std::vector<TensorType>& output_types() const = 0;
  /// Some call inside checks values (OpDef::check_values), so that a run may throw.
  [[nodiscard]] virtual bool checks_values() const = 0;
  /// The calls one by one through apply(): they are recorded, followed and differentiated like any.
  [[nodiscard]] virtual TensorList call(const TensorList& in) const = 0;
  /// All at once, compiled, on values with bytes. An input that is marked `donated` may be written over.
  /// Gives the bits of call(). Throws what a check throws.
  virtual void run(std::span<const Ref<Value>> in, std::span<char> donated,
                   std::span<Ref<Value>> out) const = 0;
  /// Lossless text form.
  [[nodiscard]] virtual const std::string& text() const = 0;
  [[nodiscard]] virtual uint64_t hash() const = 0;
};

/// A function that was called once with abstract values. The body's inputs are those of the function, then
/// `captured`: what the function used from outside, first the keys that it drew from generators, in order.
struct Traced {
  struct Draw {
    Generator* from;
    int64_t count;  ///< of numbers
  };
  BodyRef body;
  TensorList captured;
  std::vector<Draw> draws;  ///< by key
};

/// What a function that is traced may do beside computing.
enum class TraceRule {
  kMayDraw,   ///< draw random numbers, and update in place what it made itself
  kComputes,  ///< nothing: an update in place of any tensor, or a draw, throws and leaves no trace
};

/// Calls `f` once with values of `types` that have no bytes. `name` stands in error texts. What `f` throws is
/// passed on. Throws ValueError when `f` reads a value, NotSupportedError when it updates in place what it
/// did not make, or does what `rule` forbids; such handles hold then what they held before.
[[nodiscard]] SORUS_API Traced trace(std::string_view name, const TensorFunction& f,
                                     std::span<const TensorType> types, TraceRule rule = TraceRule::kMayDraw);
/// The inverse of FunctionBody::text(). Throws ValueError.
[[nodiscard]] SORUS_API BodyRef parse_body(std::string_view text);

/// Set once, while the library loads, by the room that knows graphs.
struct BodyMaker {
  Traced (*trace)(std::string_view name, const TensorFunction& f, std::span<const TensorType> types,
                  TraceRule rule) = nullptr;
  BodyRef (*parse)(std::string_view text) = nullptr;
};
SORUS_API void set_body_maker(BodyMaker maker);

}  // namespace sorus
