// Attributes and management classes by the names of the specification.
#ifndef IBEMU_MAD_ATTRIBUTE_NAMES_H_
#define IBEMU_MAD_ATTRIBUTE_NAMES_H_

#include <optional>
#include <span>
#include <string_view>

#include "mad/wire/attribute_id.h"
#include "mad/wire/mad_header.h"

namespace ibemu::mad {

struct AttributeName {
  std::string_view name;
  AttributeId id;
  // Whose attribute it is; nullopt: every class's.  Of subnet management:
  // kSubnetLidRouted, which stands for directed routes, too.
  std::optional<MgmtClass> mgmt_class;
};
// No name is there twice.
std::span<const AttributeName> AttributeNames();

struct ClassName {
  std::string_view name;
  MgmtClass mgmt_class;  // kSubnetLidRouted: both kinds of SMPs
};
std::span<const ClassName> ClassNames();

// What kSubnetLidRouted stands for above.
constexpr MgmtClass NamedClass(MgmtClass mgmt_class) {
  return mgmt_class == MgmtClass::kSubnetDirectedRoute
             ? MgmtClass::kSubnetLidRouted
             : mgmt_class;
}

// Empty: it has none.
std::string_view NameOf(MgmtClass mgmt_class, AttributeId id);
std::string_view NameOf(MgmtClass mgmt_class);

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_ATTRIBUTE_NAMES_H_
