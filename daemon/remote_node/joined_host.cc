#include "daemon/remote_node/joined_host.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "daemon/remote_node/format/node_link_format.h"
#include "daemon/remote_node/format/node_link_splitter.h"
#include "daemon/remote_node/format/packet_train.h"
#include "fabric/packet/packet_parser.h"
#include "fabric/subnet/port_copy.h"
#include "fabric/subnet/subnet.h"
#include "mad/mad_class.h"
#include "mad/wire/node_info.h"
#include "mad/wire/smp.h"
#include "spdlog/spdlog.h"

namespace ibemu::daemon {
namespace {

fabric::PortCopy CopyOf(const RemoteCable& cable) {
  fabric::PortCopy copy{.info = cable.Info()};
  for (int i = 0; i < cable.GidCount(); ++i) {
    copy.gids.push_back(cable.GidAt(i));
  }
  for (int i = 0; i < cable.PKeyCount(); ++i) {
    copy.p_keys.push_back(cable.PKeyAt(i));
  }
  return copy;
}

// Returns what may be for the agents of a node; the rest is for programs.
bool MayBeForAgents(const mad::MadBytes& mad) {
  const auto mgmt_class = wire::Get<&mad::MadHeader::mgmt_class>(mad);
  const auto method = wire::Get<&mad::MadHeader::method>(mad);
  return !mad::IsResponse(method) &&
         mgmt_class != mad::MgmtClass::kSubnetAdministration &&
         mgmt_class != mad::MgmtClass::kCommunication;
}

}  // namespace

JoinedHost::JoinedHost(Loop& loop, fabric::Fabric& fabric,
                       topology::NodeId node, topology::NodeId beyond,
                       Ways ways, std::unique_ptr<RemoteCables> cables)
    : loop_(loop),
      fabric_(fabric),
      node_(node),
      beyond_(beyond),
      ways_(std::move(ways)),
      cables_(std::move(cables)) {
  for (int port = 1; port <= cables_->port_count(); ++port) {
    ends_.emplace_back(*this, port);
  }
  fabric_.SetBeyond(node_, this, beyond_, this);
}

JoinedHost::~JoinedHost() {
  fabric_.SetBeyond(node_, nullptr, beyond_, nullptr);
}

absl::Status JoinedHost::Start() {
  StartPackets();
  StartLeases();
  pump_.emplace(loop_, *cables_, [this] { OnLost(); });
  for (End& end : ends_) {
    cables_->cable(end.port()).SetListener(&end);
    TakeState(end.port());
    cables_->cable(end.port()).SetEnabled(true);
  }
  for (const int port : managers_) cables_->cable(port).SetIsSm(true);
  if (description_) cables_->Describe(*description_);
  return pump_->Start();
}

void JoinedHost::StartLeases() {
  leases_.emplace(
      loop_, ways_.meet,
      [this](NodeLinkMessage type, int port,
             std::span<const std::byte> payload) {
        TellLease(type, port, payload);
      },
      [this](int port, const fabric::Packet& packet) {
        fabric_.SendFrom(IdOf(beyond_, port), packet);
      });
  cables_->OnLease([this](NodeLinkMessage type, int port,
                          std::span<const std::byte> payload) {
    return leases_->OnMessage(type, port, payload);
  });
}

void JoinedHost::StartPackets() {
  cables_->OnTrain([this](int port, const fabric::Packet& packets) {
    fabric_.SendFrom(IdOf(beyond_, port), packets);
  });
  packets_.emplace(
      loop_, *cables_, ways_.ask_for_packets,
      [this](const NodeLinkSplitter::Message& message) {
        return TakePackets(message);
      },
      [this] { leases_->RepeatUsed(); });
}

absl::Status JoinedHost::TakePackets(const NodeLinkSplitter::Message& message) {
  IBEMU_RETURN_IF_ERROR(cables_->CheckPort(message.port));
  if (message.type == NodeLinkMessage::kLeaseUsed) {
    return leases_->OnMessage(message.type, message.port, message.payload);
  }
  IBEMU_ASSIGN_OR_RETURN(const fabric::Packet packets, DecodePackets(message));
  fabric_.SendFrom(IdOf(beyond_, message.port), packets);
  return absl::OkStatus();
}

// What says that a lease is used comes behind the packets before it.
void JoinedHost::TellLease(NodeLinkMessage type, int port,
                           std::span<const std::byte> payload) {
  if (type == NodeLinkMessage::kLeaseUsed && packets_ &&
      packets_->Send(type, port, payload)) {
    return;
  }
  cables_->TellLease(type, port, payload);
}

fabric::PortId JoinedHost::IdOf(topology::NodeId node, int port) const {
  return fabric_.subnet().port_id(node, port);
}

std::string JoinedHost::name() const {
  return fabric_.subnet().node(node_).description;
}

void JoinedHost::TakeState(int port) {
  if (!lost_) {
    fabric_.SetCopy(IdOf(node_, port), CopyOf(cables_->cable(port)));
  }
}

void JoinedHost::OnLost() {
  spdlog::error("{}: the ports are down: {}", name(),
                std::string(cables_->status().message()));
  lost_ = true;
  leases_.reset();
  packets_.reset();
  explained_.clear();
  PlugInSoon();
}

void JoinedHost::TakeDown() {
  for (const End& end : ends_) {
    fabric::PortCopy copy = CopyOf(cables_->cable(end.port()));
    copy.info.port_state = mad::PortState::kDown;
    copy.info.port_physical_state = mad::PortPhysicalState::kPolling;
    fabric_.SetCopy(IdOf(node_, end.port()), copy);
  }
}

void JoinedHost::PlugInSoon() {
  // Each time: a program here may have set the ports up since the last one.
  TakeDown();
  loop_.RunAfter(kRetry, [weak = std::weak_ptr(self_)] {
    const auto self = weak.lock();
    if (!self) return;
    (*self)->ways_.plug_in([weak](Plugged cables) {
      if (const auto self = weak.lock()) (*self)->OnPlugged(std::move(cables));
    });
  });
}

void JoinedHost::OnPlugged(Plugged cables) {
  if (cables.ok() && (*cables)->port_count() != cables_->port_count()) {
    cables = absl::FailedPreconditionError(
        absl::StrFormat("the node has %d ports now, instead of %d",
                        (*cables)->port_count(), cables_->port_count()));
  }
  if (!cables.ok()) {
    Explain(cables.status());
    return PlugInSoon();
  }
  pump_.reset();
  cables_ = *std::move(cables);
  lost_ = false;
  if (absl::Status started = Start(); !started.ok()) {
    pump_.reset();
    GiveUp(std::move(started));
    return OnLost();
  }
  spdlog::info("{}: a daemon has its fabric again", name());
}

void JoinedHost::Explain(const absl::Status& why) {
  const std::string text(why.message());
  if (text == explained_) return;
  spdlog::warn("{}: can't join again yet: {}", name(), text);
  explained_ = text;
}

void JoinedHost::End::OnPacket(std::span<const std::byte> bytes) {
  const absl::StatusOr<fabric::Packet> packet = fabric::ParsePacket(bytes);
  if (!packet.ok()) {
    spdlog::debug("{} got what is no packet: {}", host_.name(),
                  std::string(packet.status().message()));
    return;
  }
  host_.fabric_.SendFrom(host_.IdOf(host_.beyond_, port_), *packet);
}

void JoinedHost::End::OnReregister() {
  host_.fabric_.AskToReregister(host_.IdOf(host_.node_, port_));
}

void JoinedHost::OnPacket(fabric::PortId port, const fabric::Packet& packet) {
  const int number = fabric_.subnet().port(port).number;
  if (SendBeside(number, packet)) return;
  cables_->cable(number).Send(EncodePacket(packet));
}

bool JoinedHost::OnPackets(fabric::PortId port, const fabric::Packet& packets) {
  const int number = fabric_.subnet().port(port).number;
  return SendBeside(number, packets) || cables_->SendTrain(number, packets);
}

bool JoinedHost::SendBeside(int port, const fabric::Packet& packets) {
  return (leases_ && leases_->Send(port, packets)) ||
         (packets_ && packets_->Send(port, packets));
}

// What the request changed is known before the answer.
std::optional<mad::LocalVerdict> JoinedHost::Process(
    fabric::PortId port, const mad::Arrival& request, mad::MadBytes& reply) {
  if (!MayBeForAgents(request.mad)) return mad::LocalVerdict::kUnhandled;
  const int number = fabric_.subnet().port(port).number;
  const bool was_lost = !cables_->status().ok();
  const mad::LocalVerdict verdict =
      cables_->cable(number).ProcessLocal(request, reply);
  if (!was_lost && absl::IsDeadlineExceeded(cables_->status())) silent_();
  if (!cables_->status().ok()) return std::nullopt;
  TakeState(number);
  if (verdict == mad::LocalVerdict::kReply) TakeDescription(reply);
  return verdict;
}

// A manager may have changed it.
void JoinedHost::TakeDescription(const mad::MadBytes& answer) {
  const auto smp = wire::Decode<mad::Smp>(answer);
  if (!mad::IsSmClass(smp.mgmt_class) ||
      smp.attr_id != mad::AttributeId::kNodeDescription ||
      smp.status != mad::MadStatus::kOk) {
    return;
  }
  const auto told = wire::Decode<mad::NodeDescription>(smp.data);
  const std::string_view text(told.text.data(), told.text.size());
  fabric_.subnet().node(node_).Describe(text.substr(0, text.find('\0')));
}

void JoinedHost::SetIsSm(fabric::PortId port, bool is_sm) {
  const int number = fabric_.subnet().port(port).number;
  if (is_sm) {
    managers_.insert(number);
  } else {
    managers_.erase(number);
  }
  cables_->cable(number).SetIsSm(is_sm);
}

void JoinedHost::OnDescription(std::string_view text) {
  description_ = text;
  cables_->Describe(text);
}

void JoinedHost::OnBadKey(fabric::PortId port, const mad::BadKey& bad) {
  cables_->cable(fabric_.subnet().port(port).number).OnBadKey(bad);
}

}  // namespace ibemu::daemon
