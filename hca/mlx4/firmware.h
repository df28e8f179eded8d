// Brings an mlx4 adapter's firmware up, and down again.
#ifndef IBEMU_HCA_MLX4_FIRMWARE_H_
#define IBEMU_HCA_MLX4_FIRMWARE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hca/bus/pci_function.h"
#include "hca/mlx4/commands.h"
#include "hca/mlx4/icm.h"
#include "hca/prm/mlx4_dev_cap.h"
#include "hca/prm/mlx4_query.h"

namespace ibemu::hca::mlx4 {

// "2.42.5000".
std::string VersionText(const prm::QueryFw& fw);
// "MT_1100120019": PSID of the board; not necessarily text.
std::string BoardId(const prm::QueryAdapter& adapter);

// Errors: FailedPrecondition, firmware that this driver does not know.
absl::Status CheckFirmware(const prm::QueryFw& fw);
absl::Status CheckCaps(const prm::QueryDevCap& caps);
// Errors: FailedPrecondition, port `number` is no InfiniBand port.
absl::Status CheckPort(int number, const prm::QueryPort& port);

// The order of commands is the Linux driver's: QUERY_FW, MAP_FA, RUN_FW,
// MOD_STAT_CFG, QUERY_DEV_CAP, QUERY_PORT, SET_ICM_SIZE, MAP_ICM_AUX, MAP_ICM,
// INIT_HCA, QUERY_ADAPTER.
class Firmware {
 public:
  // Both arguments must outlive it.
  Firmware(PciFunction& function, Commands& commands)
      : function_(function), commands_(commands) {}

  // The adapter was reset and is bus master.  Runs the firmware and asks it
  // what there is: fw(), caps() and port() count then.  It changes nothing of
  // the adapter.  After an error, too, Stop() is to be called.
  //
  // Errors: those of commands, of memory, of the checks above.
  absl::Status Inquire();
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
  absl::Status QueryCapabilities();
  void SetPageSize();
  absl::Status QueryPorts();
  absl::Status MapContexts();
  absl::Status InitHca();

  // What there is to be undone.
  enum class Stage { kNone, kFirmwareMapped, kAuxMapped, kIcmMapped, kRunning };

  PciFunction& function_;
  Commands& commands_;
  Stage stage_ = Stage::kNone;
  prm::QueryFw fw_;
  prm::QueryDevCap caps_;
  prm::QueryAdapter adapter_;
  std::vector<prm::QueryPort> ports_;
  std::unique_ptr<DmaMemory> firmware_area_;
  std::unique_ptr<DmaMemory> aux_area_;
  std::unique_ptr<Icm> icm_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_FIRMWARE_H_
