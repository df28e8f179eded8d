// The ComponentMask of subnet administration: IBA vol 1 §15.2.1.1.
#ifndef IBEMU_MAD_WIRE_SA_COMPONENT_MASK_H_
#define IBEMU_MAD_WIRE_SA_COMPONENT_MASK_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "mad/wire/sa_services.h"
#include "mad/wire/subnet_tables.h"
#include "wire/layout.h"

namespace ibemu::mad {

// Bit n of a mask stands for component n of the record's table, reserved
// components included.  In a record that wraps an attribute (PortInfoRecord),
// the components of the attribute's own table take the attribute's place.
namespace component_internal {

// True for the structures in which each element of an array is a component.
template <class T>
inline constexpr bool kListsElements = false;
template <>
inline constexpr bool kListsElements<GuidInfo> = true;
template <>
inline constexpr bool kListsElements<ServiceRecord> = true;

// Returns true for components made of bits that were reserved when the masks
// were defined.  They have no bit in a mask.
constexpr bool HasNoBit(std::string_view name) {
  return name == "LinkSpeedExtActive2" || name == "LinkSpeedExtSupported2" ||
         name == "LinkSpeedExtEnabled2";
}

template <class V>
concept Attribute = wire::Structure<V> && requires {
  V::kId;
};

template <class Owner, class V>
consteval bool IsList() {
  if constexpr (wire::internal::kElements < V >> 0) {
    return kListsElements<Owner> &&
           std::is_integral_v<typename V::value_type> &&
           !std::is_same_v<typename V::value_type, char>;
  } else {
    return false;
  }
}

template <class T>
consteval int Width();

template <class T, size_t kIndex>
consteval int RowWidth() {
  constexpr const auto& row = wire::internal::kRow<T, kIndex>;
  using R = std::remove_cvref_t<decltype(row)>;
  if constexpr (wire::internal::kIsReserved<R>) {
    return 1;
  } else {
    using V = typename R::value_type;
    if constexpr (HasNoBit(row.name)) {
      return 0;
    } else if constexpr (Attribute<V>) {
      return Width<V>();
    } else if constexpr (IsList<T, V>()) {
      return wire::internal::kElements<V>;
    } else {
      return 1;
    }
  }
}

// Returns the number of mask bits of the components before row kEnd.
template <class T, size_t kEnd>
consteval int FirstBit() {
  return []<size_t... kIndexes>(std::index_sequence<kIndexes...>) {
    return (0 + ... + RowWidth<T, kIndexes>());
  }
  (std::make_index_sequence<kEnd>());
}

template <class T>
consteval int Width() {
  return FirstBit<T, wire::internal::kLayout<T>.kSize>();
}

constexpr bool Has(uint64_t mask, int bit) {
  return bit < 64 && (mask >> bit & 1) != 0;
}

template <class T, int kBase>
constexpr bool Matches(const T& wanted, const T& record, uint64_t mask) {
  bool same = true;
  wire::internal::ForEachRow<T>([&]<size_t kIndex>() {
    constexpr const auto& row = wire::internal::kRow<T, kIndex>;
    using V = typename std::remove_cvref_t<decltype(row)>::value_type;
    constexpr int kBit = kBase + FirstBit<T, kIndex>();
    const V& left = wanted.*row.member;
    const V& right = record.*row.member;
    if constexpr (RowWidth<T, kIndex>() == 0 || kBit >= 64) {
      return;
    } else if constexpr (Attribute<V>) {
      same = same && Matches<V, kBit>(left, right, mask);
    } else if constexpr (IsList<T, V>()) {
      for (size_t i = 0; i < left.size(); ++i) {
        if (Has(mask, kBit + static_cast<int>(i))) {
          same = same && left[i] == right[i];
        }
      }
    } else if (Has(mask, kBit)) {
      same = same && left == right;
    }
  });
  return same;
}

}  // namespace component_internal

// The bit of a component: kComponentBit<&PathRecord::dgid>.  For an array whose
// elements are components it is the bit of the first element.
template <auto kMember>
inline constexpr uint64_t kComponentBit =
    uint64_t{1} << component_internal::FirstBit<
        typename wire::internal::MemberOf<decltype(kMember)>::Struct,
        wire::internal::FindRow<kMember>()>();

// The bit of a component inside an attribute that the record wraps.
template <auto kMember, auto kInner>
inline constexpr uint64_t kInnerComponentBit =
    kComponentBit<kMember>* kComponentBit<kInner>;

// Returns true if `record` and `wanted` agree in the components of `mask`.
template <wire::Structure T>
constexpr bool MatchesComponents(const T& wanted, const T& record,
                                 uint64_t mask) {
  return mask == 0 || component_internal::Matches<T, 0>(wanted, record, mask);
}

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_SA_COMPONENT_MASK_H_
