#include "mad/registration_check.h"

#include "absl/strings/str_format.h"
#include "mad/mad_class.h"

namespace ibemu::mad {
namespace {

constexpr uint8_t kClassLimit = 0x50;     // Linux's MAX_MGMT_CLASS
constexpr uint8_t kClassVersions = 0x83;  // Linux's MAX_MGMT_VERSION
constexpr uint8_t kRmppVersion = 1;
constexpr uint32_t kLargestOui = 0xffffff;

absl::Status CheckClass(const Registration& wanted, MgmtClass mgmt_class) {
  if (wanted.mgmt_class_version >= kClassVersions) {
    return absl::InvalidArgumentError(
        absl::StrFormat("class version 0x%02x: versions end at 0x%02x",
                        wanted.mgmt_class_version, kClassVersions - 1));
  }
  if (wanted.mgmt_class >= kClassLimit &&
      mgmt_class != MgmtClass::kSubnetDirectedRoute) {
    return absl::InvalidArgumentError(
        absl::StrFormat("class 0x%02x: agents serve 0x01 to 0x%02x and 0x81",
                        wanted.mgmt_class, kClassLimit - 1));
  }
  if (IsSmClass(mgmt_class) != (wanted.qp == 0)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "class 0x%02x on QP%d: 0x01 and 0x81 belong to QP0, others to QP1",
        wanted.mgmt_class, wanted.qp));
  }
  if (HasOui(mgmt_class) && (wanted.oui == 0 || wanted.oui > kLargestOui)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("class 0x%02x needs an OUI of 24 bits, not 0x%x",
                        wanted.mgmt_class, wanted.oui));
  }
  if (wanted.rmpp_version != 0 && !IsRmppClass(mgmt_class)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("class 0x%02x has no RMPP", wanted.mgmt_class));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRegistration(const Registration& registration) {
  if (registration.qp != 0 && registration.qp != 1) {
    return absl::InvalidArgumentError(
        absl::StrFormat("QP%d: MADs use QP0 and QP1", registration.qp));
  }
  if (registration.rmpp_version > kRmppVersion) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "RMPP version %d: it is 0 (none) or 1", registration.rmpp_version));
  }
  if (registration.mgmt_class != 0) {
    return CheckClass(registration, MgmtClass{registration.mgmt_class});
  }
  if (registration.user_rmpp) {
    return absl::InvalidArgumentError("RMPP by the user needs a class");
  }
  return absl::OkStatus();
}

}  // namespace ibemu::mad
