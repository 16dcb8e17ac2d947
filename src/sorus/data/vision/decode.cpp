#include <algorithm>

#include "sorus/base/thread_pool.h"
#include "sorus/data/vision/vision.h"

/// Decoding of images as an operation of map(): its results differ in shape with what rows hold, so it is no
/// Transform.
namespace sorus::data {
namespace {

/// Where a row comes from, in words.
std::string where_of(const Column& cell) { return cell.file ? "file '" + *cell.file + "'" : "a row"; }

std::span<const std::byte> encoded(const Column& cell) {
  if (cell.type.kind == ItemKind::kBytes && cell.type.shape.rank() == 0) {
    const std::string& bytes = cell.row_strings(0)[0];
    return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
  }
  SORUS_CHECK(cell.type.kind == ItemKind::kNumbers && cell.type.dtype == DType::kUInt8, DTypeError,
              "Decode: {} has the wrong type: got {}, need uint8", where_of(cell), cell.type.text());
  SORUS_CHECK(cell.type.shape.rank() == 1, ShapeError,
              "Decode: {} has the wrong shape: got {}, need the bytes of an image file, of rank 1",
              where_of(cell), cell.type.shape);
  return {cell.row(0), cell.type.bytes()};
}

RowType image_type(const ImageHeader& header) {
  return {ItemKind::kNumbers, DType::kUInt8, Shape{header.height, header.width, 3}};
}

/// One row on its way.
struct Job {
  Column cell;
  ImageHeader header;
  RowType out;
  std::byte* to = nullptr;
  std::exception_ptr error;
};

/// Decodes, and then runs `next` where there is one, on as little of the image as it needs.
class Decode final : public Operation {
 public:
  Decode() = default;
  Decode(std::string name, TransformPtr next) : name_(std::move(name)), next_(std::move(next)) {}
  std::string name() const override { return name_; }
  int64_t rows_at_once() const override {
    constexpr int64_t kMost =
        64;  // decoded images, which lie in memory together until the next step shrinks them
    return kMost;
  }
  std::shared_ptr<const Operation> joined_with(const OperationPtr& next) const override {
    auto transform = std::dynamic_pointer_cast<const Transform>(next);
    if (next_ || !transform || !transform->crops()) return nullptr;
    return std::make_shared<Decode>(name_, std::move(transform));
  }
  std::vector<Column> apply(std::vector<Column> columns, const RowContext& context,
                            std::exception_ptr& error) const override {
    int64_t rows = columns.empty() ? 0 : columns.front().rows;
    for (Column& column : columns) {
      column = decode_rows(column.slice(0, std::min(rows, column.rows)), context, error);
      rows = column.rows;
    }
    for (Column& column : columns) column = column.slice(0, rows);
    return columns;
  }

 private:
  /// The rows before the first that fails, whose error goes to `error`.
  Column decode_rows(const Column& column, const RowContext& context, std::exception_ptr& error) const {
    std::vector<Job> jobs;
    std::exception_ptr first_error;
    try {
      for (int64_t i = 0; i < column.rows; ++i) jobs.push_back(prepare(column.cell(i)));
    } catch (...) {
      first_error = std::current_exception();
    }
    std::vector<Column> made = make_results(jobs);
    parallel_ranges(std::ssize(jobs), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Job& job = jobs[static_cast<size_t>(i)];
        try {
          run(job, i, context);
        } catch (...) {
          job.error = std::current_exception();
        }
      }
    });
    auto failed = std::find_if(jobs.begin(), jobs.end(), [](const Job& job) { return job.error != nullptr; });
    if (failed != jobs.end()) first_error = failed->error;
    if (first_error) error = first_error;
    if (made.empty()) return column.slice(0, 0);
    return concatenate(made).slice(0, failed - jobs.begin());
  }

  Job prepare(Column cell) const {
    Job job;
    job.header = read_image_header(encoded(cell), where_of(cell));
    RowType image = image_type(job.header);
    job.out = next_ ? next_->infer(image) : image;
    job.cell = std::move(cell);
    return job;
  }

  /// Memory for the results: one block when all are alike.
  static std::vector<Column> make_results(std::vector<Job>& jobs) {
    std::vector<Column> made;
    if (jobs.empty()) return made;
    bool alike =
        std::all_of(jobs.begin(), jobs.end(), [&](const Job& job) { return job.out == jobs[0].out; });
    if (alike) made.push_back(make_numbers(jobs[0].out, std::ssize(jobs)));
    for (size_t i = 0; i < jobs.size(); ++i) {
      if (!alike) {
        made.push_back(make_numbers(jobs[i].out, 1));
        made.back().file = jobs[i].cell.file;
      }
      jobs[i].to = alike ? made[0].row(static_cast<int64_t>(i)) : made[i].row(0);
    }
    return made;
  }

  void run(const Job& job, int64_t i, const RowContext& context) const {
    RowType image = image_type(job.header);
    auto part = next_ ? next_->window(image, i, context) : std::nullopt;
    Window window = part.value_or(Window{0, 0, job.header.height, job.header.width});
    TransformPtr then = part ? next_->after_window() : next_;
    RowType decoded = with_size(image, window.height, window.width);
    Ref<Storage> scratch = then ? Storage::allocate(decoded.bytes()) : Ref<Storage>();
    std::byte* to = then ? scratch->data() : job.to;
    decode_image(encoded(job.cell), job.header, window, reinterpret_cast<uint8_t*>(to), where_of(job.cell));
    RowContext own{context.key, context.first_row + i};
    if (then) then->run(decoded, to, job.to, 1, own);
  }

  std::string name_ = "Decode";
  TransformPtr next_;
};

}  // namespace

OperationPtr decode() { return std::make_shared<Decode>(); }

OperationPtr random_crop_decode_resize(int64_t height, int64_t width, const CropDraw& draw,
                                       Interpolation interpolation) {
  return std::make_shared<Decode>("RandomCropDecodeResize",
                                  random_resized_crop(height, width, draw, interpolation));
}

}  // namespace sorus::data
