#include "cuse/umad/umad_registration.h"

#include <cstdint>
#include <cstring>

namespace ibemu::cuse {
namespace {

std::bitset<128> Methods(const void* mask) {
  uint64_t words[2];
  std::memcpy(words, mask, sizeof words);
  return std::bitset<128>(words[1]) << 64 | std::bitset<128>(words[0]);
}

}  // namespace

Errno CheckRequest(const ib_user_mad_reg_req& request) {
  return request.qpn > 1 ? Errno::kInvalid : Errno::kOk;
}

Errno CheckRequest(const ib_user_mad_reg_req2& request) {
  if (request.qpn > 1) return Errno::kInvalid;
  const bool known =
      (request.flags & ~uint32_t{IB_USER_MAD_REG_FLAGS_CAP}) == 0;
  return known ? Errno::kOk : Errno::kInvalid;
}

Errno CheckClass(const ib_user_mad_reg_req&) { return Errno::kOk; }

Errno CheckClass(const ib_user_mad_reg_req2& request) {
  const bool too_long = request.mgmt_class != 0 && request.oui >> 24 != 0;
  return too_long ? Errno::kInvalid : Errno::kOk;
}

mad::Registration ToRegistration(const ib_user_mad_reg_req& request) {
  mad::Registration result{.qp = request.qpn,
                           .mgmt_class = request.mgmt_class,
                           .methods = {},
                           .rmpp_version = request.rmpp_version};
  if (request.mgmt_class == 0) return result;
  result.mgmt_class_version = request.mgmt_class_version;
  result.oui = uint32_t{request.oui[0]} << 16 | uint32_t{request.oui[1]} << 8 |
               request.oui[2];
  result.methods = Methods(request.method_mask);
  return result;
}

mad::Registration ToRegistration(const ib_user_mad_reg_req2& request) {
  mad::Registration result{
      .qp = static_cast<int>(request.qpn),
      .mgmt_class = request.mgmt_class,
      .methods = {},
      .rmpp_version = request.rmpp_version,
      .user_rmpp = (request.flags & IB_USER_MAD_USER_RMPP) != 0};
  if (request.mgmt_class == 0) return result;
  result.mgmt_class_version = request.mgmt_class_version;
  result.oui = request.oui;
  result.methods = Methods(request.method_mask);
  return result;
}

}  // namespace ibemu::cuse
