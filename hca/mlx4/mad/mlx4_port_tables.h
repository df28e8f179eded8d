// Mlx4PortTables: a port's attributes as the driver knows them.
#ifndef IBEMU_HCA_MLX4_MAD_MLX4_PORT_TABLES_H_
#define IBEMU_HCA_MLX4_MAD_MLX4_PORT_TABLES_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "hca/mlx4/mad/mad_ifc.h"
#include "mad/wire/port_info.h"
#include "mad/wire/subnet_tables.h"
#include "wire/types.h"

namespace ibemu::hca::mlx4 {

// An Mlx4PortTables keeps what the firmware's agent last told of a port,
// because it is read often.  Nothing is asked for before the first Refresh*().
class Mlx4PortTables {
 public:
  // `gids`, `p_keys`: the numbers of entries of the tables.
  Mlx4PortTables(int port, int gids, int p_keys)
      : port_(port),
        guids_(static_cast<size_t>(gids)),
        p_keys_(static_cast<size_t>(p_keys)) {}

  // Ask the agent.  What it does not answer stays as it was.
  //
  // Errors: those of MadIfc::Get().
  absl::Status RefreshInfo(MadIfc& mads);
  absl::Status RefreshGuids(MadIfc& mads);
  absl::Status RefreshPKeys(MadIfc& mads);
  absl::Status RefreshVls(MadIfc& mads);
  absl::Status RefreshAll(MadIfc& mads);

  const mad::PortInfo& info() const { return info_; }
  int GidCount() const { return static_cast<int>(guids_.size()); }
  // Returns zero if there is no GID at `index`.
  wire::Gid GidAt(int index) const;
  // Returns the index of a GID, found by its GUID; its prefix must be the
  // subnet's or the default one.
  std::optional<uint8_t> FindGid(const wire::Gid& gid) const;
  int PKeyCount() const { return static_cast<int>(p_keys_.size()); }
  uint16_t PKeyAt(int index) const;
  uint8_t VlOf(uint8_t sl) const { return vls_.vls[sl & 15]; }

 private:
  const int port_;
  mad::PortInfo info_;
  std::vector<uint64_t> guids_;
  std::vector<uint16_t> p_keys_;
  mad::SlToVlMappingTable vls_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_MAD_MLX4_PORT_TABLES_H_
