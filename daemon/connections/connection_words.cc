#include "daemon/connections/connection_words.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

namespace ibemu::daemon {
namespace {

struct Words {
  uint16_t number;
  std::string_view text;
};

constexpr Words kRejections[] = {
    {1, "no queue pair available"},
    {2, "no end-to-end context available"},
    {3, "no resources available"},
    {4, "timeout"},
    {5, "unsupported request"},
    {6, "invalid communication ID"},
    {7, "invalid communication instance"},
    {8, "invalid service ID"},
    {9, "invalid transport service type"},
    {10, "stale connection"},
    {11, "no such reliable datagram domain"},
    {12, "invalid primary GID"},
    {13, "invalid primary LID"},
    {14, "invalid primary service level"},
    {15, "invalid primary traffic class"},
    {16, "invalid primary hop limit"},
    {17, "invalid primary packet rate"},
    {18, "invalid alternate GID"},
    {19, "invalid alternate LID"},
    {20, "invalid alternate service level"},
    {21, "invalid alternate traffic class"},
    {22, "invalid alternate hop limit"},
    {23, "invalid alternate packet rate"},
    {24, "redirected to another port and communication manager"},
    {25, "redirected to another port"},
    {26, "invalid path MTU"},
    {27, "insufficient responder resources"},
    {28, "consumer reject"},
    {29, "invalid RNR retry count"},
    {30, "duplicate local communication ID"},
    {31, "unsupported class version"},
    {32, "invalid primary flow label"},
    {33, "invalid alternate flow label"},
    {35, "vendor option not supported"},
};

constexpr Words kResolutions[] = {
    {0, "valid queue pair"},     {1, "service ID not supported"},
    {2, "rejected by provider"}, {3, "no queue pair available"},
    {4, "redirected"},           {5, "unsupported version"},
};

std::string_view Find(std::span<const Words> table, uint16_t number,
                      std::string_view otherwise) {
  const auto found = std::ranges::find(table, number, &Words::number);
  return found == table.end() ? otherwise : found->text;
}

// Without a message of its own under way.
std::string_view IdleText(const rdma_cm::Id& id) {
  const uint32_t told = id.was_asked() ? id.qp_num() : id.remote_qp_num();
  return id.is_datagram() && told != 0 ? "answered" : "closed";
}

}  // namespace

std::string_view SpaceText(rdma_cm::PortSpace space) {
  switch (space) {
    case rdma_cm::PortSpace::kIpoib:
      return "RDMA_PS_IPOIB";
    case rdma_cm::PortSpace::kTcp:
      return "RDMA_PS_TCP";
    case rdma_cm::PortSpace::kUdp:
      return "RDMA_PS_UDP";
    case rdma_cm::PortSpace::kIb:
      return "RDMA_PS_IB";
  }
  return "";
}

std::string_view MessageText(cm::Message message) {
  constexpr std::array<std::string_view, cm::kMessageCount> kNames = {
      "REQ",  "MRA",      "REJ",      "REP", "RTU", "DREQ",
      "DREP", "SIDR_REQ", "SIDR_REP", "LAP", "APR"};
  return kNames[static_cast<size_t>(message)];
}

std::string_view RejectionText(uint16_t reason) {
  return Find(kRejections, reason, "unknown reason");
}

std::string_view ResolutionText(uint16_t status) {
  return Find(kResolutions, status, "unknown status");
}

std::string_view StateText(const rdma_cm::Id& id) {
  using enum cm::State;
  switch (id.cm_state()) {
    case kIdle:
      return IdleText(id);
    case kReqSent:
      return "REQ sent";
    case kMraReqReceived:
      return "REQ sent, MRA received";
    case kReqReceived:
    case kMraReqSent:
      return "REQ received";
    case kRepSent:
      return "REP sent";
    case kMraRepReceived:
      return "REP sent, MRA received";
    case kRepReceived:
    case kMraRepSent:
      return "REP received";
    case kEstablished:
      return "established";
    case kDreqSent:
      return "DREQ sent";
    case kDreqReceived:
      return "DREQ received";
    case kTimewait:
      return "timewait";
    case kSidrReqSent:
      return "SIDR_REQ sent";
    case kSidrReqReceived:
      return "SIDR_REQ received";
  }
  return "";
}

}  // namespace ibemu::daemon
