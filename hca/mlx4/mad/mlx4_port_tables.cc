#include "hca/mlx4/mad/mlx4_port_tables.h"

#include <algorithm>
#include <cstddef>

#include "base/status_macros.h"

namespace ibemu::hca::mlx4 {

absl::Status Mlx4PortTables::RefreshInfo(MadIfc& mads) {
  IBEMU_ASSIGN_OR_RETURN(
      info_, mads.Get<mad::PortInfo>(port_, static_cast<uint32_t>(port_)));
  return absl::OkStatus();
}

absl::Status Mlx4PortTables::RefreshGuids(MadIfc& mads) {
  constexpr size_t kBlock = std::tuple_size_v<decltype(mad::GuidInfo::guids)>;
  for (size_t at = 0; at < guids_.size(); at += kBlock) {
    IBEMU_ASSIGN_OR_RETURN(
        const mad::GuidInfo block,
        mads.Get<mad::GuidInfo>(port_, static_cast<uint32_t>(at / kBlock)));
    std::copy_n(block.guids.begin(), std::min(kBlock, guids_.size() - at),
                guids_.begin() + static_cast<ptrdiff_t>(at));
  }
  return absl::OkStatus();
}

absl::Status Mlx4PortTables::RefreshPKeys(MadIfc& mads) {
  constexpr size_t kBlock = std::tuple_size_v<decltype(mad::PKeyTable::p_keys)>;
  for (size_t at = 0; at < p_keys_.size(); at += kBlock) {
    IBEMU_ASSIGN_OR_RETURN(
        const mad::PKeyTable block,
        mads.Get<mad::PKeyTable>(port_, static_cast<uint32_t>(at / kBlock)));
    std::copy_n(block.p_keys.begin(), std::min(kBlock, p_keys_.size() - at),
                p_keys_.begin() + static_cast<ptrdiff_t>(at));
  }
  return absl::OkStatus();
}

absl::Status Mlx4PortTables::RefreshVls(MadIfc& mads) {
  IBEMU_ASSIGN_OR_RETURN(vls_, mads.Get<mad::SlToVlMappingTable>(port_));
  return absl::OkStatus();
}

absl::Status Mlx4PortTables::RefreshAll(MadIfc& mads) {
  IBEMU_RETURN_IF_ERROR(RefreshInfo(mads));
  IBEMU_RETURN_IF_ERROR(RefreshGuids(mads));
  IBEMU_RETURN_IF_ERROR(RefreshPKeys(mads));
  return RefreshVls(mads);
}

wire::Gid Mlx4PortTables::GidAt(int index) const {
  if (index < 0 || index >= GidCount()) return {};
  const uint64_t guid = guids_[static_cast<size_t>(index)];
  if (guid == 0) return {};
  return {.prefix = info_.gid_prefix, .interface_id = guid};
}

std::optional<uint8_t> Mlx4PortTables::FindGid(const wire::Gid& gid) const {
  if (gid.interface_id == 0 || (gid.prefix != info_.gid_prefix &&
                                gid.prefix != wire::kDefaultGidPrefix)) {
    return std::nullopt;
  }
  const auto found = std::ranges::find(guids_, gid.interface_id);
  if (found == guids_.end()) return std::nullopt;
  return static_cast<uint8_t>(found - guids_.begin());
}

uint16_t Mlx4PortTables::PKeyAt(int index) const {
  return index < 0 || index >= PKeyCount()
             ? uint16_t{0}
             : p_keys_[static_cast<size_t>(index)];
}

}  // namespace ibemu::hca::mlx4
