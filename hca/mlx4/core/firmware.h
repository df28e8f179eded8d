// Brings an mlx4 adapter's firmware up, and down again.
#ifndef IBEMU_HCA_MLX4_CORE_FIRMWARE_H_
#define IBEMU_HCA_MLX4_CORE_FIRMWARE_H_

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
#include "hca/mlx4/core/commands.h"
#include "hca/mlx4/core/icm.h"
#include "hca/prm/mlx4_dev_cap.h"
#include "hca/prm/mlx4_management.h"
#include "hca/prm/mlx4_query.h"

namespace ibemu::hca::mlx4 {

// "2.42.5000".
std::string VersionText(const prm::QueryFw& fw);
// "MT_1100120019": PSID of the board; not necessarily text.
std::string BoardId(const prm::QueryAdapter& adapter);

// What the firmware said, byte for byte.
struct FirmwareAnswer {
  prm::Opcode opcode{};
  uint32_t in_modifier = 0;
  std::span<const std::byte> mailbox;  // while it is heard
};

// In all, `name` is how tools call the adapter: "0000:3b:00.0".
//
// Errors: FailedPrecondition, firmware that this driver does not know.
absl::Status CheckFirmware(const prm::QueryFw& fw, std::string_view name);
absl::Status CheckCaps(const prm::QueryDevCap& caps);
// Errors: FailedPrecondition, port `number` is no InfiniBand port.
absl::Status CheckPort(int number, const prm::QueryPort& port,
                       std::string_view name);
// Errors: FailedPrecondition, the firmware is in secure-host mode.
absl::Status CheckHostAccess(const prm::MadDemuxRestrictions& restrictions,
                             std::string_view name);

// The order of commands is the Linux driver's: QUERY_FW, MAP_FA, RUN_FW,
// MOD_STAT_CFG, QUERY_DEV_CAP, QUERY_PORT, SET_ICM_SIZE, MAP_ICM_AUX, MAP_ICM,
// INIT_HCA, QUERY_ADAPTER, MAD_DEMUX where there is one.
class Firmware {
 public:
  using Heard = std::function<void(const FirmwareAnswer&)>;

  // Both references must outlive it.  `name`: as above.
  Firmware(PciFunction& function, Commands& commands, std::string name)
      : function_(function), commands_(commands), name_(std::move(name)) {}

  // The adapter was reset and is bus master.  Runs the firmware and asks it
  // what there is: fw(), caps() and port() count then.  It changes nothing of
  // the adapter.  `heard` is called with each answer, before it is checked.
  // After an error, too, Stop() is to be called.
  //
  // Errors: those of commands, of memory, of the checks above.
  absl::Status Inquire(Heard heard);
  // All of the way, instead.  Errors: the same.
  absl::Status Start();

  // The other way: CLOSE_HCA, UNMAP_ICM, UNMAP_ICM_AUX, UNMAP_FA, of what there
  // is.  The first error; after one the firmware may still know its memory,
  // which stays until this goes: reset the adapter before.
  absl::Status Stop();

  const prm::QueryFw& fw() const { return fw_; }
  const prm::QueryDevCap& caps() const { return caps_; }
  const prm::QueryAdapter& adapter() const { return adapter_; }
  // 1 ... caps().num_ports.
  const prm::QueryPort& port(int number) const {
    return ports_[static_cast<size_t>(number - 1)];
  }
  Icm& icm() { return *icm_; }
  const IcmLayout& layout() const { return icm_->layout(); }

 private:
  absl::Status RunFirmware();
  void SetPageSize();
  absl::Status QueryPorts();
  absl::Status MapContexts();
  absl::Status InitHca();
  absl::Status CheckHost();
  // Commands::Ask(), and `heard_` hears it.
  template <wire::Structure T>
  absl::StatusOr<T> Query(prm::Opcode opcode, Modifiers modifiers = {}) {
    std::array<std::byte, wire::kBytes<T>> bytes{};
    IBEMU_RETURN_IF_ERROR(commands_.Ask(opcode, bytes, modifiers));
    heard_({.opcode = opcode, .in_modifier = modifiers.in, .mailbox = bytes});
    return wire::Decode<T>(bytes);
  }

  // What there is to be undone.
  enum class Stage { kNone, kFirmwareMapped, kAuxMapped, kIcmMapped, kRunning };

  PciFunction& function_;
  Commands& commands_;
  const std::string name_;
  Heard heard_ = [](const FirmwareAnswer&) {};
  Stage stage_ = Stage::kNone;
  prm::QueryFw fw_;
  prm::QueryDevCap caps_;
  prm::QueryAdapter adapter_;
  std::vector<prm::QueryPort> ports_;
  DmaPieces firmware_area_;
  DmaPieces aux_area_;
  std::unique_ptr<Icm> icm_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_FIRMWARE_H_
