// .npy and .npz: round trips, files as NumPy writes them, and files that are broken in every way.
#include "heddle/runtime/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <random>

namespace heddle::testing {
namespace {

NpyArray make_array(DType dtype, std::vector<std::int64_t> shape) {
  std::size_t bytes = size_of(dtype);
  for (std::int64_t e : shape) bytes *= static_cast<std::size_t>(e);
  NpyArray array{dtype, std::move(shape), std::vector<std::byte>(bytes)};
  for (std::size_t i = 0; i < bytes; ++i) array.data[i] = static_cast<std::byte>(i * 7 % 2);
  return array;
}

std::vector<std::byte> from_hex(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

std::string refusal(std::span<const std::byte> bytes, bool npz = false) {
  try {
    if (npz)
      decode_npz(bytes);
    else
      decode_npy(bytes);
  } catch (const NpyError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::byte> with_header(const std::string& header, std::size_t data_bytes,
                                   int version = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  text += static_cast<char>(header.size() & 0xff);
  text += static_cast<char>(header.size() >> 8);
  if (version > 1) text += std::string(2, '\0');
  text += header + std::string(data_bytes, '\0');
  const std::byte* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

TEST(Npy, EveryDtypeAndRankComesBack) {
  for (DType dtype : kAllDTypes) {
    for (const auto& shape :
         std::vector<std::vector<std::int64_t>>{{}, {5}, {3, 4}, {2, 0, 3}, {1, 2, 3, 4, 5}}) {
      const NpyArray array = make_array(dtype, shape);
      if (dtype == DType::bf16) {
        EXPECT_THROW(encode_npy(array), NpyError);
        continue;
      }
      const std::vector<std::byte> bytes = encode_npy(array);
      EXPECT_EQ((bytes.size() - array.data.size()) % 64, 0u);
      EXPECT_EQ(decode_npy(bytes), array) << name_of(dtype);
    }
  }
}

TEST(Npy, BytesAreThoseOfNumPy) {
  // As np.save(f, np.array([[1, 2, 3]], np.int16)).
  const std::vector<std::byte> saved = from_hex(
      "934e554d5059010076007b276465736372273a20273c6932272c2027666f727472616e5f6f726465"
      "72273a2046616c73652c20277368617065273a2028312c2033292c207d2020202020202020202020"
      "20202020202020202020202020202020202020202020202020202020202020202020202020202020"
      "202020202020200a010002000300");
  const NpyArray array = decode_npy(saved);
  EXPECT_EQ(array.dtype, DType::i16);
  EXPECT_EQ(array.shape, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(encode_npy(array), saved);
}

TEST(Npy, OtherVersionsAndSpellingsAreRead) {
  EXPECT_EQ(
      decode_npy(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 8, 2))
          .shape.size(),
      1u);
  EXPECT_EQ(
      decode_npy(with_header("{\"shape\":(2,3),\"descr\":\"<i1\",\"fortran_order\":False}", 6))
          .dtype,
      DType::i8);
  EXPECT_EQ(
      decode_npy(with_header("{'descr': '<f4', 'fortran_order': True, 'shape': (2,)}", 8)).shape[0],
      2);
}

TEST(Npy, RefusalsSayWhy) {
  EXPECT_EQ(refusal({}), "is no .npy file");
  EXPECT_EQ(refusal(with_header("{}", 0, 9)), "has .npy version 9; 1 to 3 are known");
  EXPECT_EQ(refusal(with_header("{}", 0)), "its header lacks descr or shape");
  EXPECT_EQ(refusal(with_header("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", 4)),
            "it is big-endian ('>f4'); save it little-endian");
  EXPECT_EQ(refusal(with_header("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8)),
            "it has the dtype '<c8', which Heddle does not have");
  EXPECT_EQ(refusal(with_header("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}", 16)),
            "is in Fortran order; save numpy.ascontiguousarray of it");
  EXPECT_EQ(refusal(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}", 12)),
            "has 12 bytes of data; its shape needs 16");
  EXPECT_EQ(refusal(with_header(
                "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 9)}", 0)),
            "its shape is larger than any memory");
  EXPECT_EQ(refusal(with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", 0)),
            "its header is malformed: a wrong extent");
  EXPECT_EQ(
      refusal(with_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4)),
      "its header is malformed, or of a structured dtype: no text at byte 10");
  EXPECT_EQ(refusal(with_header("{'what': 'x'}", 0)), "its header has an unknown entry 'what'");
}

TEST(Npy, CutAnywhereIsAnError) {
  const std::vector<std::byte> whole = encode_npy(make_array(DType::f32, {3, 5}));
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_NE(refusal(std::span(whole).first(n)), "") << n;
}

TEST(Npz, ComesBackInOrder) {
  const NpyArrays arrays = {{"w", make_array(DType::f32, {3, 4})},
                            {"b", make_array(DType::i64, {})},
                            {"a.b/c", make_array(DType::u8, {0})}};
  const std::vector<std::byte> bytes = encode_npz(arrays);
  EXPECT_EQ(decode_npz(bytes), arrays);
  EXPECT_EQ(encode_npz(arrays), bytes);
  EXPECT_EQ(decode_npz(encode_npz({})), NpyArrays());
}

TEST(Npz, DeflatedFilesOfNumPyAreRead) {
  // As np.savez_compressed(f, x=np.zeros(100, np.float32), y=np.int32(7)): Python's zipfile with
  // force_zip64.
  const std::vector<std::byte> bytes = from_hex(
      "504b03042d000000080000002100efb97d1bffffffffffffffff05001400782e6e70790100100010"
      "020000000000004b000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2"
      "aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a8606063a9a3a0ab5"
      "0a64032e865130a80000504b03042d0000000800000021000c2db1b4ffffffffffffffff05001400"
      "792e6e707901001000840000000000000046000000000000009bec17ea1b10c9c850c650ad9e925a"
      "9c5ca46ea5a06e9369a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402"
      "f91a9a3a0ab50a14012e7606060600504b01022d032d000000080000002100efb97d1b4b00000010"
      "020000050000000000000000000000800100000000782e6e7079504b01022d032d00000008000000"
      "21000c2db1b44600000084000000050000000000000000000000800182000000792e6e7079504b05"
      "06000000000200020066000000ff0000000000");
  const NpyArrays arrays = decode_npz(bytes);
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays[0].first, "x");
  EXPECT_EQ(arrays[0].second.data, std::vector<std::byte>(400));
  EXPECT_EQ(arrays[1].first, "y");
  EXPECT_EQ(arrays[1].second.data[0], std::byte{7});
  for (std::size_t n = 0; n < bytes.size(); ++n)
    EXPECT_NE(refusal(std::span(bytes).first(n), true), "") << n;
}

TEST(Npz, FlippedBytesAreAnErrorOrHarmless) {
  const NpyArrays arrays = {{"w", make_array(DType::f32, {3, 4})},
                            {"b", make_array(DType::f64, {2})}};
  const std::vector<std::byte> whole = encode_npz(arrays);
  std::mt19937 random(5);
  SCOPED_TRACE("seed 5");
  for (int i = 0; i < 4000; ++i) {
    std::vector<std::byte> bad = whole;
    bad[random() % bad.size()] ^= static_cast<std::byte>(1 + random() % 255);
    try {
      for (const auto& [name, array] : decode_npz(bad)) {
        const bool known = array == arrays[0].second || array == arrays[1].second;
        EXPECT_TRUE(known) << "wrong data in " << name;
      }
    } catch (const NpyError&) {
    }
  }
}

TEST(Npz, FilesNameThePath) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("heddle-npy-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "x.npz").string();
  const NpyArrays arrays = {{"w", make_array(DType::f32, {3, 4})}};
  write_npz(path, arrays);
  EXPECT_EQ(read_npz(path), arrays);
  write_npy(path, arrays[0].second);
  EXPECT_EQ(read_npy(path), arrays[0].second);
  try {
    read_npz(path);
    ADD_FAILURE();
  } catch (const NpyError& error) {
    EXPECT_EQ(error.what(), path + ": is no .npz file, or cut short");
  }
  EXPECT_THROW(read_npy((folder / "none.npy").string()), NpyError);
  EXPECT_THROW(read_npy(folder.string()), NpyError);
  EXPECT_THROW(write_npy("/proc/none/x.npy", arrays[0].second), NpyError);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace heddle::testing
