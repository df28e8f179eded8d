#include "sysfs/local_mad.h"

#include <span>

#include "absl/status/status.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/mellanox.h"
#include "mad/wire/port_counters.h"
#include "mad/wire/smp.h"

namespace ibemu::sysfs {
namespace {

using mad::MadBytes;

absl::StatusOr<MadBytes> Ask(mad::Port& port, const mad::Arrival& request) {
  MadBytes reply{};
  if (port.ProcessLocal(request, reply) != mad::LocalVerdict::kReply) {
    return absl::InvalidArgumentError("the port gives no answer");
  }
  if (wire::Get<&mad::MadHeader::status>(reply) != mad::MadStatus::kOk) {
    return absl::InvalidArgumentError("the port refuses the attribute");
  }
  return reply;
}

}  // namespace

absl::StatusOr<MadBytes> GetPerformance(mad::Port& port, int number,
                                        mad::AttributeId attribute) {
  mad::Arrival request;
  request.qp = 1;
  wire::Encode(mad::MadHeader{.mgmt_class = mad::MgmtClass::kPerformance,
                              .method = mad::Method::kGet,
                              .attr_id = attribute},
               request.mad);
  // PortSelect is at the same place in every attribute.
  wire::Put<&mad::PortCounters::port_select>(
      std::span(request.mad).subspan(mad::kPerfDataOffset),
      static_cast<uint8_t>(number));
  return Ask(port, request);
}

bool IsFdr10(mad::Port& port, int number) {
  const mad::PortInfo info = port.Info();
  if (info.link_speed_active != mad::link_speed::kQdr) return false;

  mad::Arrival request;
  request.qp = 0;
  wire::Encode(mad::Smp{.method = mad::Method::kGet,
                        .attr_id = mad::AttributeId::kMellanoxExtendedPortInfo,
                        .attr_mod = static_cast<uint32_t>(number),
                        .m_key = info.m_key},
               request.mad);
  const absl::StatusOr<MadBytes> reply = Ask(port, request);
  if (!reply.ok()) return false;
  const uint8_t speed =
      wire::Get<&mad::MellanoxExtendedPortInfo::link_speed_active>(
          std::span(*reply).subspan(mad::kSmpDataOffset));
  return (speed & mad::kMellanoxFdr10) != 0;
}

}  // namespace ibemu::sysfs
