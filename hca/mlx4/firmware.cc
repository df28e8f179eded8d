#include "hca/mlx4/firmware.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "hca/mlx4/icm_layout.h"
#include "hca/prm/mlx4_hca.h"
#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::mlx4 {
namespace {

// Port commands without mailboxes came with this revision of the interface.
constexpr uint16_t kCommandInterface = 3;

constexpr int kLogUarPage = 12;
constexpr int kLogMib = 20;
constexpr int kLogDriverPage = 12;  // of queues, in MTTs

constexpr uint8_t kCacheLineOf64 = 2 << 5 | 1 << 4;

}  // namespace

std::string VersionText(const prm::QueryFw& fw) {
  return absl::StrCat(fw.fw_rev_major, ".", fw.fw_rev_minor, ".",
                      fw.fw_rev_subminor);
}

std::string BoardId(const prm::QueryAdapter& adapter) {
  std::string id;
  for (size_t i = 0; i < prm::kBoardIdBytes; ++i) {
    // Each dword is turned round.
    const size_t at = prm::kVsdBoardId + (i ^ 3);
    id.push_back(static_cast<char>(adapter.vsd[at]));
  }
  return id.substr(0, id.find('\0'));
}

absl::Status CheckFirmware(const prm::QueryFw& fw) {
  if (fw.cmd_interface_rev == kCommandInterface) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "firmware ", VersionText(fw), " has command interface revision ",
      fw.cmd_interface_rev, ", and ibemu knows revision ", kCommandInterface,
      " (\"mstflint -d DEVICE query\" shows what is installed)"));
}

absl::Status CheckCaps(const prm::QueryDevCap& caps) {
  if (caps.log_page_sz > kLogDriverPage) {
    return absl::FailedPreconditionError(
        absl::StrCat("the adapter's smallest page has 2^",
                     static_cast<int>(caps.log_page_sz),
                     " bytes, and ibemu's queues have pages of 4096"));
  }
  if (caps.num_ports < 1 || caps.num_ports > 2) {
    return absl::FailedPreconditionError(
        absl::StrCat("the adapter says that it has ",
                     static_cast<int>(caps.num_ports), " ports"));
  }
  return absl::OkStatus();
}

absl::Status CheckPort(int number, const prm::QueryPort& port) {
  const auto types = static_cast<uint8_t>(port.supported_type);
  if ((types & static_cast<uint8_t>(prm::PortType::kInfiniBand)) != 0) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "port ", number,
      " is in Ethernet mode: make it an InfiniBand port with \"mstconfig -d "
      "DEVICE set LINK_TYPE_P",
      number, "=1\", and reboot"));
}

absl::Status Firmware::Inquire() {
  IBEMU_RETURN_IF_ERROR(RunFirmware());
  return QueryCapabilities();
}

absl::Status Firmware::QueryCapabilities() {
  IBEMU_ASSIGN_OR_RETURN(
      caps_, commands_.Ask<prm::QueryDevCap>(prm::Opcode::kQueryDevCap));
  IBEMU_RETURN_IF_ERROR(CheckCaps(caps_));
  return QueryPorts();
}

absl::Status Firmware::Start() {
  IBEMU_RETURN_IF_ERROR(RunFirmware());
  SetPageSize();
  IBEMU_RETURN_IF_ERROR(QueryCapabilities());
  IBEMU_RETURN_IF_ERROR(MapContexts());
  IBEMU_RETURN_IF_ERROR(InitHca());
  IBEMU_ASSIGN_OR_RETURN(
      adapter_, commands_.Ask<prm::QueryAdapter>(prm::Opcode::kQueryAdapter));
  return absl::OkStatus();
}

absl::Status Firmware::RunFirmware() {
  IBEMU_ASSIGN_OR_RETURN(fw_,
                         commands_.Ask<prm::QueryFw>(prm::Opcode::kQueryFw));
  IBEMU_RETURN_IF_ERROR(CheckFirmware(fw_));
  IBEMU_ASSIGN_OR_RETURN(firmware_area_,
                         function_.Allocate(fw_.fw_pages * prm::kIcmPageBytes));
  stage_ = Stage::kFirmwareMapped;
  IBEMU_RETURN_IF_ERROR(
      GivePages(commands_, prm::Opcode::kMapFa, std::nullopt, *firmware_area_));
  return commands_.Run(prm::Opcode::kRunFw).status();
}

// Boards can be configured for larger pages than queues of ours have.  When
// firmware does not take it, CheckCaps() sees what it has instead.
void Firmware::SetPageSize() {
  commands_
      .Send(prm::Opcode::kModStatCfg,
            prm::PageSizeConfiguration{.change_page_size = 1})
      .IgnoreError();
}

absl::Status Firmware::QueryPorts() {
  for (int number = 1; number <= caps_.num_ports; ++number) {
    IBEMU_ASSIGN_OR_RETURN(
        const prm::QueryPort port,
        commands_.Ask<prm::QueryPort>(prm::Opcode::kQueryPort,
                                      {.in = static_cast<uint32_t>(number)}));
    IBEMU_RETURN_IF_ERROR(CheckPort(number, port));
    ports_.push_back(port);
  }
  return absl::OkStatus();
}

absl::Status Firmware::MapContexts() {
  IBEMU_ASSIGN_OR_RETURN(const IcmLayout layout, MakeIcmLayout(caps_));
  IBEMU_ASSIGN_OR_RETURN(
      const uint64_t aux_pages,
      commands_.Run(prm::Opcode::kSetIcmSize, {}, layout.size));
  IBEMU_ASSIGN_OR_RETURN(aux_area_,
                         function_.Allocate(std::max<uint64_t>(aux_pages, 1) *
                                            prm::kIcmPageBytes));
  stage_ = Stage::kAuxMapped;
  IBEMU_RETURN_IF_ERROR(
      GivePages(commands_, prm::Opcode::kMapIcmAux, std::nullopt, *aux_area_));
  icm_ = std::make_unique<Icm>(function_, commands_, layout);
  stage_ = Stage::kIcmMapped;
  return icm_->MapFirmwareEntries();
}

absl::Status Firmware::InitHca() {
  prm::InitHca init;
  init.cacheline = kCacheLineOf64;
  init.tables = TablesOf(icm_->layout());
  init.tables.log_max_uars =
      static_cast<uint8_t>(caps_.log_uar_mib + kLogMib - kLogUarPage);
  IBEMU_RETURN_IF_ERROR(commands_.Send(prm::Opcode::kInitHca, init));
  stage_ = Stage::kRunning;
  return absl::OkStatus();
}

absl::Status Firmware::Stop() {
  const Stage stage = std::exchange(stage_, Stage::kNone);
  if (stage >= Stage::kRunning) {
    IBEMU_RETURN_IF_ERROR(commands_.Run(prm::Opcode::kCloseHca).status());
  }
  if (stage >= Stage::kIcmMapped) IBEMU_RETURN_IF_ERROR(icm_->UnmapAll());
  if (stage >= Stage::kAuxMapped) {
    IBEMU_RETURN_IF_ERROR(commands_.Run(prm::Opcode::kUnmapIcmAux).status());
  }
  if (stage >= Stage::kFirmwareMapped) {
    IBEMU_RETURN_IF_ERROR(commands_.Run(prm::Opcode::kUnmapFa).status());
  }
  return absl::OkStatus();
}

}  // namespace ibemu::hca::mlx4
