// The messages of a connection beside REQ: IBA vol 1 §12.6.6 to §12.6.11.
#ifndef IBEMU_CM_WIRE_CONNECTION_MESSAGES_H_
#define IBEMU_CM_WIRE_CONNECTION_MESSAGES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "cm/wire/message.h"
#include "wire/layout.h"
#include "wire/types.h"

namespace ibemu::cm {

// The message that an MRA or a REJ is about.
enum class About : uint8_t {
  kReq = 0,
  kRep = 1,
  kLapOrOther = 2,  // MRA: a LAP; REJ: none of the other two
};

// Message receipt acknowledgement: the answer takes its time.
struct Mra {
  static constexpr Message kMessage = Message::kMra;
  static constexpr int kBits = 1856;

  uint32_t local_comm_id = 0, remote_comm_id = 0;
  About message_mraed{};
  uint8_t service_timeout = 0;  // 4.096 us * 2^n
  std::array<std::byte, 222> private_data{};

  bool operator==(const Mra&) const = default;

  static constexpr auto Layout() {
    using T = Mra;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::local_comm_id, "LocalCommunicationID", 32, 0),
        Rw(&T::remote_comm_id, "RemoteCommunicationID", 32, 32),
        Rw(&T::message_mraed, "MessageMRAed", 2, 64), Reserved(6, 66),
        Rw(&T::service_timeout, "ServiceTimeout", 5, 72), Reserved(3, 77),
        Rw(&T::private_data, "PrivateData", 1776, 80));
  }
};
static_assert(wire::Tiles<Mra>());

// Reject: there will be no connection, and why (IBA vol 1 §12.6.7).
struct Rej {
  static constexpr Message kMessage = Message::kRej;
  static constexpr int kBits = 1856;

  uint32_t local_comm_id = 0, remote_comm_id = 0;
  About message_rejected{};
  uint8_t info_length = 0;  // of `info`, in bytes
  uint16_t reason = 0;      // cm::RejectReason, and others
  std::array<std::byte, 72> info{};
  std::array<std::byte, 148> private_data{};

  bool operator==(const Rej&) const = default;

  static constexpr auto Layout() {
    using T = Rej;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::local_comm_id, "LocalCommunicationID", 32, 0),
        Rw(&T::remote_comm_id, "RemoteCommunicationID", 32, 32),
        Rw(&T::message_rejected, "MessageRejected", 2, 64), Reserved(6, 66),
        Rw(&T::info_length, "RejectInfoLength", 7, 72), Reserved(1, 79),
        Rw(&T::reason, "Reason", 16, 80),
        Rw(&T::info, "AdditionalRejectInformation", 576, 96),
        Rw(&T::private_data, "PrivateData", 1184, 672));
  }
};
static_assert(wire::Tiles<Rej>());

// AdditionalRejectInformation of a REJ for a timeout: it need not have the
// receiver's communication ID.
struct TimeoutInfo {
  static constexpr int kBits = 64;

  wire::Guid ca_guid{};  // of the REJ's sender

  bool operator==(const TimeoutInfo&) const = default;

  static constexpr auto Layout() {
    return wire::Table(wire::Rw(&TimeoutInfo::ca_guid, "CAGUID", 64, 0));
  }
};
static_assert(wire::Tiles<TimeoutInfo>());

// FailoverAccepted of a REP.
enum class Failover : uint8_t {
  kAccepted = 0,
  kUnsupported = 1,
  kRejected = 2
};

// Reply to a REQ, which accepts the connection (IBA vol 1 §12.6.8).
struct Rep {
  static constexpr Message kMessage = Message::kRep;
  static constexpr int kBits = 1856;

  uint32_t local_comm_id = 0, remote_comm_id = 0;
  uint32_t local_qkey = 0;
  uint32_t local_qpn = 0;
  uint8_t vendor_id_high = 0;  // of ECE, as in Linux
  uint32_t local_eecn = 0;
  uint8_t vendor_id_middle = 0;
  uint32_t starting_psn = 0;  // of what the receiver of the REP will send
  uint8_t vendor_id_low = 0;
  uint8_t responder_resources = 0;
  uint8_t initiator_depth = 0;
  uint8_t target_ack_delay = 0;  // 4.096 us * 2^n
  Failover failover{};
  bool end_to_end_flow_control = false;
  uint8_t rnr_retry_count = 0;
  bool srq = false;
  wire::Guid local_ca_guid{};
  std::array<std::byte, 196> private_data{};

  bool operator==(const Rep&) const = default;

  static constexpr auto Layout() {
    using T = Rep;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::local_comm_id, "LocalCommunicationID", 32, 0),
        Rw(&T::remote_comm_id, "RemoteCommunicationID", 32, 32),
        Rw(&T::local_qkey, "LocalQ_Key", 32, 64),
        Rw(&T::local_qpn, "LocalQPN", 24, 96),
        Rw(&T::vendor_id_high, "VendorIDHigh", 8, 120),
        Rw(&T::local_eecn, "LocalEECN", 24, 128),
        Rw(&T::vendor_id_middle, "VendorIDMiddle", 8, 152),
        Rw(&T::starting_psn, "StartingPSN", 24, 160),
        Rw(&T::vendor_id_low, "VendorIDLow", 8, 184),
        Rw(&T::responder_resources, "ResponderResources", 8, 192),
        Rw(&T::initiator_depth, "InitiatorDepth", 8, 200),
        Rw(&T::target_ack_delay, "TargetACKDelay", 5, 208),
        Rw(&T::failover, "FailoverAccepted", 2, 213),
        Rw(&T::end_to_end_flow_control, "EndToEndFlowControl", 1, 215),
        Rw(&T::rnr_retry_count, "RNRRetryCount", 3, 216),
        Rw(&T::srq, "SRQ", 1, 219), Reserved(4, 220),
        Rw(&T::local_ca_guid, "LocalCAGUID", 64, 224),
        Rw(&T::private_data, "PrivateData", 1568, 288));
  }
};
static_assert(wire::Tiles<Rep>());

// Ready to use.
struct Rtu {
  static constexpr Message kMessage = Message::kRtu;
  static constexpr int kBits = 1856;

  uint32_t local_comm_id = 0, remote_comm_id = 0;
  std::array<std::byte, 224> private_data{};

  bool operator==(const Rtu&) const = default;

  static constexpr auto Layout() {
    using T = Rtu;
    using wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::local_comm_id, "LocalCommunicationID", 32, 0),
        Rw(&T::remote_comm_id, "RemoteCommunicationID", 32, 32),
        Rw(&T::private_data, "PrivateData", 1792, 64));
  }
};
static_assert(wire::Tiles<Rtu>());

// Request for release of the connection.
struct Dreq {
  static constexpr Message kMessage = Message::kDreq;
  static constexpr int kBits = 1856;

  uint32_t local_comm_id = 0, remote_comm_id = 0;
  uint32_t remote_qpn = 0;
  std::array<std::byte, 220> private_data{};

  bool operator==(const Dreq&) const = default;

  static constexpr auto Layout() {
    using T = Dreq;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::local_comm_id, "LocalCommunicationID", 32, 0),
        Rw(&T::remote_comm_id, "RemoteCommunicationID", 32, 32),
        Rw(&T::remote_qpn, "RemoteQPN", 24, 64), Reserved(8, 88),
        Rw(&T::private_data, "PrivateData", 1760, 96));
  }
};
static_assert(wire::Tiles<Dreq>());

// The answer to a DREQ.
struct Drep {
  static constexpr Message kMessage = Message::kDrep;
  static constexpr int kBits = 1856;

  uint32_t local_comm_id = 0, remote_comm_id = 0;
  std::array<std::byte, 224> private_data{};

  bool operator==(const Drep&) const = default;

  static constexpr auto Layout() {
    using T = Drep;
    using wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::local_comm_id, "LocalCommunicationID", 32, 0),
        Rw(&T::remote_comm_id, "RemoteCommunicationID", 32, 32),
        Rw(&T::private_data, "PrivateData", 1792, 64));
  }
};
static_assert(wire::Tiles<Drep>());

}  // namespace ibemu::cm

#endif  // IBEMU_CM_WIRE_CONNECTION_MESSAGES_H_
