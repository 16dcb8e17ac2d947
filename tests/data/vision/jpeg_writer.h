#pragma once

// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <random>
#include <vector>

/// JPEG files of any kind, written by libjpeg, for tests.
namespace sorus::data::test {

struct JpegKind {
  int across = 2;  ///< luma samples for each chroma sample
  int down = 2;
  bool progressive = false;
  bool arithmetic = false;
  unsigned restart = 0;
  int quality = 75;
};

/// A picture with edges and noise.
inline std::vector<std::byte> write_jpeg(int64_t height, int64_t width, const JpegKind& kind) {
  std::mt19937 random(7);
  std::vector<uint8_t> line(static_cast<size_t>(width) * 3);
  jpeg_compress_struct codec;
  jpeg_error_mgr errors;
  codec.err = jpeg_std_error(&errors);
  jpeg_create_compress(&codec);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&codec, &memory, &size);
  codec.image_width = static_cast<JDIMENSION>(width);
  codec.image_height = static_cast<JDIMENSION>(height);
  codec.input_components = 3;
  codec.in_color_space = JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, kind.quality, TRUE);
  codec.comp_info[0].h_samp_factor = kind.across;
  codec.comp_info[0].v_samp_factor = kind.down;
  codec.restart_interval = kind.restart;
  codec.arith_code = kind.arithmetic ? TRUE : FALSE;
  if (kind.progressive) jpeg_simple_progression(&codec);
  jpeg_start_compress(&codec, TRUE);
  for (int64_t y = 0; y < height; ++y) {
    for (size_t i = 0; i < line.size(); ++i) {
      auto x = static_cast<int64_t>(i / 3);
      auto c = static_cast<int64_t>(i % 3);
      line[i] = static_cast<uint8_t>(
          (x * (3 + c) + y * (5 - c) + ((x / 6 + y / 9) % 2) * 90 + static_cast<int64_t>(random() % 24)) %
          256);
    }
    JSAMPROW row = line.data();
    jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
  std::vector<std::byte> bytes(size);
  std::memcpy(bytes.data(), memory, size);
  jpeg_destroy_compress(&codec);
  std::free(memory);
  return bytes;
}

}  // namespace sorus::data::test
