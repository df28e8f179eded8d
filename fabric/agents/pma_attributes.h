// The attributes of performance management that show counters: IBA vol 1
// §16.1.3.5 and §16.1.4.
#ifndef IBEMU_FABRIC_AGENTS_PMA_ATTRIBUTES_H_
#define IBEMU_FABRIC_AGENTS_PMA_ATTRIBUTES_H_

#include <cstddef>
#include <span>

#include "fabric/subnet/node.h"
#include "mad/wire/mad_header.h"

namespace ibemu::fabric {

// The ports that an attribute's PortSelect stands for.
struct PmaSelection {
  std::span<NodePort> ports;  // of several, the sum is shown
  bool is_switch = false;
};

// Handles a Get or Set of `attribute`.  `data` is that of the request and
// becomes that of the answer.  A Set gives the selected counters the values of
// the request.  The answer shows all counters, saturated.
mad::MadStatus HandleCounters(const PmaSelection& selection,
                              mad::AttributeId attribute, bool set,
                              std::span<std::byte> data);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_PMA_ATTRIBUTES_H_
