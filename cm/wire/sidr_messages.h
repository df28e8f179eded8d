// SIDR_REQ and SIDR_REP, service ID resolution: IBA vol 1 §12.11.
#ifndef IBEMU_CM_WIRE_SIDR_MESSAGES_H_
#define IBEMU_CM_WIRE_SIDR_MESSAGES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "cm/wire/message.h"
#include "wire/layout.h"

namespace ibemu::cm {

// The question of a client: at which queue pair is the service `service_id`?
struct SidrReq {
  static constexpr Message kMessage = Message::kSidrReq;
  static constexpr int kBits = 1856;

  uint32_t request_id = 0;
  uint16_t p_key = 0;
  uint64_t service_id = 0;
  std::array<std::byte, 216> private_data{};

  bool operator==(const SidrReq&) const = default;

  static constexpr auto Layout() {
    using T = SidrReq;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::request_id, "RequestID", 32, 0),
        Rw(&T::p_key, "PartitionKey", 16, 32), Reserved(16, 48),
        Rw(&T::service_id, "ServiceID", 64, 64),
        Rw(&T::private_data, "PrivateData", 1728, 128));
  }
};
static_assert(wire::Tiles<SidrReq>());

// The answer to a SIDR_REQ, with its `request_id`.  The queue pair and its
// Q_Key count only if the status is success.
struct SidrRep {
  static constexpr Message kMessage = Message::kSidrRep;
  static constexpr int kBits = 1856;

  uint32_t request_id = 0;
  uint8_t status = 0;  // cm::SidrStatus, and others
  uint8_t info_length = 0;
  uint16_t vendor_id_high = 0;  // of ECE, as in Linux
  uint32_t qpn = 0;
  uint8_t vendor_id_low = 0;
  uint64_t service_id = 0;
  uint32_t qkey = 0;
  std::array<std::byte, 72> info{};
  std::array<std::byte, 136> private_data{};

  bool operator==(const SidrRep&) const = default;

  static constexpr auto Layout() {
    using T = SidrRep;
    using wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::request_id, "RequestID", 32, 0), Rw(&T::status, "Status", 8, 32),
        Rw(&T::info_length, "AdditionalInformationLength", 8, 40),
        Rw(&T::vendor_id_high, "VendorIDHigh", 16, 48),
        Rw(&T::qpn, "QPN", 24, 64), Rw(&T::vendor_id_low, "VendorIDLow", 8, 88),
        Rw(&T::service_id, "ServiceID", 64, 96), Rw(&T::qkey, "Q_Key", 32, 160),
        Rw(&T::info, "AdditionalInformation", 576, 192),
        Rw(&T::private_data, "PrivateData", 1088, 768));
  }
};
static_assert(wire::Tiles<SidrRep>());

}  // namespace ibemu::cm

#endif  // IBEMU_CM_WIRE_SIDR_MESSAGES_H_
