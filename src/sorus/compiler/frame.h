#pragma once

#include <atomic>
#include <exception>
#include <vector>

#include "sorus/base/spin_lock.h"
#include "sorus/compiler/general.h"
#include "sorus/core/parameter.h"
#include "sorus/dispatch/apply.h"

namespace sorus {

/// One boundary call under way on a thread: it records the host program's op calls, or follows a recording of
/// them and owes their results until a value is read or the boundary ends. The host program runs at every
/// call, so its side effects happen once and in order and nothing about its state needs to be guarded.
///
/// A frame belongs to the thread that opened the boundary. Other threads come in by two doors only: they may
/// drop a pending value (abandon), and they may want its bytes (materialize). Then they compute it *aside*:
/// they copy the calls that it depends on and run them as eager mode does, without the frame's knowledge but
/// for the values that it need not deliver any more. The owner goes on, and later runs its segment as if
/// nothing had been: the recording never depends on what other threads read, and when. `lock_` guards what
/// these doors touch, for a few instructions at a time. Only while a segment runs do others wait, since it
/// may write over its inputs; a segment that runs waits for nobody, so no circle of waiting threads can form.
class Frame final : public Recorder, public PendingSource, public HandleLog {
 public:
  /// The frame of this thread. Only one boundary is open at a time: inner ones are part of the outermost.
  /// Frames are lent to threads and never destroyed, since another thread may be about to ask one for a
  /// value.
  static Frame& current();
  /// In the child of a fork: the thread that owns this frame is not there.
  void lose() noexcept;

  /// Follows `general` where the plan is empty, if that is given.
  void begin(Plan& plan, std::shared_ptr<GeneralPlan> general = nullptr);
  /// Ends the boundary. With `thrown`, an exception of the host is passing: what it computed so far is
  /// computed, and no branch is made of it. May throw what the last segment throws, unless `thrown`.
  void end(bool thrown);
  bool follow(const OpDef& op, OperandSpan in, AttrsRef attrs, TensorList& out) override;
  void record(const OpDef& op, OperandSpan in, AttrsRef attrs, std::span<const Tensor> out) override;
  void materialize(Value& v) override;
  void abandon(Value& v) noexcept override;
  void read(const TensorHandle& handle) override;
  void written(TensorHandle& handle, const Tensor& before) override;
  void drawn(Generator& from, int64_t count, const Tensor& key) override;
  /// Reading a value of this boundary call is an event that ends the segment that made it.
  void observe(const Value& v) override;

 private:
  enum class Mode { kOff, kRecord, kFollow, kSpecialize };
  enum class Match { kNo, kYes, kWithOtherAttributes };

  /// Numbers the values from outside in order of first use, by identity.
  class Outside {
   public:
    void clear();
    /// The number of the value; it is new when it is the count that was before.
    int32_t number(const Value& v);
    [[nodiscard]] int32_t count() const { return count_; }
    /// Forgets the value if it is the newest.
    void forget_newest(const Value& v);

   private:
    struct Entry {
      uint64_t id = 0;
      int32_t number = 0;
      uint32_t round = 0;
    };
    void grow();
    std::vector<Entry> table_ = std::vector<Entry>(64);
    int32_t count_ = 0;
    uint32_t round_ = 1;
  };

  /// What the segment owes the host program: one result.
  struct Owed {
    Value* value = nullptr;  ///< null once nobody wants it, or it is there
    bool computed = false;   ///< another thread computed it aside
  };
  /// The results of the segment that are still owed, null for the others, kept alive while they are computed.
  using Wanted = std::vector<Ref<Value>>;
  /// Calls that a value depends on, copied for another thread, and what they need.
  struct Cone {
    std::vector<RecordedCall> calls;
    std::vector<Ref<Value>> inputs;  ///< by input number, null where not needed
    Wanted wanted;
  };
  class Running;

  using Places = SmallVector<int32_t, 8>;
  /// Places of the operands; those up to `~known`, where known is the count of values from outside before,
  /// are new.
  void find_places(OperandSpan in, Places* places);
  void undo_places(OperandSpan in, int32_t known);
  static Match match(const Segment& segment, size_t at, const OpDef& op, OperandSpan in, AttrsRef attrs,
                     const Places& places, int32_t known);
  Match match_any(const OpDef& op, OperandSpan in, AttrsRef attrs, const Places& places, int32_t known);
  void take_attributes(RecordedCall& call, AttrsRef attrs);
  bool specialize(const OpDef& op, OperandSpan in, AttrsRef attrs, TensorList& out);
  bool match_general(const OpDef& op, OperandSpan in, AttrsRef attrs, const TypeList& types,
                     const Places& places, RecordedCall* call);
  void start_general(std::shared_ptr<GeneralPlan> general);
  void end_general_segment();
  void leave_general();
  void open_segment();
  void owe(const RecordedCall& call, TensorList& out);
  [[nodiscard]] bool is_following() const { return mode_ == Mode::kFollow || mode_ == Mode::kSpecialize; }
  void diverge();
  void fork();
  void go(Segment* segment);
  Segment* add_segment();
  void end_segment();
  bool finish_followed();
  void next_segment();
  void run_compiled();
  void run_program(const Wanted& wanted, const std::vector<char>& live);
  void run_prefix();
  [[nodiscard]] Wanted hold_pending(std::vector<char>* live);
  static Ref<Value> hold(Value* v);
  void start_segment(int32_t base, uint64_t epoch);
  void deliver(Value& pending, const Value& result);
  void poison(const std::exception_ptr& error, const Wanted& wanted, std::span<const char> overwritten);
  void fail() noexcept;
  void undo_writes() noexcept;
  [[nodiscard]] bool nobody_else_holds(const Ref<Value>& input) const;
  [[nodiscard]] std::shared_ptr<SegmentProgram> program_for(std::vector<char> live);
  [[nodiscard]] std::unique_ptr<Executable> compile_segment(Graph graph, const SegmentProgram& program) const;
  void compute_aside(Value& v);
  [[nodiscard]] bool copy_cone(const Value& v, Cone* cone);

  Mode mode_ = Mode::kOff;
  Plan* plan_ = nullptr;
  size_t general_at_ = 0;  ///< segments of the plan's general one so far, while it is followed
  Segment* segment_ = nullptr;
  Segment* previous_ = nullptr;
  uint64_t epoch_ = 0;
  size_t at_ = 0;     ///< calls of the segment so far
  int32_t base_ = 0;  ///< results before the segment
  bool missed_ = false;
  bool reference_ = false;   ///< its calls are computed by reference kernels, whatever thread does it
  uint64_t log_number_ = 0;  ///< of the segment, for HandleToken::logged_in
  Outside outside_;
  SpinLock lock_;
  std::atomic<bool> running_{false};
  std::atomic<bool> lost_{false};
  std::vector<Owed> pending_;       ///< by result of the segment
  std::vector<Ref<Value>> inputs_;  ///< of the segment, in order of first use
  struct Write {
    std::shared_ptr<HandleToken> handle;
    Tensor before;
  };
  std::vector<Write> writes_;            ///< first write of each handle in the segment, undone if it fails
  std::vector<AttrsBox> call_attrs_;     ///< by call of the segment, where they are run-time slots
  std::map<int32_t, int32_t> input_of_;  ///< while recording: place -> input number of the segment
};

}  // namespace sorus
