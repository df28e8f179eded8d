// SpecAddresses: the IP addresses of a spec's ports.
#ifndef IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_ADDRESSES_H_
#define IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_ADDRESSES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "topology/formats/spec/spec_checks.h"
#include "topology/formats/spec/spec_draft.h"
#include "topology/formats/spec/spec_value.h"
#include "topology/topology.h"

namespace ibemu::topology {

// One address of a port.
struct SpecAddress {
  Place at;
  size_t node = 0;  // index into SpecDraft::nodes()
  int port = 0;
  std::string text;
};

// A reader of the map "addresses".
class SpecAddresses {
 public:
  // REQUIRES: both outlive this object.
  SpecAddresses(SpecChecks& checks, SpecDraft& draft)
      : checks_(checks), draft_(draft) {}

  // Takes those of the base of the spec, whose nodes are the first of the
  // draft.
  void Take(const std::vector<PortAddresses>& base, Place at);

  // Reads the spec's own: a port that it names loses those of the base.
  void Read(const SpecValue& root);

  const std::vector<SpecAddress>& all() const { return all_; }

 private:
  using Port = std::pair<size_t, int>;

  void ReadPort(const SpecEntry& entry);
  // Returns the port of a key; a node without a port is its port 1.
  std::optional<Port> Find(const SpecEntry& entry);

  SpecChecks& checks_;
  SpecDraft& draft_;
  std::vector<SpecAddress> all_;
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_ADDRESSES_H_
