// McgTable: the queue pairs that are members of the adapter's multicast
// groups.
#ifndef IBEMU_HCA_MLX4_VERBS_MCG_TABLE_H_
#define IBEMU_HCA_MLX4_VERBS_MCG_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hca/bus/range_pool.h"
#include "hca/mlx4/core/resources.h"
#include "hca/prm/mlx4_management.h"
#include "verbs/provider.h"

namespace ibemu::hca::mlx4 {

// The adapter's hash table of multicast groups.  Groups with the same hash form
// a linked list, in the second half of the table after the first group
// (mlx4/mcg.c).
class McgTable {
 public:
  // `resources` must outlive it.
  explicit McgTable(Resources& resources);

  // Makes queue pair `qpn` a member of the group, if it is not.  `most`: the
  // largest number of members of a group.
  //
  // Errors: ResourceExhausted if there is no room in the group or the table;
  // those of Find().
  absl::Status Attach(const verbs::GidBytes& gid, uint32_t qpn, size_t most);
  // Ends the membership of queue pair `qpn`, if there is one.  Errors: those of
  // Find().
  absl::Status Detach(const verbs::GidBytes& gid, uint32_t qpn);

 private:
  struct Group {
    uint32_t index = 0;
    prm::McgHeader header;
    std::vector<prm::McgMember> members;
  };
  // The entry of a group, or the end of the list to which the group would be
  // added.
  struct Place {
    Group group;
    std::optional<Group> before;
    bool found = false;
  };

  // Finds a group.  Errors: Internal if the list of groups is a ring; those of
  // commands.
  absl::StatusOr<Place> Find(const verbs::GidBytes& gid);
  absl::StatusOr<Group> Read(uint32_t index);
  absl::Status Write(const Group& group);
  absl::Status Remove(const Place& place);

  Resources& resources_;
  const size_t entry_bytes_;
  const uint64_t entries_;
  RangePool chained_;  // free entries of the second half
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_MCG_TABLE_H_
