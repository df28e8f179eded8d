// Directory: the end ports that subnet administration knows, by LID, GUID and
// GID.
#ifndef IBEMU_FABRIC_SA_DIRECTORY_H_
#define IBEMU_FABRIC_SA_DIRECTORY_H_

#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "fabric/subnet/subnet.h"
#include "wire/types.h"

namespace ibemu::fabric {

// A snapshot of the end ports (on a switch: port 0) that have a LID, on nodes
// that the manager's port reaches over links that are up.
class Directory {
 public:
  explicit Directory(const Subnet& subnet) : subnet_(subnet) {}

  // Reads the subnet as it is now.
  void Explore(PortId manager);
  void Forget();

  bool Knows(PortId port) const { return FindLid(LidOf(port)) == port; }
  std::span<const PortId> end_ports() const { return end_ports_; }

  // Finds a port by any of its LIDs, not only by its base LID.
  std::optional<PortId> FindLid(wire::Lid lid) const;
  // Finds a port by its own GUID or an alias.
  std::optional<PortId> FindGuid(uint64_t guid) const;
  // Finds a port by a GID with the subnet's prefix or the default one.
  std::optional<PortId> FindGid(const wire::Gid& gid) const;

  // Return the base LID and the GID at index 0 of any port; on a switch those
  // of its port 0.
  wire::Lid LidOf(PortId port) const;
  wire::Gid GidOf(PortId port) const;

  const Subnet& subnet() const { return subnet_; }

 private:
  void Reach(PortId manager);
  void Add(PortId port);

  const Subnet& subnet_;
  std::vector<bool> reached_;  // by node
  std::vector<PortId> end_ports_;
  std::vector<PortId> by_lid_;
  absl::flat_hash_map<uint64_t, PortId> by_guid_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_DIRECTORY_H_
