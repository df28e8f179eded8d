#include "hca/model/mlx4/firmware/bring_up_commands.h"

#include <array>
#include <cstddef>

#include "hca/model/mlx4/core/adapter_limits.h"
#include "hca/model/mlx4/core/table_layout.h"
#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::model::mlx4 {

using prm::Opcode;
using Status = prm::CommandStatus;

std::optional<CommandReply> BringUpCommands::Execute(
    const CommandRequest& request) {
  switch (request.opcode) {
    case Opcode::kQueryFw:
      return CommandReply{mailboxes_.Out(request, FirmwareInfo())};
    case Opcode::kMapFa:
      return CommandReply{MapFirmwareArea(request)};
    case Opcode::kRunFw:
      return CommandReply{RunFirmware()};
    case Opcode::kUnmapFa:
      return CommandReply{UnmapFirmwareArea()};
    case Opcode::kQueryDevCap:
      return CommandReply{mailboxes_.Out(request, parts_.core.cap)};
    case Opcode::kQueryAdapter:
      return CommandReply{mailboxes_.Out(request, AdapterInfo())};
    case Opcode::kNop:
      return CommandReply{};
    case Opcode::kSetIcmSize:
      return SetIcmSize(request);
    case Opcode::kMapIcmAux:
      return CommandReply{MapAuxiliary(request)};
    case Opcode::kUnmapIcmAux:
      return CommandReply{UnmapAuxiliary()};
    case Opcode::kMapIcm:
      return CommandReply{MapIcm(request)};
    case Opcode::kUnmapIcm:
      return CommandReply{UnmapIcm(request)};
    case Opcode::kInitHca:
      return CommandReply{InitHca(request)};
    case Opcode::kCloseHca:
      CloseHca();
      return CommandReply{};
    case Opcode::kQueryHca:
      return QueryHca(request);
    default:
      return std::nullopt;
  }
}

Status BringUpCommands::ReadChunks(const CommandRequest& request,
                                   Chunks& chunks) const {
  constexpr size_t kChunkBytes = wire::kBytes<prm::VirtualPhysicalMapping>;
  constexpr uint8_t kMaxLogChunk = 20;
  const uint32_t count = request.in_modifier;
  if (count == 0 || count > prm::kMailboxBytes / kChunkBytes) {
    return Status::kBadParam;
  }
  Chunks read(count);
  for (uint32_t i = 0; i < count; ++i) {
    prm::VirtualPhysicalMapping& chunk = read[i];
    if (const Status status = mailboxes_.Take(request, chunk, i * kChunkBytes);
        status != Status::kOk) {
      return status;
    }
    if (chunk.log2size > kMaxLogChunk) return Status::kBadParam;
    const uint64_t mask = (uint64_t{1} << chunk.log2size) - 1;
    if ((chunk.physical_page & mask) != 0) return Status::kBadParam;
  }
  if (!CanReach(read)) return Status::kInternalError;
  chunks.insert(chunks.end(), read.begin(), read.end());
  return Status::kOk;
}

uint64_t BringUpCommands::PagesOf(const Chunks& chunks) {
  uint64_t pages = 0;
  for (const prm::VirtualPhysicalMapping& chunk : chunks) {
    pages += uint64_t{1} << chunk.log2size;
  }
  return pages;
}

bool BringUpCommands::CanReach(const Chunks& chunks) const {
  for (const prm::VirtualPhysicalMapping& chunk : chunks) {
    const uint64_t last = (uint64_t{1} << chunk.log2size) - 1;
    for (const uint64_t page : {uint64_t{0}, last}) {
      std::array<std::byte, 1> byte;
      if (!parts_.core.host.Read(
              (chunk.physical_page + page) << prm::kIcmPageShift, byte)) {
        return false;
      }
    }
  }
  return true;
}

Status BringUpCommands::MapFirmwareArea(const CommandRequest& request) {
  if (PagesOf(firmware_area_) >= FirmwareInfo().fw_pages) {
    return Status::kBadSysState;
  }
  return ReadChunks(request, firmware_area_);
}

Status BringUpCommands::RunFirmware() {
  if (PagesOf(firmware_area_) < FirmwareInfo().fw_pages) {
    return Status::kBadSysState;
  }
  stage_ = Stage::kRunning;
  return Status::kOk;
}

Status BringUpCommands::UnmapFirmwareArea() {
  if (firmware_area_.empty() || !auxiliary_area_.empty()) {
    return Status::kBadSysState;
  }
  if (!CanReach(firmware_area_)) return Status::kInternalError;
  firmware_area_.clear();
  parts_.core.icm.Reset();  // the size must be set again
  stage_ = Stage::kReset;
  return Status::kOk;
}

CommandReply BringUpCommands::SetIcmSize(const CommandRequest& request) {
  if (request.in_param == 0 || request.in_param > parts_.core.cap.max_icm_sz) {
    return {Status::kExceedLimit};
  }
  if (!auxiliary_area_.empty()) return {Status::kBadSysState};
  return {Status::kOk, parts_.core.icm.SetSize(request.in_param)};
}

Status BringUpCommands::MapAuxiliary(const CommandRequest& request) {
  const Icm& icm = parts_.core.icm;
  if (icm.bytes() == 0 || PagesOf(auxiliary_area_) >= icm.auxiliary_pages()) {
    return Status::kBadSysState;
  }
  return ReadChunks(request, auxiliary_area_);
}

Status BringUpCommands::UnmapAuxiliary() {
  if (auxiliary_area_.empty() || !parts_.core.icm.empty()) {
    return Status::kBadSysState;
  }
  if (!CanReach(auxiliary_area_)) return Status::kInternalError;
  auxiliary_area_.clear();
  return Status::kOk;
}

Status BringUpCommands::MapIcm(const CommandRequest& request) {
  Icm& icm = parts_.core.icm;
  if (icm.bytes() == 0 || PagesOf(auxiliary_area_) < icm.auxiliary_pages()) {
    return Status::kIcmError;
  }
  Chunks chunks;
  if (const Status status = ReadChunks(request, chunks);
      status != Status::kOk) {
    return status;
  }
  for (size_t i = 0; i < chunks.size(); ++i) {
    const Status status = icm.Map(chunks[i]);
    if (status == Status::kOk) continue;
    while (i-- > 0) {
      icm.Unmap(chunks[i].virtual_page << prm::kIcmPageShift,
                uint64_t{1} << chunks[i].log2size);
    }
    return status;
  }
  return Status::kOk;
}

Status BringUpCommands::UnmapIcm(const CommandRequest& request) {
  if (request.in_modifier == 0 || request.in_param % prm::kIcmPageBytes != 0) {
    return Status::kBadParam;
  }
  parts_.core.icm.Unmap(request.in_param, request.in_modifier);
  return Status::kOk;
}

Status BringUpCommands::CheckTables(const prm::HcaTables& tables) const {
  const prm::QueryDevCap& cap = parts_.core.cap;
  if (prm::TableLog(tables.qpc) > cap.log_max_qp ||
      prm::TableLog(tables.srqc) > cap.log_max_srq ||
      prm::TableLog(tables.cqc) > cap.log_max_cq ||
      prm::TableLog(tables.eqc) > cap.log_max_eq ||
      tables.log_dmpt_sz > cap.log_max_mpt ||
      tables.log_mc_table_sz > cap.log_max_mcg) {
    return Status::kExceedLimit;
  }
  constexpr int kMinLogMcEntry = 6;
  constexpr int kMaxLogMcEntry = 12;  // a mailbox
  if (tables.log_mc_entry_sz < kMinLogMcEntry ||
      tables.log_mc_entry_sz > kMaxLogMcEntry ||
      tables.log_mc_hash_sz > tables.log_mc_table_sz ||
      tables.uar_page_sz != 0 || tables.num_sys_eqs != 0) {
    return Status::kBadParam;
  }
  // Features that QUERY_DEV_CAP does not announce.
  if (tables.cqe_64 || tables.eqe_64 || tables.eqe_cqe_stride != 0 ||
      tables.device_steering || tables.unicast_steering ||
      tables.memory_windows) {
    return Status::kBadParam;
  }
  if (TablesOverlap(cap, tables)) return Status::kBadParam;
  // The first objects of each table are firmware's own, so they must be mapped.
  // Of the multicast table every entry must be, because firmware follows its
  // chains.
  const Icm& icm = parts_.core.icm;
  const bool mapped =
      icm.Contains(prm::TableBase(tables.qpc),
                   uint64_t{cap.qpc_entry_sz} << cap.log_rsvd_qp) &&
      icm.Contains(prm::TableBase(tables.cqc),
                   uint64_t{cap.cqc_entry_sz} << cap.log_rsvd_cq) &&
      icm.Contains(prm::TableBase(tables.srqc),
                   uint64_t{cap.srqc_entry_sz} << cap.log_rsvd_srq) &&
      icm.Contains(prm::TableBase(tables.eqc),
                   uint64_t{cap.eqc_entry_sz} << cap.log_rsvd_eq) &&
      icm.Contains(tables.dmpt_base,
                   uint64_t{cap.d_mpt_entry_sz} << cap.log_rsvd_mrw) &&
      icm.Contains(tables.mc_base, uint64_t{1} << tables.log_mc_entry_sz
                                               << tables.log_mc_table_sz);
  return mapped ? Status::kOk : Status::kIcmError;
}

Status BringUpCommands::InitHca(const CommandRequest& request) {
  prm::InitHca wanted;
  if (const Status status = mailboxes_.Take(request, wanted);
      status != Status::kOk) {
    return status;
  }
  if (wanted.version != prm::InitHca::kVersion) return Status::kBadParam;
  if (const Status status = CheckTables(wanted.tables); status != Status::kOk) {
    return status;
  }
  parts_.core.tables = wanted.tables;
  stage_ = Stage::kUp;
  return Status::kOk;
}

void BringUpCommands::CloseHca() {
  parts_.queue_pairs.Reset();
  parts_.shared.Reset();
  parts_.completions.Reset();
  parts_.events.Reset();
  parts_.ports.Reset();
  parts_.core.tables = {};
  if (stage_ == Stage::kUp) stage_ = Stage::kRunning;
}

CommandReply BringUpCommands::QueryHca(const CommandRequest& request) const {
  constexpr uint32_t kMegahertz = 427;
  return {mailboxes_.Out(request, prm::QueryHca{.core_clock = kMegahertz,
                                                .tables = parts_.core.tables})};
}

void BringUpCommands::Reset() {
  CloseHca();
  parts_.core.icm.Reset();
  stage_ = Stage::kReset;
  firmware_area_.clear();
  auxiliary_area_.clear();
}

}  // namespace ibemu::hca::model::mlx4
