#include "mad/redirection.h"

#include "absl/strings/str_format.h"
#include "mad/mad_class.h"

namespace ibemu::mad {
namespace {

constexpr uint32_t kMulticastQp = 0xffffff;
constexpr uint8_t kMostHops = 0xff;

bool IsRedirect(Bytes answer) {
  const auto status =
      static_cast<uint16_t>(wire::Get<&MadHeader::status>(answer));
  return (status & static_cast<uint16_t>(MadStatus::kRedirect)) != 0;
}

bool CanBeAsked(const wire::Gid& gid) {
  return gid != wire::Gid{} && !wire::IsMulticast(gid);
}

}  // namespace

Redirection::Result Redirection::OnAnswer(Bytes answer) {
  if (!IsRedirect(answer)) return std::nullopt;
  const size_t offset =
      AttributeOffset(wire::Get<&MadHeader::mgmt_class>(answer));
  if (wire::Get<&MadHeader::attr_id>(answer) != AttributeId::kClassPortInfo ||
      answer.size() < offset + wire::kBytes<ClassPortInfo>) {
    return absl::InvalidArgumentError("redirected without a ClassPortInfo");
  }
  return Follow(wire::Decode<ClassPortInfo>(answer.subspan(offset)));
}

Redirection::Result Redirection::OnClassPortInfo(const ClassPortInfo& info) {
  if (info.redirect_lid == wire::Lid::kUnassigned &&
      info.redirect_gid == wire::Gid{}) {
    return std::nullopt;
  }
  return Follow(info);
}

Redirection::Result Redirection::Follow(const ClassPortInfo& info) {
  if (count_ == kMost) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("redirected more than %d times", kMost));
  }
  const bool has_lid = wire::IsUnicast(info.redirect_lid);
  if (!has_lid && (wire::IsMulticast(info.redirect_lid) ||
                   !CanBeAsked(info.redirect_gid))) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "redirected to LID 0x%04x: it is not unicast, and there is no GID",
        static_cast<int>(info.redirect_lid)));
  }
  if (info.redirect_qp == 0 || info.redirect_qp == kMulticastQp) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "redirected to QP 0x%06x, which serves no GMPs", info.redirect_qp));
  }
  if (info.redirect_q_key != kQp1QKey) {
    return absl::InvalidArgumentError(
        absl::StrFormat("redirected to Q_Key 0x%08x: it must be 0x%08x",
                        info.redirect_q_key, kQp1QKey));
  }
  const std::optional<uint16_t> pkey_index = FindPKey(info.redirect_p_key);
  if (!pkey_index) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "redirected to P_Key 0x%04x, which this port does not have",
        info.redirect_p_key));
  }

  Target target{
      .to = {.dlid = has_lid ? info.redirect_lid : wire::Lid::kUnassigned,
             .sl = info.redirect_sl,
             .path_bits = at_.path_bits,
             .pkey_index = *pkey_index,
             .qpn = info.redirect_qp,
             .qkey = info.redirect_q_key},
      .needs_path = !has_lid};
  // Within the subnet the LID is enough, and not every peer likes a GRH: it is
  // for requests that had one, and for those that leave the subnet.
  if (CanBeAsked(info.redirect_gid) &&
      (!has_lid || at_.grh || IsOnOtherSubnet(info.redirect_gid))) {
    target.to.grh =
        GlobalRoute{.gid = info.redirect_gid,
                    .flow_label = info.redirect_fl,
                    .gid_index = at_.grh ? at_.grh->gid_index : uint8_t{0},
                    .hop_limit = at_.grh ? at_.grh->hop_limit : kMostHops,
                    .traffic_class = info.redirect_tc};
  }
  ++count_;
  at_ = target.to;
  return target;
}

std::optional<uint16_t> Redirection::FindPKey(uint16_t p_key) const {
  if (wire::MayTalk(port_.PKeyAt(at_.pkey_index), p_key)) return at_.pkey_index;
  for (int i = 0; i < port_.PKeyCount(); ++i) {
    if (wire::MayTalk(port_.PKeyAt(i), p_key)) return static_cast<uint16_t>(i);
  }
  return std::nullopt;
}

bool Redirection::IsOnOtherSubnet(const wire::Gid& gid) const {
  return gid.prefix != wire::kDefaultGidPrefix &&
         gid.prefix != port_.GidAt(0).prefix;
}

}  // namespace ibemu::mad
