#include "sorus/formats/checkpoint.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "sorus/formats/file.h"
#include "sorus/formats/wire.h"

namespace sorus::formats {
namespace {

// Field numbers of the messages Checkpoint, Checkpoint.Value and TensorProto.
constexpr uint32_t kValue = 1;
constexpr uint32_t kTag = 1, kTensor = 2, kMapTensor = 3;
constexpr uint32_t kDims = 1, kType = 2, kContent = 3;

constexpr size_t kLargestPiece = size_t{512} << 20;
constexpr std::string_view kCrcMark = "crc_num";
constexpr size_t kCrcTrailer = 17;  // the mark and ten bytes, big-endian
constexpr std::string_view kTextType = "str";

constexpr std::array<std::pair<std::string_view, DType>, kDTypeCount> kTypeNames = {
    {{"Bool", DType::kBool},
     {"Int8", DType::kInt8},
     {"Int16", DType::kInt16},
     {"Int32", DType::kInt32},
     {"Int64", DType::kInt64},
     {"UInt8", DType::kUInt8},
     {"UInt16", DType::kUInt16},
     {"UInt32", DType::kUInt32},
     {"UInt64", DType::kUInt64},
     {"Float16", DType::kFloat16},
     {"BFloat16", DType::kBFloat16},
     {"Float32", DType::kFloat32},
     {"Float64", DType::kFloat64}}};

std::string_view type_name(DType t) {
  return std::find_if(kTypeNames.begin(), kTypeNames.end(), [&](const auto& p) { return p.second == t; })
      ->first;
}

/// One Value message: a tensor or a piece of one.
struct Piece {
  std::string name;
  std::vector<int64_t> dims;
  std::string type;
  std::string_view content;
  uint64_t offset = 0;
};

/// Whether the bytes are UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing past U+10FFFF.
bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    auto lead = static_cast<uint8_t>(text[i]);
    if (lead >= 0x80 && (lead < 0xc2 || lead > 0xf4)) return false;
    size_t more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    if (text.size() - i <= more) return false;
    for (size_t k = 1; k <= more; ++k)
      if ((static_cast<uint8_t>(text[i + k]) & 0xc0) != 0x80) return false;
    auto second = more > 0 ? static_cast<uint8_t>(text[i + 1]) : uint8_t{0x80};
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
        (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f))
      return false;
    i += more + 1;
  }
  return true;
}

void read_tensor(WireReader in, Piece* piece) {
  while (!in.done()) {
    WireField f = in.next();
    if (f.number == kDims && f.type == 0)
      piece->dims.push_back(static_cast<int64_t>(f.value));
    else if (f.number == kType && f.type == 2 && is_utf8(f.bytes))
      piece->type = std::string(f.bytes);
    else if (f.number == kContent)
      piece->content = f.bytes;
    else
      in.fail(f.offset, "a tensor");
  }
}

Piece read_piece(const std::string& path, const WireReader& outer, const WireField& field) {
  Piece piece;
  piece.offset = field.offset;
  bool found = false;
  WireReader in = outer.inside(field);
  while (!in.done()) {
    WireField f = in.next();
    SORUS_CHECK(f.number != kMapTensor, NotSupportedError,
                "{}: entry at byte {} is a hash table: got a MapParameter, need a tensor or a text", path,
                f.offset);
    if (f.number == kTag && f.type == 2) {
      if (!is_utf8(f.bytes)) in.fail(f.offset, "a name in UTF-8");
      piece.name = std::string(f.bytes);
    } else if (f.number == kTensor)
      read_tensor(in.inside(f), &piece), found = true;
    else
      in.fail(f.offset, "a name or a tensor");
  }
  if (!found) in.fail(field.offset, "an entry with a tensor");
  return piece;
}

std::string utf8_of(std::string_view utf32, const std::string& path, uint64_t offset) {
  std::string out;
  for (size_t i = 0; i + 4 <= utf32.size(); i += 4) {
    uint32_t c = 0;
    std::memcpy(&c, utf32.data() + i, 4);
    SORUS_CHECK(c < 0x110000 && (c < 0xd800 || c > 0xdfff), IOError,
                "{}: text at byte {} is damaged: got code point {:#x}, need one of Unicode", path, offset, c);
    if (c < 0x80)
      out += static_cast<char>(c);
    else if (c < 0x800)
      (out += static_cast<char>(0xc0 | c >> 6)) += static_cast<char>(0x80 | (c & 0x3f));
    else if (c < 0x10000)
      ((out += static_cast<char>(0xe0 | c >> 12)) += static_cast<char>(0x80 | (c >> 6 & 0x3f))) +=
          static_cast<char>(0x80 | (c & 0x3f));
    else
      (((out += static_cast<char>(0xf0 | c >> 18)) += static_cast<char>(0x80 | (c >> 12 & 0x3f))) +=
       static_cast<char>(0x80 | (c >> 6 & 0x3f))) += static_cast<char>(0x80 | (c & 0x3f));
  }
  return out;
}

std::string utf32_of(std::string_view utf8) {
  std::string out;
  for (size_t i = 0; i < utf8.size();) {
    auto b = static_cast<uint8_t>(utf8[i]);
    int more = b < 0x80 ? 0 : b < 0xe0 ? 1 : b < 0xf0 ? 2 : 3;
    uint32_t c = more == 0 ? b : b & (0x3fU >> more);
    for (int k = 1; k <= more && i + static_cast<size_t>(k) < utf8.size(); ++k)
      c = c << 6 | (static_cast<uint8_t>(utf8[i + static_cast<size_t>(k)]) & 0x3fU);
    i += static_cast<size_t>(more) + 1;
    out.append(reinterpret_cast<const char*>(&c), 4);
  }
  return out;
}

/// Joins adjacent pieces of one name.
CheckpointEntry join(const std::string& path, std::span<const Piece> pieces) {
  const Piece& first = pieces.front();
  if (first.type == kTextType) return {first.name, utf8_of(first.content, path, first.offset)};
  auto type = std::find_if(kTypeNames.begin(), kTypeNames.end(),
                           [&](const auto& p) { return p.first == first.type; });
  SORUS_CHECK(type != kTypeNames.end(), IOError,
              "{}: '{}' at byte {} has an unknown type: got '{}', need Float32 or its like", path, first.name,
              first.offset, first.type);
  size_t bytes = 0;
  for (const Piece& p : pieces) bytes += p.content.size();
  TensorType t{type->second, {}, {}};
  // Older writers gave a scalar the shape (0,).
  bool scalar = first.dims.size() == 1 && first.dims[0] == 0 && bytes == dtype_size(t.dtype);
  SORUS_CHECK(
      first.dims.size() <= static_cast<size_t>(kMaxRank) &&
          std::none_of(first.dims.begin(), first.dims.end(), [](int64_t d) { return d < 0; }),
      IOError,
      "{}: '{}' at byte {} has an unusable shape: got {} dimensions, need at most {} and none negative", path,
      first.name, first.offset, first.dims.size(), kMaxRank);
  if (!scalar) t.shape = Shape(std::span<const int64_t>(first.dims));
  int64_t count = 0;
  try {
    count = t.shape.numel();
  } catch (const ShapeError&) {
    count = -1;
  }
  SORUS_CHECK(count >= 0 && bytes % dtype_size(t.dtype) == 0 &&
                  bytes / dtype_size(t.dtype) == static_cast<size_t>(count),
              IOError, "{}: '{}' at byte {} has a wrong size: got {} bytes, need {} elements of {}", path,
              first.name, first.offset, bytes, count, dtype_name(t.dtype));
  Ref<Value> v = make_dense(t);
  std::byte* to = v->storage->data();
  for (const Piece& p : pieces) {
    if (!p.content.empty()) std::memcpy(to, p.content.data(), p.content.size());
    to += p.content.size();
  }
  return {first.name, Tensor(std::move(v))};
}

/// The bytes without the checksum at the end, which is verified when asked for.
std::string_view without_trailer(const std::string& path, std::string_view bytes, bool check) {
  if (bytes.size() < kCrcTrailer || bytes.substr(bytes.size() - kCrcTrailer, kCrcMark.size()) != kCrcMark)
    return bytes;
  std::string_view body = bytes.substr(0, bytes.size() - kCrcTrailer);
  if (!check) return body;
  uint64_t stored = 0;
  for (char c : bytes.substr(bytes.size() - 10)) stored = stored << 8 | static_cast<uint8_t>(c);
  uint64_t computed = ::crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size());
  SORUS_CHECK(stored == computed, IOError, "{}: checksum differs: got {:#x}, need {:#x}; the file is damaged",
              path, computed, stored);
  return body;
}

void refuse_encrypted(const std::string& path, std::string_view bytes) {
  if (bytes.size() < 4) return;
  uint32_t magic = 0;
  std::memcpy(&magic, bytes.data(), 4);
  SORUS_CHECK(
      magic < 0x7F3A5ED8 || magic > 0x7F3A5EDA, NotSupportedError,
      "{}: file is encrypted: got an encrypted checkpoint, need a plain one; a dec_key cannot be used yet",
      path);
}

}  // namespace

std::vector<CheckpointEntry> read_checkpoint(const std::string& path, const CheckpointReadOptions& options) {
  MappedFile file(path);
  SORUS_CHECK(!file.bytes().empty(), IOError, "{}: file is empty: got 0 bytes, need a checkpoint", path);
  refuse_encrypted(path, file.bytes());
  WireReader in(path, without_trailer(path, file.bytes(), options.check_crc), 0);
  std::vector<CheckpointEntry> entries;
  std::vector<Piece> run;
  auto finish = [&] {
    if (!run.empty() && (!options.choose || options.choose(run.front().name)))
      entries.push_back(join(path, run));
    run.clear();
  };
  while (!in.done()) {
    WireField f = in.next();
    if (f.number != kValue || f.type != 2) in.fail(f.offset, "an entry of a checkpoint");
    Piece piece = read_piece(path, in, f);
    if (!run.empty() && run.front().name != piece.name) finish();
    run.push_back(std::move(piece));
  }
  finish();
  return entries;
}

namespace {

/// Writes bytes and keeps their checksum.
class Writer {
 public:
  explicit Writer(const std::string& path) : file_(path) {}
  void write(std::string_view bytes) {
    file_.write(bytes);
    crc_ = ::crc32_z(crc_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  }
  void finish(bool add_crc) {
    if (add_crc) {
      std::string trailer(kCrcMark);
      trailer += std::string(2, '\0');
      for (int shift = 56; shift >= 0; shift -= 8)
        trailer += static_cast<char>(static_cast<uint64_t>(crc_) >> shift);
      file_.write(trailer);
    }
    file_.commit();
  }

 private:
  AtomicFile file_;
  uLong crc_ = 0;
};

void write_piece(Writer& out, const std::string& name, std::span<const int64_t> dims, std::string_view type,
                 std::string_view content) {
  std::string tensor;
  for (int64_t d : dims) put_number(tensor, kDims, static_cast<uint64_t>(d));
  put_bytes(tensor, kType, type);
  put_bytes_header(tensor, kContent, content.size());
  uint64_t tensor_size = tensor.size() + content.size();
  std::string head;
  put_bytes(head, kTag, name);
  put_bytes_header(head, kTensor, tensor_size);
  std::string all;
  put_bytes_header(all, kValue, head.size() + tensor_size);
  all += head;
  all += tensor;
  out.write(all);
  out.write(content);
}

void write_tensor(Writer& out, const std::string& name, const Tensor& tensor) {
  size_t size = dtype_size(tensor.dtype());
  const Value& v = tensor.ready();
  std::vector<std::byte> copy;
  const std::byte* bytes = v.bytes();
  auto total = static_cast<size_t>(tensor.numel()) * size;
  if (!is_contiguous(v.type.shape, v.strides)) {
    copy.resize(total);
    copy_strided(v.bytes(), v.strides, copy.data(), Strides::contiguous(v.type.shape), v.type.shape, size);
    bytes = copy.data();
  }
  Ints dims = tensor.shape().sizes();
  std::string_view content(reinterpret_cast<const char*>(bytes), total);
  do {
    std::string_view piece = content.substr(0, kLargestPiece);
    write_piece(out, name, dims.span(), type_name(tensor.dtype()), piece);
    content.remove_prefix(piece.size());
  } while (!content.empty());
}

}  // namespace

void write_checkpoint(const std::string& path, std::span<const CheckpointEntry> entries, bool add_crc) {
  std::set<std::string> names;
  for (const CheckpointEntry& e : entries)
    SORUS_CHECK(!e.name.empty() && names.insert(e.name).second, ValueError,
                "{}: name of an entry is empty or repeated: got '{}', need one name for each", path, e.name);
  Writer out(path);
  constexpr int64_t kTextDims[] = {0};
  for (const CheckpointEntry& e : entries) {
    if (const auto* text = std::get_if<std::string>(&e.value))
      write_piece(out, e.name, kTextDims, kTextType, utf32_of(*text));
    else
      write_tensor(out, e.name, std::get<Tensor>(e.value));
  }
  out.finish(add_crc);
}

}  // namespace sorus::formats
