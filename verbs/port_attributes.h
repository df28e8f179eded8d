// What QUERY_PORT says of a port.
#ifndef IBEMU_VERBS_PORT_ATTRIBUTES_H_
#define IBEMU_VERBS_PORT_ATTRIBUTES_H_

#include <cstdint>

#include "mad/wire/port_info.h"
#include "verbs/provider.h"

namespace ibemu::verbs {

// What a port has besides its PortInfo.
struct PortLimits {
  uint32_t max_message = uint32_t{1} << 31;  // bytes; IBA vol 1 §9.7.7
  int gids = 0, p_keys = 0;                  // entries of its tables
};

PortAttributes PortAttributesOf(const mad::PortInfo& info,
                                const PortLimits& limits);

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_PORT_ATTRIBUTES_H_
