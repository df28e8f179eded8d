#include "hca/mlx4/core/firmware_client.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/absl_text.h"
#include "hca/mlx4/core/icm_layout.h"
#include "hca/prm/mlx4_hca.h"
#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::mlx4 {
namespace {

// The revision of the command interface in which port commands without
// mailboxes appeared.
constexpr uint16_t kCommandInterface = 3;

constexpr int kLogUarPage = 12;
constexpr int kLogMib = 20;
constexpr int kLogDriverPage = 12;  // pages of queues, in MTTs

constexpr uint8_t kCacheLineOf64 = 2 << 5 | 1 << 4;

}  // namespace

std::string VersionText(const prm::QueryFw& fw) {
  return absl::StrCat(fw.fw_rev_major, ".", fw.fw_rev_minor, ".",
                      fw.fw_rev_subminor);
}

std::string BoardId(const prm::QueryAdapter& adapter) {
  std::string id;
  for (size_t i = 0; i < prm::kBoardIdBytes; ++i) {
    // The bytes of each dword are in reverse order.
    const size_t at = prm::kVsdBoardId + (i ^ 3);
    id.push_back(static_cast<char>(adapter.vsd[at]));
  }
  return id.substr(0, id.find('\0'));
}

absl::Status CheckFirmware(const prm::QueryFw& fw, std::string_view name) {
  if (fw.cmd_interface_rev == kCommandInterface) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "firmware ", VersionText(fw), " has command interface revision ",
      fw.cmd_interface_rev, ", and ibemu knows revision ", kCommandInterface,
      " (\"mstflint -d ", Absl(name), " query\" shows what is installed)"));
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

absl::Status CheckPort(int number, const prm::QueryPort& port,
                       std::string_view name) {
  const auto types = static_cast<uint8_t>(port.supported_type);
  if ((types & static_cast<uint8_t>(prm::PortType::kInfiniBand)) != 0) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "port ", number,
      " is in Ethernet mode: make it an InfiniBand port with \"mstconfig -d ",
      Absl(name), " set LINK_TYPE_P", number, "=1\", and reboot"));
}

absl::Status CheckHostAccess(const prm::MadDemuxRestrictions& restrictions,
                             std::string_view name) {
  // As in Linux, access counts as restricted only if that of every method is:
  // some attributes are kept from any host.
  if (restrictions.set == 0 || restrictions.get_response == 0 ||
      restrictions.trap == 0 || restrictions.trap_repress == 0) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the firmware is in secure-host mode and takes no subnet management "
      "packets of its host: \"mstflint -d ",
      Absl(name), " hw_access enable\" ends that"));
}

absl::Status FirmwareClient::Inquire(Heard heard) {
  heard_ = std::move(heard);
  IBEMU_RETURN_IF_ERROR(RunFirmware());
  IBEMU_ASSIGN_OR_RETURN(caps_,
                         Query<prm::QueryDevCap>(prm::Opcode::kQueryDevCap));
  // Linux asks for this only after INIT_HCA, so a refusal here is no fault of
  // the firmware.
  const auto adapter = Query<prm::QueryAdapter>(prm::Opcode::kQueryAdapter);
  if (adapter.ok()) {
    adapter_ = *adapter;
  } else if (!IsRefusal(adapter.status())) {
    return adapter.status();
  }
  IBEMU_RETURN_IF_ERROR(CheckCaps(caps_));
  return QueryPorts();
}

absl::Status FirmwareClient::Start() {
  IBEMU_RETURN_IF_ERROR(RunFirmware());
  SetPageSize();
  IBEMU_ASSIGN_OR_RETURN(caps_,
                         Query<prm::QueryDevCap>(prm::Opcode::kQueryDevCap));
  IBEMU_RETURN_IF_ERROR(CheckCaps(caps_));
  IBEMU_RETURN_IF_ERROR(QueryPorts());
  IBEMU_RETURN_IF_ERROR(MapContexts());
  IBEMU_RETURN_IF_ERROR(InitHca());
  IBEMU_ASSIGN_OR_RETURN(adapter_,
                         Query<prm::QueryAdapter>(prm::Opcode::kQueryAdapter));
  return CheckHost();
}

absl::Status FirmwareClient::RunFirmware() {
  IBEMU_ASSIGN_OR_RETURN(fw_, Query<prm::QueryFw>(prm::Opcode::kQueryFw));
  IBEMU_RETURN_IF_ERROR(CheckFirmware(fw_, name_));
  IBEMU_ASSIGN_OR_RETURN(firmware_area_,
                         AllocatePages(function_, fw_.fw_pages));
  stage_ = Stage::kFirmwareMapped;
  IBEMU_RETURN_IF_ERROR(
      GivePages(commands_, prm::Opcode::kMapFa, std::nullopt, firmware_area_));
  return commands_.Run(prm::Opcode::kRunFw).status();
}

// Sets the smallest page to 4 KiB: boards can be configured for larger pages
// than this driver's queues have.  If the firmware refuses, CheckCaps() sees
// the size that it has instead.
void FirmwareClient::SetPageSize() {
  commands_
      .Send(prm::Opcode::kModStatCfg,
            prm::PageSizeConfiguration{.change_page_size = 1})
      .IgnoreError();
}

absl::Status FirmwareClient::QueryPorts() {
  for (int number = 1; number <= caps_.num_ports; ++number) {
    IBEMU_ASSIGN_OR_RETURN(
        const prm::QueryPort port,
        Query<prm::QueryPort>(prm::Opcode::kQueryPort,
                              {.in = static_cast<uint32_t>(number)}));
    ports_.push_back(port);
  }
  for (int number = 1; number <= caps_.num_ports; ++number) {
    IBEMU_RETURN_IF_ERROR(CheckPort(number, port(number), name_));
  }
  return absl::OkStatus();
}

absl::Status FirmwareClient::MapContexts() {
  IBEMU_ASSIGN_OR_RETURN(const IcmLayout layout, MakeIcmLayout(caps_));
  IBEMU_ASSIGN_OR_RETURN(
      const uint64_t aux_pages,
      commands_.Run(prm::Opcode::kSetIcmSize, {}, layout.size));
  // Real firmware wants one page per several MiB; a nonsensical number would
  // take all of the machine's memory.
  if (aux_pages > layout.size / prm::kIcmPageBytes) {
    return absl::FailedPreconditionError(
        absl::StrCat("the firmware wants ", aux_pages, " auxiliary pages for ",
                     layout.size, " bytes of context memory"));
  }
  IBEMU_ASSIGN_OR_RETURN(
      aux_area_, AllocatePages(function_, std::max<uint64_t>(aux_pages, 1)));
  stage_ = Stage::kAuxMapped;
  IBEMU_RETURN_IF_ERROR(
      GivePages(commands_, prm::Opcode::kMapIcmAux, std::nullopt, aux_area_));
  icm_ = std::make_unique<IcmTables>(function_, commands_, layout);
  stage_ = Stage::kIcmMapped;
  return icm_->MapFirmwareEntries();
}

absl::Status FirmwareClient::InitHca() {
  prm::InitHca init;
  init.cacheline = kCacheLineOf64;
  init.tables = TablesOf(icm_->layout());
  init.tables.log_max_uars =
      static_cast<uint8_t>(caps_.log_uar_mib + kLogMib - kLogUarPage);
  IBEMU_RETURN_IF_ERROR(commands_.Send(prm::Opcode::kInitHca, init));
  stage_ = Stage::kRunning;
  return absl::OkStatus();
}

// Linux goes on to let the firmware answer what it can by itself.  This driver
// does not, so all MADs reach it.
absl::Status FirmwareClient::CheckHost() {
  if (!caps_.mad_demux) return absl::OkStatus();
  IBEMU_ASSIGN_OR_RETURN(
      const auto restrictions,
      Query<prm::MadDemuxRestrictions>(
          prm::Opcode::kMadDemux,
          {.in = prm::kMadDemuxSubnet, .op = prm::kMadDemuxQueryRestrictions}));
  return CheckHostAccess(restrictions, name_);
}

absl::Status FirmwareClient::Stop() {
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
