// Names of attributes, methods, management classes and RMPP's codes, as in the
// specification.
#ifndef IBEMU_MAD_ATTRIBUTE_NAMES_H_
#define IBEMU_MAD_ATTRIBUTE_NAMES_H_

#include <optional>
#include <span>
#include <string_view>

#include "mad/wire/attribute_id.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/rmpp.h"

namespace ibemu::mad {

// An AttributeName is one row of AttributeNames().
struct AttributeName {
  std::string_view name;
  AttributeId id;
  // The class that has the attribute; nullopt: every class has it.  An
  // attribute of subnet management has kSubnetLidRouted, which stands for
  // directed routes, too.
  std::optional<MgmtClass> mgmt_class;
};

// Returns all attributes.  No two have the same name.
std::span<const AttributeName> AttributeNames();

// A ClassName is one row of ClassNames().
struct ClassName {
  std::string_view name;
  MgmtClass mgmt_class;  // kSubnetLidRouted: both kinds of SMPs
};
std::span<const ClassName> ClassNames();

// Returns the class by which the tables above know `mgmt_class`: for both kinds
// of SMPs it is kSubnetLidRouted.
constexpr MgmtClass NamedClass(MgmtClass mgmt_class) {
  return mgmt_class == MgmtClass::kSubnetDirectedRoute
             ? MgmtClass::kSubnetLidRouted
             : mgmt_class;
}

// Return the name, or an empty text if there is none.
std::string_view NameOf(MgmtClass mgmt_class, AttributeId id);
std::string_view NameOf(MgmtClass mgmt_class);
// "Get", "GetTableResp"
std::string_view NameOf(Method method);
// "Total Time Too Long"
std::string_view NameOf(RmppStatus status);

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_ATTRIBUTE_NAMES_H_
