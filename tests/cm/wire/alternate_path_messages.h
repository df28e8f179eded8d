// LAP and APR, the loading of an alternate path: IBA vol 1 §12.8.
#ifndef IBEMU_TESTS_CM_WIRE_ALTERNATE_PATH_MESSAGES_H_
#define IBEMU_TESTS_CM_WIRE_ALTERNATE_PATH_MESSAGES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "cm/wire/message.h"
#include "wire/layout.h"
#include "wire/types.h"

namespace ibemu::cm {

struct Lap {
  static constexpr Message kMessage = Message::kLap;
  static constexpr int kBits = 1856;

  uint32_t local_comm_id = 0, remote_comm_id = 0;
  uint32_t remote_qpn = 0;
  uint8_t remote_cm_response_timeout = 0;  // 4.096 us * 2^n
  wire::Lid local_lid{}, remote_lid{};
  wire::Gid local_gid{}, remote_gid{};
  uint32_t flow_label = 0;
  uint8_t traffic_class = 0;
  uint8_t hop_limit = 0;
  uint8_t packet_rate = 0;
  uint8_t sl = 0;
  bool subnet_local = false;
  uint8_t local_ack_timeout = 0;  // 4.096 us * 2^n
  std::array<std::byte, 168> private_data{};

  bool operator==(const Lap&) const = default;

  static constexpr auto Layout() {
    using T = Lap;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::local_comm_id, "LocalCommunicationID", 32, 0),
        Rw(&T::remote_comm_id, "RemoteCommunicationID", 32, 32),
        Reserved(32, 64), Rw(&T::remote_qpn, "RemoteQPN", 24, 96),
        Rw(&T::remote_cm_response_timeout, "RemoteCMResponseTimeout", 5, 120),
        Reserved(3, 125), Reserved(32, 128),
        Rw(&T::local_lid, "AlternateLocalPortLID", 16, 160),
        Rw(&T::remote_lid, "AlternateRemotePortLID", 16, 176),
        Rw(&T::local_gid, "AlternateLocalPortGID", 128, 192),
        Rw(&T::remote_gid, "AlternateRemotePortGID", 128, 320),
        Rw(&T::flow_label, "AlternateFlowLabel", 20, 448), Reserved(4, 468),
        Rw(&T::traffic_class, "AlternateTrafficClass", 8, 472),
        Rw(&T::hop_limit, "AlternateHopLimit", 8, 480), Reserved(2, 488),
        Rw(&T::packet_rate, "AlternatePacketRate", 6, 490),
        Rw(&T::sl, "AlternateSL", 4, 496),
        Rw(&T::subnet_local, "AlternateSubnetLocal", 1, 500), Reserved(3, 501),
        Rw(&T::local_ack_timeout, "AlternateLocalACKTimeout", 5, 504),
        Reserved(3, 509), Rw(&T::private_data, "PrivateData", 1344, 512));
  }
};
static_assert(wire::Tiles<Lap>());

struct Apr {
  static constexpr Message kMessage = Message::kApr;
  static constexpr int kBits = 1856;

  uint32_t local_comm_id = 0, remote_comm_id = 0;
  uint8_t info_length = 0;
  uint8_t status = 0;  // 0: the path is loaded
  std::array<std::byte, 72> info{};
  std::array<std::byte, 148> private_data{};

  bool operator==(const Apr&) const = default;

  static constexpr auto Layout() {
    using T = Apr;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::local_comm_id, "LocalCommunicationID", 32, 0),
        Rw(&T::remote_comm_id, "RemoteCommunicationID", 32, 32),
        Rw(&T::info_length, "AdditionalInformationLength", 8, 64),
        Rw(&T::status, "APStatus", 8, 72), Reserved(16, 80),
        Rw(&T::info, "AdditionalInformation", 576, 96),
        Rw(&T::private_data, "PrivateData", 1184, 672));
  }
};
static_assert(wire::Tiles<Apr>());

}  // namespace ibemu::cm

#endif  // IBEMU_TESTS_CM_WIRE_ALTERNATE_PATH_MESSAGES_H_
