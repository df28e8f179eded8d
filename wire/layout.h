// Bit-packed big-endian structures, declared the way the IBA tables print them.
//
// A wire structure is a plain struct of host-order values plus one Layout()
// that lists its components with the Access, Length and Offset columns of the
// specification:
//
//   struct Example {
//     static constexpr int kBits = 32;
//     uint16_t lid = 0;
//     uint8_t sl = 0;
//     static constexpr auto Layout() {
//       using T = Example;
//       return wire::Table(wire::Rw(&T::lid, "LID", 16, 0),
//                          wire::Reserved(12, 16),
//                          wire::Ro(&T::sl, "SL", 4, 28));
//     }
//   };
//   static_assert(wire::Tiles<Example>());  // every bit exactly once
//
// From that list alone this header derives Encode(), Decode(), access to one
// component in place (Get, Put), CopyWritable() and ForEach().  A component is
// an integer, bool or enum, a std::array of components, or a structure.
// Offsets and lengths are constants in the generated code.
#ifndef IBEMU_WIRE_LAYOUT_H_
#define IBEMU_WIRE_LAYOUT_H_

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ibemu::wire {

enum class Access { kReadOnly, kReadWrite };

// One row of a specification table.  `length` and `offset` are in bits; offset
// 0 is the most significant bit of the first byte.
template <class Struct, class Value>
struct Row {
  using value_type = Value;
  Value Struct::*member;
  std::string_view name;
  int length;
  int offset;
  Access access;
};

// A row without a component: its bits are written as zero and not read.
struct ReservedRow {
  int length;
  int offset;
};

template <class S, class V>
constexpr Row<S, V> Ro(V S::*member, std::string_view name, int length,
                       int offset) {
  return {member, name, length, offset, Access::kReadOnly};
}
template <class S, class V>
constexpr Row<S, V> Rw(V S::*member, std::string_view name, int length,
                       int offset) {
  return {member, name, length, offset, Access::kReadWrite};
}
constexpr ReservedRow Reserved(int length, int offset) {
  return {length, offset};
}

namespace internal {

// A tuple that compiles quickly: PortInfo has 60 rows, and most files include
// it.
template <size_t kIndex, class R>
struct Cell {
  R row;
};
template <class Indexes, class... Rows>
struct Cells;

// The rows of a table, each in a Cell of its index.
template <size_t... kIndexes, class... Rows>
struct Cells<std::index_sequence<kIndexes...>, Rows...>
    : Cell<kIndexes, Rows>... {
  static constexpr size_t kSize = sizeof...(Rows);
};
template <size_t kIndex, class R>
constexpr const R& RowAt(const Cell<kIndex, R>& cell) {
  return cell.row;
}

}  // namespace internal

template <class... Rows>
constexpr auto Table(Rows... rows) {
  return internal::Cells<std::index_sequence_for<Rows...>, Rows...>{{rows}...};
}

template <class T>
concept Structure = requires {
  T::Layout();
};

namespace internal {

template <Structure T>
inline constexpr auto kLayout = T::Layout();

template <class T, size_t kIndex>
inline constexpr const auto& kRow = RowAt<kIndex>(kLayout<T>);

template <class R>
inline constexpr bool kIsReserved =
    std::is_same_v<std::remove_cvref_t<R>, ReservedRow>;

template <class T>
inline constexpr int kElements = 0;
template <class T, size_t kCount>
inline constexpr int kElements<std::array<T, kCount>> = kCount;

// Calls visit.operator()<row index>() for each component of T, in table order.
template <class T, class Visitor>
constexpr void ForEachRow(Visitor&& visit) {
  [&]<size_t... kIndexes>(std::index_sequence<kIndexes...>) {
    (
        [&] {
          if constexpr (!kIsReserved<decltype(kRow<T, kIndexes>)>) {
            visit.template operator()<kIndexes>();
          }
        }(),
        ...);
  }
  (std::make_index_sequence<kLayout<T>.kSize>());
}

// Returns the bits [kOffset, kOffset + kLength) of `in`.
template <int kOffset, int kLength>
constexpr uint64_t GetBits(const std::byte* in) {
  constexpr int kFirst = kOffset / 8;
  constexpr int kEnd = (kOffset + kLength + 7) / 8;
  constexpr int kShift = kEnd * 8 - (kOffset + kLength);
  static_assert(kLength > 0 && kEnd - kFirst <= 8, "crosses nine bytes");
  const uint64_t bits = [&]<size_t... kBytes>(std::index_sequence<kBytes...>) {
    return ((static_cast<uint64_t>(in[kFirst + kBytes])
             << (8 * (kEnd - kFirst - 1 - kBytes))) |
            ...);
  }
  (std::make_index_sequence<kEnd - kFirst>()) >> kShift;
  if constexpr (kLength == 64) {
    return bits;
  } else {
    return bits & ((uint64_t{1} << kLength) - 1);
  }
}

// Ors `value` into the bits of `out`, which must be zero.  Excess bits of
// `value` are dropped.
template <int kOffset, int kLength>
constexpr void OrBits(std::byte* out, uint64_t value) {
  constexpr int kFirst = kOffset / 8;
  constexpr int kEnd = (kOffset + kLength + 7) / 8;
  constexpr int kShift = kEnd * 8 - (kOffset + kLength);
  static_assert(kLength > 0 && kEnd - kFirst <= 8, "crosses nine bytes");
  if constexpr (kLength < 64) value &= (uint64_t{1} << kLength) - 1;
  value <<= kShift;
  [&]<size_t... kBytes>(std::index_sequence<kBytes...>) {
    if constexpr (kOffset % 8 == 0 && kLength % 8 == 0) {
      ((out[kFirst + kBytes] = static_cast<std::byte>(
            value >> (8 * (kEnd - kFirst - 1 - kBytes)))),
       ...);
    } else {
      ((out[kFirst + kBytes] |=
        static_cast<std::byte>(value >> (8 * (kEnd - kFirst - 1 - kBytes)))),
       ...);
    }
  }
  (std::make_index_sequence<kEnd - kFirst>());
}

template <int kOffset, int kLength>
constexpr void ClearBits(std::byte* out) {
  constexpr int kEnd = kOffset + kLength;
  constexpr std::byte kAll{0xff};
  for (int i = kOffset / 8; i < (kEnd + 7) / 8; ++i) {
    const int before = std::max(kOffset - 8 * i, 0);
    const int behind = std::max(8 * (i + 1) - kEnd, 0);
    out[i] &= ~((kAll >> before) & (kAll << behind));
  }
}

template <int kOffset, int kLength, class V>
constexpr void GetValue(const std::byte* in, V& value);
template <int kOffset, int kLength, class V>
constexpr void OrValue(std::byte* out, const V& value);

// Calls step for each element.  Elements of whole bytes are a loop, others
// (4-bit VLs) are unrolled.
template <int kOffset, int kLength, class V, class Step>
constexpr void ForEachElement(Step&& step) {
  constexpr int kCount = kElements<V>;
  constexpr int kEach = kLength / kCount;
  static_assert(kEach * kCount == kLength);
  if constexpr (kEach % 8 == 0) {
    for (int i = 0; i < kCount; ++i) {
      step.template operator()<kOffset, kEach>(i, i * (kEach / 8));
    }
  } else {
    [&]<size_t... kIndexes>(std::index_sequence<kIndexes...>) {
      (step.template operator()<kOffset + int{kIndexes} * kEach, kEach>(
           kIndexes, 0),
       ...);
    }
    (std::make_index_sequence<kCount>());
  }
}

template <int kOffset, int kLength, class V>
constexpr void GetValue(const std::byte* in, V& value) {
  if constexpr (kElements < V >> 0) {
    ForEachElement<kOffset, kLength, V>(
        [&]<int kAt, int kEach>(size_t index, int skip) {
          GetValue<kAt, kEach>(in + skip, value[index]);
        });
  } else if constexpr (Structure<V>) {
    ForEachRow<V>([&]<size_t kIndex>() {
      constexpr const auto& row = kRow<V, kIndex>;
      GetValue<kOffset + row.offset, row.length>(in, value.*row.member);
    });
  } else {
    value = static_cast<V>(GetBits<kOffset, kLength>(in));
  }
}

template <int kOffset, int kLength, class V>
constexpr void OrValue(std::byte* out, const V& value) {
  if constexpr (kElements < V >> 0) {
    ForEachElement<kOffset, kLength, V>(
        [&]<int kAt, int kEach>(size_t index, int skip) {
          OrValue<kAt, kEach>(out + skip, value[index]);
        });
  } else if constexpr (Structure<V>) {
    ForEachRow<V>([&]<size_t kIndex>() {
      constexpr const auto& row = kRow<V, kIndex>;
      OrValue<kOffset + row.offset, row.length>(out, value.*row.member);
    });
  } else {
    OrBits<kOffset, kLength>(out, static_cast<uint64_t>(value));
  }
}

template <class>
struct MemberOf;

// The structure and the type of the member to which a pointer points.
template <class S, class V>
struct MemberOf<V S::*> {
  using Struct = S;
  using Value = V;
};

// Returns the index of the row that describes `kMember`.
template <auto kMember>
consteval size_t FindRow() {
  using M = MemberOf<decltype(kMember)>;
  size_t found = kLayout<typename M::Struct>.kSize;
  ForEachRow<typename M::Struct>([&]<size_t kIndex>() {
    using Row = std::remove_cvref_t<decltype(kRow<typename M::Struct, kIndex>)>;
    if constexpr (std::is_same_v<typename Row::value_type, typename M::Value>) {
      if (kRow<typename M::Struct, kIndex>.member == kMember) found = kIndex;
    }
  });
  return found;
}

}  // namespace internal

template <Structure T>
inline constexpr size_t kBytes = T::kBits / 8;

// Returns the structure at the start of `in`, which must hold at least
// kBytes<T>.  Reserved bits are ignored.
template <Structure T>
constexpr T Decode(std::span<const std::byte> in) {
  assert(in.size() >= kBytes<T>);
  T value;
  internal::GetValue<0, T::kBits>(in.data(), value);
  return value;
}

// Writes kBytes<T> bytes, reserved bits as zero.  Requires `out` to hold them.
template <Structure T>
constexpr void Encode(const T& value, std::span<std::byte> out) {
  assert(out.size() >= kBytes<T>);
  std::fill_n(out.data(), kBytes<T>, std::byte{0});
  internal::OrValue<0, T::kBits>(out.data(), value);
}

// Encodes `value` at the end of `bytes`, which grows by it.
template <Structure T>
void Append(const T& value, std::vector<std::byte>& bytes) {
  bytes.resize(bytes.size() + kBytes<T>);
  Encode(value, std::span(bytes).last(kBytes<T>));
}

// Reads or writes one component in place: Get<&Smp::hop_pointer>(mad).  The
// span starts where the structure starts.
template <auto kMember>
constexpr auto Get(std::span<const std::byte> in) {
  using M = internal::MemberOf<decltype(kMember)>;
  constexpr const auto& row =
      internal::kRow<typename M::Struct, internal::FindRow<kMember>()>;
  assert(in.size() * 8 >= size_t{row.offset} + row.length);
  typename M::Value value{};
  internal::GetValue<row.offset, row.length>(in.data(), value);
  return value;
}
template <auto kMember>
constexpr void Put(
    std::span<std::byte> out,
    const typename internal::MemberOf<decltype(kMember)>::Value& value) {
  using M = internal::MemberOf<decltype(kMember)>;
  constexpr const auto& row =
      internal::kRow<typename M::Struct, internal::FindRow<kMember>()>;
  assert(out.size() * 8 >= size_t{row.offset} + row.length);
  internal::ClearBits<row.offset, row.length>(out.data());
  internal::OrValue<row.offset, row.length>(out.data(), value);
}

// Copies the read-write components only, as a Set() does by default.
template <Structure T>
constexpr void CopyWritable(const T& from, T& to) {
  internal::ForEachRow<T>([&]<size_t kIndex>() {
    constexpr const auto& row = internal::kRow<T, kIndex>;
    if constexpr (row.access == Access::kReadWrite) {
      to.*row.member = from.*row.member;
    }
  });
}

// Calls visit(name, value) for every component, in table order.
template <Structure T, class Visitor>
constexpr void ForEach(const T& value, Visitor&& visit) {
  internal::ForEachRow<T>([&]<size_t kIndex>() {
    constexpr const auto& row = internal::kRow<T, kIndex>;
    visit(row.name, value.*row.member);
  });
}

namespace internal {

// Returns true if a V can hold exactly `length` bits.
template <class V>
consteval bool Fits(int length) {
  if constexpr (kElements < V >> 0) {
    return length % kElements<V> == 0 &&
           Fits<typename V::value_type>(length / kElements<V>);
  } else if constexpr (Structure<V>) {
    return length == V::kBits;
  } else if constexpr (std::is_same_v<V, bool>) {
    return length == 1;
  } else {
    return length > 0 && length <= static_cast<int>(8 * sizeof(V));
  }
}

}  // namespace internal

// Returns true if the rows cover every bit of the structure exactly once, and
// every value type can hold its row.  Meant for a static_assert after each
// structure.
template <Structure T>
consteval bool Tiles() {
  std::array<bool, T::kBits> seen{};
  bool ok = T::kBits % 8 == 0 || T::kBits < 64;
  const auto cover = [&](int offset, int length) {
    for (int bit = offset; bit < offset + length; ++bit) {
      if (bit < 0 || bit >= T::kBits || seen[bit]) {
        ok = false;
        return;
      }
      seen[bit] = true;
    }
  };
  [&]<size_t... kIndexes>(std::index_sequence<kIndexes...>) {
    (
        [&] {
          constexpr const auto& row = internal::kRow<T, kIndexes>;
          cover(row.offset, row.length);
          using R = std::remove_cvref_t<decltype(row)>;
          if constexpr (!internal::kIsReserved<R>) {
            ok = ok && internal::Fits<typename R::value_type>(row.length);
          }
        }(),
        ...);
  }
  (std::make_index_sequence<internal::kLayout<T>.kSize>());
  for (bool bit : seen) ok = ok && bit;
  return ok;
}

}  // namespace ibemu::wire

#endif  // IBEMU_WIRE_LAYOUT_H_
