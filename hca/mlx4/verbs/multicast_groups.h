// Which queue pairs are members of which multicast groups.
#ifndef IBEMU_HCA_MLX4_VERBS_MULTICAST_GROUPS_H_
#define IBEMU_HCA_MLX4_VERBS_MULTICAST_GROUPS_H_

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

// The adapter finds a group's members in a hash table of groups; those with
// the same hash are a list, in the second half of the table (mlx4/mcg.c).
class MulticastGroups {
 public:
  // `resources` must outlive it.
  explicit MulticastGroups(Resources& resources);

  // `most`: members of a group.
  //
  // Errors: ResourceExhausted, no room in group or table; Find()'s.
  absl::Status Attach(const verbs::GidBytes& gid, uint32_t qpn, size_t most);
  // Nothing to do when it is no member.  Errors: Find()'s.
  absl::Status Detach(const verbs::GidBytes& gid, uint32_t qpn);

 private:
  struct Group {
    uint32_t index = 0;
    prm::McgHeader header;
    std::vector<prm::McgMember> members;
  };
  // Where a group is, or the end of the list where it would be.
  struct Place {
    Group group;
    std::optional<Group> before;
    bool found = false;
  };

  // Errors: Internal, the list of groups is a ring; those of commands.
  absl::StatusOr<Place> Find(const verbs::GidBytes& gid);
  absl::StatusOr<Group> Read(uint32_t index);
  absl::Status Write(const Group& group);
  absl::Status Remove(const Place& place);

  Resources& resources_;
  const size_t entry_bytes_;
  const uint64_t entries_;
  RangePool chained_;  // free places of the second half
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_MULTICAST_GROUPS_H_
