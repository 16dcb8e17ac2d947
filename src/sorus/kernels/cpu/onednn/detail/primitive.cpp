#include "sorus/kernels/cpu/onednn/detail/primitive.h"

#include <omp.h>

#include <array>
#include <mutex>
#include <new>
#include <utility>

#include "sorus/base/error.h"
#include "sorus/base/fork_mutex.h"

namespace sorus::kernels::onednn::detail {
namespace {

struct StreamDeleter {
  void operator()(dnnl_stream_t stream) const { dnnl_stream_destroy(stream); }
};

/// A stream holds no work on the CPU, but is not documented to be safe for two threads at once.
dnnl_stream_t thread_stream() {
  thread_local std::unique_ptr<dnnl_stream, StreamDeleter> stream = [] {
    dnnl_stream_t made = nullptr;
    check(dnnl_stream_create(&made, engine(), dnnl_stream_in_order), "making a stream");
    return std::unique_ptr<dnnl_stream, StreamDeleter>(made);
  }();
  return stream.get();
}

class AlignedBlock {
 public:
  AlignedBlock() = default;
  AlignedBlock(const AlignedBlock&) = delete;
  AlignedBlock& operator=(const AlignedBlock&) = delete;
  ~AlignedBlock() { release(); }
  void* reserve(size_t bytes) {
    if (bytes > size_) {
      release();
      data_ = ::operator new (bytes, std::align_val_t{kWorkspaceAlignment});
      size_ = bytes;
    }
    return data_;
  }

 private:
  void release() {
    ::operator delete (data_, std::align_val_t{kWorkspaceAlignment});
    data_ = nullptr;
    size_ = 0;
  }
  void* data_ = nullptr;
  size_t size_ = 0;
};

struct AttributesDeleter {
  void operator()(dnnl_primitive_attr_t attributes) const { dnnl_primitive_attr_destroy(attributes); }
};
using Attributes = std::unique_ptr<dnnl_primitive_attr, AttributesDeleter>;

/// A copy of the attributes (or new ones) that leaves the scratchpad to us.
Attributes with_user_scratchpad(const_dnnl_primitive_attr_t attributes) {
  dnnl_primitive_attr_t copy = nullptr;
  check(attributes ? dnnl_primitive_attr_clone(&copy, attributes) : dnnl_primitive_attr_create(&copy),
        "making attributes");
  Attributes owned(copy);
  check(dnnl_primitive_attr_set_scratchpad_mode(copy, dnnl_scratchpad_mode_user),
        "setting the scratchpad mode");
  return owned;
}

/// Held while the library makes a primitive, which goes through the lock of its own cache: a fork waits until
/// that is free.
ForkMutex& library_mutex() {
  static auto& mutex = *new ForkMutex;
  return mutex;
}

std::string_view implementation_name(const_dnnl_primitive_desc_t description) {
  const char* name = "";
  check(dnnl_primitive_desc_query(description, dnnl_query_impl_info_str, 0, &name), "asking for a name");
  return name;
}

}  // namespace

void check(dnnl_status_t status, const char* what) {
  SORUS_INTERNAL(status == dnnl_success, "oneDNN: {} failed: got status {}, need 0", what,
                 static_cast<int>(status));
}

dnnl_engine_t engine() {
  static dnnl_engine_t the_engine = [] {
    dnnl_engine_t made = nullptr;
    check(dnnl_engine_create(&made, dnnl_cpu, 0), "making the CPU engine");
    // Our plans keep what they use; a second copy of old ones would only grow memory as shapes change.
    check(dnnl_set_primitive_cache_capacity(32), "bounding the library's cache");
    return made;  // never destroyed: plans of static caches and of threads may outlive static objects
  }();
  return the_engine;
}

dnnl_memory_desc_t strided_desc(std::span<const int64_t> dims, ElementType type,
                                std::span<const int64_t> strides) {
  dnnl_memory_desc_t desc;
  check(dnnl_memory_desc_init_by_strides(&desc, static_cast<int>(dims.size()), dims.data(), data_type(type),
                                         strides.empty() ? nullptr : strides.data()),
        "describing memory");
  return desc;
}

dnnl_memory_desc_t tagged_desc(std::span<const int64_t> dims, ElementType type, dnnl_format_tag_t tag) {
  dnnl_memory_desc_t desc;
  check(dnnl_memory_desc_init_by_tag(&desc, static_cast<int>(dims.size()), dims.data(), data_type(type), tag),
        "describing memory");
  return desc;
}

OneThread::OneThread() : before_(omp_get_max_threads()) {
  if (before_ != 1) omp_set_num_threads(1);
}

OneThread::~OneThread() {
  if (before_ != 1) omp_set_num_threads(before_);
}

void* thread_scratch(Scratch purpose, size_t bytes) {
  thread_local std::array<AlignedBlock, static_cast<size_t>(Scratch::kCount)> blocks;
  return blocks[static_cast<size_t>(purpose)].reserve(bytes);
}

/// The memory objects of one run in progress; they hold the pointers, so each concurrent run needs its own.
struct Primitive::Runner {
  std::vector<dnnl_exec_arg_t> arguments;
  std::vector<void*> handles;

  Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner() {
    for (auto& argument : arguments) dnnl_memory_destroy(argument.memory);
  }
  void add(int id, const dnnl_memory_desc_t& desc) {
    dnnl_memory_t memory = nullptr;
    check(dnnl_memory_create(&memory, &desc, engine(), DNNL_MEMORY_NONE), "making a memory object");
    arguments.push_back({id, memory});
    handles.push_back(nullptr);
  }
  void set(size_t i, void* data) {
    if (handles[i] == data) return;
    check(dnnl_memory_set_data_handle(arguments[i].memory, data), "setting a pointer");
    handles[i] = data;
  }
};

Description describe(const void* operation) {
  OneThread one_thread;
  dnnl_primitive_desc_t made = nullptr;
  if (dnnl_primitive_desc_create(&made, operation, nullptr, engine(), nullptr) != dnnl_success)
    return nullptr;
  return Description(made);
}

std::unique_ptr<Primitive> Primitive::create(const void* operation, const_dnnl_primitive_attr_t attributes,
                                             std::span<const int> arguments, AcceptImplementation accept,
                                             const_dnnl_primitive_desc_t hint) {
  OneThread one_thread;
  Attributes attr = with_user_scratchpad(attributes);
  dnnl_primitive_desc_iterator_t iterator = nullptr;
  dnnl_status_t status =
      dnnl_primitive_desc_iterator_create(&iterator, operation, attr.get(), engine(), hint);
  if (status != dnnl_success) return nullptr;
  std::unique_ptr<Primitive> made(new Primitive);
  for (; status == dnnl_success; status = dnnl_primitive_desc_iterator_next(iterator)) {
    dnnl_primitive_desc_t description = dnnl_primitive_desc_iterator_fetch(iterator);
    if (!accept || accept(implementation_name(description))) {
      dnnl_primitive_desc_iterator_destroy(iterator);
      made->finish(description, arguments);
      return made;
    }
    dnnl_primitive_desc_destroy(description);
  }
  dnnl_primitive_desc_iterator_destroy(iterator);
  return nullptr;
}

std::unique_ptr<Primitive> Primitive::create_reorder(const dnnl_memory_desc_t& from,
                                                     const dnnl_memory_desc_t& to) {
  OneThread one_thread;
  Attributes attr = with_user_scratchpad(nullptr);
  dnnl_primitive_desc_t description = nullptr;
  check(dnnl_reorder_primitive_desc_create(&description, &from, engine(), &to, engine(), attr.get()),
        "describing a reorder");
  std::unique_ptr<Primitive> made(new Primitive);
  made->finish(description, std::array{DNNL_ARG_FROM, DNNL_ARG_TO});
  return made;
}

void Primitive::finish(dnnl_primitive_desc_t description, std::span<const int> arguments) {
  description_ = description;
  implementation_ = implementation_name(description);
  {
    std::lock_guard lock(library_mutex());
    check(dnnl_primitive_create(&primitive_, description), "making a primitive");
  }
  arguments_.assign(arguments.begin(), arguments.end());
  for (int id : arguments_)
    descs_.push_back(*dnnl_primitive_desc_query_md(description, dnnl_query_exec_arg_md, id));
  scratchpad_ = *dnnl_primitive_desc_query_md(description, dnnl_query_exec_arg_md, DNNL_ARG_SCRATCHPAD);
  scratchpad_bytes_ = dnnl_memory_desc_get_size(&scratchpad_);
}

Primitive::~Primitive() {
  if (primitive_) dnnl_primitive_destroy(primitive_);
  if (description_) dnnl_primitive_desc_destroy(description_);
}

std::unique_ptr<Primitive::Runner> Primitive::take_runner() const {
  {
    std::lock_guard lock(fork_mutex_of(this));
    if (!idle_.empty()) {
      auto runner = std::move(idle_.back());
      idle_.pop_back();
      return runner;
    }
  }
  auto runner = std::make_unique<Runner>();
  for (size_t i = 0; i < arguments_.size(); ++i) runner->add(arguments_[i], descs_[i]);
  if (scratchpad_bytes_ != 0) runner->add(DNNL_ARG_SCRATCHPAD, scratchpad_);
  return runner;
}

void Primitive::put_runner(std::unique_ptr<Runner> runner) const {
  std::lock_guard lock(fork_mutex_of(this));
  idle_.push_back(std::move(runner));
}

void Primitive::run(std::span<void* const> memory) const {
  SORUS_INTERNAL(memory.size() == arguments_.size(), "oneDNN: wrong number of arguments: got {}, need {}",
                 memory.size(), arguments_.size());
  OneThread one_thread;
  std::unique_ptr<Runner> runner = take_runner();
  for (size_t i = 0; i < memory.size(); ++i) runner->set(i, memory[i]);
  if (scratchpad_bytes_ != 0)
    runner->set(memory.size(), thread_scratch(Scratch::kLibrary, scratchpad_bytes_));
  check(dnnl_primitive_execute(primitive_, thread_stream(), static_cast<int>(runner->arguments.size()),
                               runner->arguments.data()),
        "running a primitive");
  put_runner(std::move(runner));
}

}  // namespace sorus::kernels::onednn::detail
