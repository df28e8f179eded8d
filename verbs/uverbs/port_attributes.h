// Port attributes, as QUERY_PORT reports them.
#ifndef IBEMU_VERBS_UVERBS_PORT_ATTRIBUTES_H_
#define IBEMU_VERBS_UVERBS_PORT_ATTRIBUTES_H_

#include <cstdint>

#include "mad/wire/port_info.h"
#include "verbs/provider.h"

namespace ibemu::verbs {

// The limits of a port that its PortInfo does not tell.
struct PortLimits {
  uint32_t max_message = uint32_t{1} << 31;  // bytes; IBA vol 1 §9.7.7
  int gids = 0, p_keys = 0;                  // entries of its tables
};

PortAttributes PortAttributesOf(const mad::PortInfo& info,
                                const PortLimits& limits);

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_PORT_ATTRIBUTES_H_
