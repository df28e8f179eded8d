#include "hca/model/mlx4/firmware/management_commands.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hca/prm/mlx4_registers.h"
#include "mad/wire/attribute_id.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/smp.h"

namespace ibemu::hca::model::mlx4 {

using prm::Opcode;
using Status = prm::CommandStatus;

namespace {

bool IsSubnetManagement(const mad::MadHeader& header) {
  return header.mgmt_class == mad::MgmtClass::kSubnetLidRouted ||
         header.mgmt_class == mad::MgmtClass::kSubnetDirectedRoute;
}

}  // namespace

std::optional<CommandReply> ManagementCommands::Execute(
    const CommandRequest& request) {
  switch (request.opcode) {
    case Opcode::kQueryPort:
      return CommandReply{QueryPort(request)};
    case Opcode::kModStatCfg:
      return CommandReply{StaticConfiguration(request)};
    case Opcode::kInitPort:
    case Opcode::kClosePort:
    case Opcode::kSetPort:
      return CommandReply{Port(request)};
    case Opcode::kMadIfc:
      return CommandReply{MadIfc(request)};
    case Opcode::kMadDemux:
      return CommandReply{MadDemux(request)};
    case Opcode::kReadMcg:
    case Opcode::kWriteMcg:
      return CommandReply{Mcg(request)};
    case Opcode::kMgidHash:
      return MgidHash(request);
    case Opcode::kDiagRprt:
      return CommandReply{DiagnosticReport(request)};
    default:
      return std::nullopt;
  }
}

Status ManagementCommands::QueryPort(const CommandRequest& request) {
  if (!ports_.Has(request.in_modifier)) return Status::kBadParam;
  return mailboxes_.Out(request,
                        ports_.Query(static_cast<int>(request.in_modifier)));
}

Status ManagementCommands::StaticConfiguration(const CommandRequest& request) {
  if (request.op_modifier == 0) {
    const auto wanted = mailboxes_.In<prm::PageSizeConfiguration>(request);
    if (!wanted) return Status::kInternalError;
    // Only pages of 4 KiB are supported.
    return wanted->change_page_size == 0 || wanted->log_page_size == 0
               ? Status::kOk
               : Status::kBadParam;
  }
  const uint32_t port =
      request.in_modifier >> prm::kStaticConfigurationPortShift;
  if (request.op_modifier != prm::kQueryStaticConfiguration) {
    return Status::kBadOp;
  }
  if (!ports_.Has(port)) return Status::kBadParam;
  const uint64_t guid =
      ports_.cable(static_cast<int>(port)).GidAt(0).interface_id;
  return mailboxes_.Out(
      request, prm::StaticConfiguration{
                   .uplink_guid_high = static_cast<uint32_t>(guid >> 32),
                   .uplink_guid_low = static_cast<uint32_t>(guid)});
}

Status ManagementCommands::Port(const CommandRequest& request) {
  if (!ports_.Has(request.in_modifier)) return Status::kBadParam;
  const int port = static_cast<int>(request.in_modifier);
  switch (request.opcode) {
    case Opcode::kInitPort:
      return ports_.Initialise(port);
    case Opcode::kClosePort:
      ports_.Close(port);
      return Status::kOk;
    default: {
      prm::SetPort wanted;
      const Status status = mailboxes_.Take(request, wanted);
      return status == Status::kOk ? ports_.Set(port, wanted) : status;
    }
  }
}

// kMadIfcIgnoreBKey has no effect, as there is no baseboard manager.
Status ManagementCommands::MadIfc(const CommandRequest& request) {
  const uint32_t number = request.in_modifier & prm::kMadIfcPortMask;
  if (!ports_.Has(number)) return Status::kBadParam;
  const int port = static_cast<int>(number);
  mad::Arrival arrival;
  if (!core_.host.Read(request.in_param, arrival.mad)) {
    return Status::kInternalError;
  }
  const auto header = wire::Decode<mad::MadHeader>(arrival.mad);
  arrival.qp = IsSubnetManagement(header) ? 0 : 1;
  arrival.slid = wire::Lid{
      static_cast<uint16_t>(request.in_modifier >> prm::kMadIfcLidShift)};
  if ((request.op_modifier & prm::kMadIfcExtended) != 0) {
    const auto how =
        mailboxes_.In<prm::MadIfcExtension>(request, arrival.mad.size());
    if (!how) return Status::kInternalError;
    arrival.sl = how->sl;
    arrival.path_bits = how->path_bits;
    arrival.pkey_index = how->pkey_index;
    arrival.source_qpn = how->remote_qpn;
  }
  Cable& agents = ports_.cable(port);
  const bool ignore_m_key =
      arrival.qp == 0 && (request.op_modifier & prm::kMadIfcIgnoreMKey) != 0;
  const auto m_key = wire::Get<&mad::Smp::m_key>(arrival.mad);
  // To ignore the M_Key, the agents are given the right one.
  if (ignore_m_key) {
    wire::Put<&mad::Smp::m_key>(arrival.mad, agents.Info().m_key);
  }
  mad::MadBytes reply{};
  const mad::LocalVerdict verdict = agents.ProcessLocal(arrival, reply);
  if (verdict == mad::LocalVerdict::kUnhandled) return Status::kBadPacket;
  if (ignore_m_key) wire::Put<&mad::Smp::m_key>(reply, m_key);
  if (header.method == mad::Method::kSet) {
    const bool reregister =
        arrival.qp == 0 &&
        wire::Get<&mad::Smp::attr_id>(arrival.mad) ==
            mad::AttributeId::kPortInfo &&
        wire::Get<&mad::PortInfo::client_reregister>(
            std::span(arrival.mad).subspan(mad::kSmpDataOffset));
    ports_.TellChanges(port, reregister);
  }
  if (verdict == mad::LocalVerdict::kConsumed) {
    // A MAD that needs an answer was dropped: its M_Key is wrong.
    return header.method == mad::Method::kTrapRepress ? Status::kOk
                                                      : Status::kBadPacket;
  }
  return core_.host.Write(request.out_param, reply) ? Status::kOk
                                                    : Status::kInternalError;
}

// Supports only the query, which is all that drivers use.
Status ManagementCommands::MadDemux(const CommandRequest& request) {
  if (!core_.cap.mad_demux ||
      request.op_modifier != prm::kMadDemuxQueryRestrictions) {
    return Status::kBadOp;
  }
  if (request.in_modifier != prm::kMadDemuxSubnet) return Status::kBadParam;
  const uint32_t all = core_.faults.secure_host() ? ~uint32_t{0} : 0;
  return mailboxes_.Out(
      request,
      prm::MadDemuxRestrictions{
          .set = all, .get_response = all, .trap = all, .trap_repress = all});
}

Status ManagementCommands::Mcg(const CommandRequest& request) {
  std::vector<std::byte> entry(multicast_.entry_bytes());
  if (request.opcode == Opcode::kReadMcg) {
    const Status status = multicast_.Read(request.in_modifier, entry);
    if (status != Status::kOk) return status;
    return core_.host.Write(request.out_param, entry) ? Status::kOk
                                                      : Status::kInternalError;
  }
  if (!core_.host.Read(request.in_param, entry)) {
    return Status::kInternalError;
  }
  return multicast_.Write(request.in_modifier, entry);
}

CommandReply ManagementCommands::MgidHash(const CommandRequest& request) {
  std::array<uint8_t, 16> gid;
  if (!core_.host.Read(request.in_param,
                       std::as_writable_bytes(std::span(gid)))) {
    return {Status::kInternalError};
  }
  return {Status::kOk, multicast_.Hash(gid)};
}

// All counters are 0.
Status ManagementCommands::DiagnosticReport(const CommandRequest& request) {
  const std::array<std::byte, prm::kMailboxBytes> counters{};
  return core_.host.Write(request.out_param, counters) ? Status::kOk
                                                       : Status::kInternalError;
}

}  // namespace ibemu::hca::model::mlx4
