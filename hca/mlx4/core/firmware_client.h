// FirmwareClient: the driver's side of the firmware of an mlx4 adapter, which
// it starts and stops.
#ifndef IBEMU_HCA_MLX4_CORE_FIRMWARE_CLIENT_H_
#define IBEMU_HCA_MLX4_CORE_FIRMWARE_CLIENT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "hca/bus/pci_function.h"
#include "hca/mlx4/core/firmware_commands.h"
#include "hca/mlx4/core/icm_tables.h"
#include "hca/prm/mlx4_dev_cap.h"
#include "hca/prm/mlx4_management.h"
#include "hca/prm/mlx4_query.h"

namespace ibemu::hca::mlx4 {

// Returns the version, such as "2.42.5000".
std::string VersionText(const prm::QueryFw& fw);
// Returns the board's PSID, such as "MT_1100120019"; it is not necessarily
// text.
std::string BoardId(const prm::QueryAdapter& adapter);

// An answer of the firmware, byte for byte.
struct FirmwareAnswer {
  prm::Opcode opcode{};
  uint32_t in_modifier = 0;
  std::span<const std::byte> mailbox;  // valid during the call of Heard
};

// Check that this driver knows the firmware, and can work with the adapter's
// page size and number of ports.  In all checks, `name` is the adapter's name
// in command lines, such as "0000:3b:00.0".
//
// Errors: FailedPrecondition.
absl::Status CheckFirmware(const prm::QueryFw& fw, std::string_view name);
absl::Status CheckCaps(const prm::QueryDevCap& caps);
// Checks that port `number` is an InfiniBand port.  Errors: FailedPrecondition.
absl::Status CheckPort(int number, const prm::QueryPort& port,
                       std::string_view name);
// Checks that the firmware takes subnet management packets of its host.
//
// Errors: FailedPrecondition if it is in secure-host mode.
absl::Status CheckHostAccess(const prm::MadDemuxRestrictions& restrictions,
                             std::string_view name);

// The firmware of one adapter.  Commands are given in the Linux driver's order:
// QUERY_FW, MAP_FA, RUN_FW, MOD_STAT_CFG, QUERY_DEV_CAP, QUERY_PORT,
// SET_ICM_SIZE, MAP_ICM_AUX, MAP_ICM, INIT_HCA, QUERY_ADAPTER, and MAD_DEMUX
// where the firmware supports it.
class FirmwareClient {
 public:
  using Heard = std::function<void(const FirmwareAnswer&)>;

  // Both references must outlive it.  `name`: as in the checks above.
  FirmwareClient(PciFunction& function, FirmwareCommands& commands,
                 std::string name)
      : function_(function), commands_(commands), name_(std::move(name)) {}

  // Runs the firmware and asks it what there is: fw(), caps() and port() are
  // valid afterwards.  Nothing of the adapter is changed.  `heard` is called
  // with each answer, before the answer is checked.  Stop() must be called
  // afterwards, even after an error.  REQUIRES: the adapter was reset and is
  // bus master.
  //
  // Errors: those of commands, of memory, and of the checks above.
  absl::Status Inquire(Heard heard);
  // Brings the firmware up completely, instead of Inquire().  Errors: the same.
  absl::Status Start();

  // Undoes what was done: CLOSE_HCA, UNMAP_ICM, UNMAP_ICM_AUX, UNMAP_FA.
  // Returns the first error; after one the firmware may still use its memory,
  // which stays until this object is destroyed: reset the adapter before that.
  absl::Status Stop();

  const prm::QueryFw& fw() const { return fw_; }
  const prm::QueryDevCap& caps() const { return caps_; }
  const prm::QueryAdapter& adapter() const { return adapter_; }
  // `number`: 1 to caps().num_ports.
  const prm::QueryPort& port(int number) const {
    return ports_[static_cast<size_t>(number - 1)];
  }
  IcmTables& icm() { return *icm_; }
  const IcmLayout& layout() const { return icm_->layout(); }

 private:
  absl::Status RunFirmware();
  void SetPageSize();
  absl::Status QueryPorts();
  absl::Status MapContexts();
  absl::Status InitHca();
  absl::Status CheckHost();
  // Calls FirmwareCommands::Ask() and passes the answer to `heard_`.
  template <wire::Structure T>
  absl::StatusOr<T> Query(prm::Opcode opcode, Modifiers modifiers = {}) {
    std::array<std::byte, wire::kBytes<T>> bytes{};
    IBEMU_RETURN_IF_ERROR(commands_.Ask(opcode, bytes, modifiers));
    heard_({.opcode = opcode, .in_modifier = modifiers.in, .mailbox = bytes});
    return wire::Decode<T>(bytes);
  }

  // The progress of the bring-up, which Stop() undoes.
  enum class Stage { kNone, kFirmwareMapped, kAuxMapped, kIcmMapped, kRunning };

  PciFunction& function_;
  FirmwareCommands& commands_;
  const std::string name_;
  Heard heard_ = [](const FirmwareAnswer&) {};
  Stage stage_ = Stage::kNone;
  prm::QueryFw fw_;
  prm::QueryDevCap caps_;
  prm::QueryAdapter adapter_;
  std::vector<prm::QueryPort> ports_;
  DmaPieces firmware_area_;
  DmaPieces aux_area_;
  std::unique_ptr<IcmTables> icm_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_FIRMWARE_CLIENT_H_
