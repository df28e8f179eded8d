// REQ, the request for a connection: IBA vol 1 §12.6.5.
#ifndef IBEMU_CM_WIRE_REQ_H_
#define IBEMU_CM_WIRE_REQ_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "cm/wire/message.h"
#include "wire/layout.h"
#include "wire/types.h"

namespace ibemu::cm {

// TransportServiceType of a REQ.
enum class TransportService : uint8_t {
  kReliableConnection = 0,
  kUnreliableConnection = 1,
  kReliableDatagram = 2,
  kExtended = 3,  // ExtendedTransportType says which
};

// A path of a REQ as its sender sees it, without its LocalACKTimeout.
struct ReqPath {
  static constexpr int kBits = 344;

  wire::Lid local_lid{}, remote_lid{};
  wire::Gid local_gid{}, remote_gid{};
  uint32_t flow_label = 0;
  uint8_t packet_rate = 0;
  uint8_t traffic_class = 0;
  uint8_t hop_limit = 0;
  uint8_t sl = 0;
  bool subnet_local = false;

  bool operator==(const ReqPath&) const = default;

  static constexpr auto Layout() {
    using T = ReqPath;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::local_lid, "LocalPortLID", 16, 0),
        Rw(&T::remote_lid, "RemotePortLID", 16, 16),
        Rw(&T::local_gid, "LocalPortGID", 128, 32),
        Rw(&T::remote_gid, "RemotePortGID", 128, 160),
        Rw(&T::flow_label, "FlowLabel", 20, 288), Reserved(6, 308),
        Rw(&T::packet_rate, "PacketRate", 6, 314),
        Rw(&T::traffic_class, "TrafficClass", 8, 320),
        Rw(&T::hop_limit, "HopLimit", 8, 328), Rw(&T::sl, "SL", 4, 336),
        Rw(&T::subnet_local, "SubnetLocal", 1, 340), Reserved(3, 341));
  }
};
static_assert(wire::Tiles<ReqPath>());

// The body of a REQ.  "Local" is of who sends it, "remote" of who gets it.
struct Req {
  static constexpr Message kMessage = Message::kReq;
  static constexpr int kBits = 1856;

  uint32_t local_comm_id = 0;
  uint32_t vendor_id = 0;  // of ECE, as in Linux
  uint64_t service_id = 0;
  wire::Guid local_ca_guid{};
  uint32_t local_qkey = 0;
  uint32_t local_qpn = 0;
  uint8_t responder_resources = 0;
  uint32_t local_eecn = 0;
  uint8_t initiator_depth = 0;
  uint32_t remote_eecn = 0;
  uint8_t remote_cm_response_timeout = 0;  // 4.096 us * 2^n
  TransportService transport_service{};
  bool end_to_end_flow_control = false;
  uint32_t starting_psn = 0;  // of what the receiver of the REQ will send
  uint8_t local_cm_response_timeout = 0;  // 4.096 us * 2^n
  uint8_t retry_count = 0;
  uint16_t p_key = 0;
  uint8_t path_mtu = 0;  // 1 = 256 ... 5 = 4096 bytes
  bool rdc_exists = false;
  uint8_t rnr_retry_count = 0;
  uint8_t max_cm_retries = 0;
  bool srq = false;
  uint8_t extended_transport = 0;
  ReqPath primary{};
  uint8_t primary_local_ack_timeout = 0;  // 4.096 us * 2^n
  ReqPath alternate{};
  uint8_t alternate_local_ack_timeout = 0;
  bool sap_supported = false;
  std::array<std::byte, 92> private_data{};

  bool operator==(const Req&) const = default;

  static constexpr auto Layout() {
    using T = Req;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::local_comm_id, "LocalCommunicationID", 32, 0), Reserved(8, 32),
        Rw(&T::vendor_id, "VendorID", 24, 40),
        Rw(&T::service_id, "ServiceID", 64, 64),
        Rw(&T::local_ca_guid, "LocalCAGUID", 64, 128), Reserved(32, 192),
        Rw(&T::local_qkey, "LocalQ_Key", 32, 224),
        Rw(&T::local_qpn, "LocalQPN", 24, 256),
        Rw(&T::responder_resources, "ResponderResources", 8, 280),
        Rw(&T::local_eecn, "LocalEECN", 24, 288),
        Rw(&T::initiator_depth, "InitiatorDepth", 8, 312),
        Rw(&T::remote_eecn, "RemoteEECN", 24, 320),
        Rw(&T::remote_cm_response_timeout, "RemoteCMResponseTimeout", 5, 344),
        Rw(&T::transport_service, "TransportServiceType", 2, 349),
        Rw(&T::end_to_end_flow_control, "EndToEndFlowControl", 1, 351),
        Rw(&T::starting_psn, "StartingPSN", 24, 352),
        Rw(&T::local_cm_response_timeout, "LocalCMResponseTimeout", 5, 376),
        Rw(&T::retry_count, "RetryCount", 3, 381),
        Rw(&T::p_key, "PartitionKey", 16, 384),
        Rw(&T::path_mtu, "PathPacketPayloadMTU", 4, 400),
        Rw(&T::rdc_exists, "RDCExists", 1, 404),
        Rw(&T::rnr_retry_count, "RNRRetryCount", 3, 405),
        Rw(&T::max_cm_retries, "MaxCMRetries", 4, 408),
        Rw(&T::srq, "SRQ", 1, 412),
        Rw(&T::extended_transport, "ExtendedTransportType", 3, 413),
        Rw(&T::primary, "Primary", 344, 416),
        Rw(&T::primary_local_ack_timeout, "PrimaryLocalACKTimeout", 5, 760),
        Reserved(3, 765), Rw(&T::alternate, "Alternate", 344, 768),
        Rw(&T::alternate_local_ack_timeout, "AlternateLocalACKTimeout", 5,
           1112),
        Rw(&T::sap_supported, "SAPSupported", 1, 1117), Reserved(2, 1118),
        Rw(&T::private_data, "PrivateData", 736, 1120));
  }
};
static_assert(wire::Tiles<Req>());

}  // namespace ibemu::cm

#endif  // IBEMU_CM_WIRE_REQ_H_
