#include "wire/layout.h"

#include <array>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mad/wire/port_info.h"
#include "mad/wire/smp.h"

namespace ibemu::wire {
namespace {

using ::testing::ElementsAre;

enum class Color : uint8_t { kRed = 1, kBlue = 5 };

struct Inner {
  static constexpr int kBits = 16;
  uint8_t high = 0;
  uint16_t low = 0;
  bool operator==(const Inner&) const = default;
  static constexpr auto Layout() {
    return wire::Table(wire::Rw(&Inner::high, "High", 3, 0),
                       wire::Reserved(1, 3),
                       wire::Rw(&Inner::low, "Low", 12, 4));
  }
};
static_assert(wire::Tiles<Inner>());

struct Outer {
  static constexpr int kBits = 104;
  bool flag = false;
  Color color{};
  uint32_t id = 0;
  std::array<uint8_t, 4> nibbles{};
  std::array<Inner, 2> inners{};
  bool operator==(const Outer&) const = default;
  static constexpr auto Layout() {
    using T = Outer;
    return wire::Table(
        wire::Ro(&T::flag, "Flag", 1, 0), wire::Rw(&T::color, "Color", 5, 1),
        wire::Reserved(10, 6), wire::Rw(&T::id, "ID", 24, 16),
        wire::Ro(&T::nibbles, "Nibbles", 16, 40),
        wire::Rw(&T::inners, "Inners", 32, 56), wire::Reserved(16, 88));
  }
};
static_assert(wire::Tiles<Outer>());

constexpr Outer kExample = {
    .flag = true,
    .color = Color::kBlue,
    .id = 0x123456,
    .nibbles = {1, 2, 3, 0xf},
    .inners = {{{.high = 5, .low = 0xabc}, {.high = 0, .low = 1}}},
};

std::vector<int> Encoded(const Outer& value) {
  std::array<std::byte, 13> out;
  out.fill(std::byte{0xee});
  wire::Encode(value, out);
  std::vector<int> numbers;
  numbers.reserve(out.size());
  for (std::byte b : out) numbers.push_back(std::to_integer<int>(b));
  return numbers;
}

TEST(LayoutTest, PutsTheFirstBitHighestAndZeroesReservedBits) {
  EXPECT_THAT(Encoded(kExample), ElementsAre(0x94, 0, 0x12, 0x34, 0x56, 0x12,
                                             0x3f, 0xaa, 0xbc, 0, 1, 0, 0));
}

TEST(LayoutTest, ReadsBackWhatItWroteAndIgnoresReservedBits) {
  std::array<std::byte, 13> bytes;
  wire::Encode(kExample, bytes);
  bytes[1] = bytes[12] = std::byte{0xff};
  EXPECT_EQ(wire::Decode<Outer>(bytes), kExample);
}

TEST(LayoutTest, DropsBitsThatDoNotFitTheRow) {
  Outer value;
  value.id = 0xff000001;
  EXPECT_THAT(Encoded(value),
              ElementsAre(0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0));
}

TEST(LayoutTest, RunsAtCompileTime) {
  constexpr Outer kRead = [] {
    std::array<std::byte, 13> bytes{};
    wire::Encode(kExample, bytes);
    return wire::Decode<Outer>(bytes);
  }();
  static_assert(kRead == kExample);
}

TEST(LayoutTest, AccessesOneComponentInPlace) {
  std::array<std::byte, 256> mad;
  mad.fill(std::byte{0xff});
  wire::Put<&mad::Smp::hop_pointer>(mad, 7);
  wire::Put<&mad::Smp::direction>(mad, false);
  wire::Put<&mad::Smp::dr_slid>(mad, Lid{0x1234});

  EXPECT_EQ(wire::Get<&mad::Smp::hop_pointer>(mad), 7);
  EXPECT_EQ(wire::Get<&mad::Smp::hop_count>(mad), 0xff);
  EXPECT_FALSE(wire::Get<&mad::Smp::direction>(mad));
  EXPECT_EQ(wire::Get<&mad::Smp::status>(mad), mad::MadStatus{0x7fff});
  EXPECT_EQ(wire::Get<&mad::Smp::dr_slid>(mad), Lid{0x1234});
  EXPECT_EQ(wire::Get<&mad::Smp::dr_dlid>(mad), Lid::kPermissive);
}

TEST(LayoutTest, CopiesWritableComponentsOnly) {
  Outer to;
  wire::CopyWritable(kExample, to);
  EXPECT_FALSE(to.flag);
  EXPECT_THAT(to.nibbles, ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(to.color, Color::kBlue);
  EXPECT_EQ(to.inners, kExample.inners);
}

TEST(LayoutTest, VisitsComponentsInTableOrder) {
  std::vector<std::string_view> names;
  wire::ForEach(kExample, [&](std::string_view name, const auto&) {
    names.push_back(name);
  });
  EXPECT_THAT(names, ElementsAre("Flag", "Color", "ID", "Nibbles", "Inners"));
}

struct Gap {
  static constexpr int kBits = 16;
  uint8_t a = 0;
  static constexpr auto Layout() {
    return wire::Table(wire::Rw(&Gap::a, "A", 8, 0), wire::Reserved(7, 8));
  }
};
struct Overlap {
  static constexpr int kBits = 16;
  uint8_t a = 0;
  static constexpr auto Layout() {
    return wire::Table(wire::Rw(&Overlap::a, "A", 8, 0), wire::Reserved(9, 7));
  }
};
struct TooNarrow {
  static constexpr int kBits = 16;
  uint8_t a = 0;
  static constexpr auto Layout() {
    return wire::Table(wire::Rw(&TooNarrow::a, "A", 9, 0),
                       wire::Reserved(7, 9));
  }
};

TEST(LayoutTest, TilesRefusesGapsOverlapsAndValuesTooNarrow) {
  EXPECT_FALSE(wire::Tiles<Gap>());
  EXPECT_FALSE(wire::Tiles<Overlap>());
  EXPECT_FALSE(wire::Tiles<TooNarrow>());
}

}  // namespace
}  // namespace ibemu::wire
