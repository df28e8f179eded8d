#include "cm/service_resolution.h"

#include <utility>

#include "base/status_macros.h"
#include "cm/cm_mad.h"
#include "cm/private_data.h"
#include "cm/timeouts.h"

namespace ibemu::cm {
namespace {

absl::Status NotInThisState() {
  return absl::InvalidArgumentError("not in this state of the resolution");
}

}  // namespace

std::optional<absl::Time> ServiceResolution::deadline() const {
  if (!outstanding_) return std::nullopt;
  return outstanding_->deadline();
}

std::optional<Asker> ServiceResolution::asker() const {
  if (state_ != State::kSidrReqReceived) return std::nullopt;
  return Asker{.lid = route_.to.dlid, .request_id = request_id_};
}

void ServiceResolution::GoIdle() {
  state_ = State::kIdle;
  outstanding_.reset();
}

absl::StatusOr<Sending> ServiceResolution::SendReq(absl::Time now,
                                                   const SidrRequest& request,
                                                   const Route& route) {
  if (state_ != State::kIdle) return NotInThisState();
  SidrReq req{.request_id = comm_id_,
              .p_key = request.path.p_key,
              .service_id = request.service_id};
  IBEMU_RETURN_IF_ERROR(
      FillPrivateData(request.private_data, req.private_data));
  route_ = route;
  service_id_ = request.service_id;
  state_ = State::kSidrReqSent;
  const Sending sending{
      .message = Message::kSidrReq,
      .mad = MakeMad(req, uint64_t{route.high_tid} << 32 | comm_id_)};
  outstanding_.emplace(sending, now, TimeOf(kResponseTimeout), kMaxRetries);
  return sending;
}

absl::StatusOr<Sending> ServiceResolution::SendRep(const SidrReply& reply) {
  if (state_ != State::kSidrReqReceived) return NotInThisState();
  SidrRep rep{.request_id = request_id_,
              .status = static_cast<uint8_t>(reply.status),
              .vendor_id_high =
                  static_cast<uint16_t>(reply.ece.vendor_id >> 8 & 0xffff),
              .qpn = reply.qpn,
              .vendor_id_low = static_cast<uint8_t>(reply.ece.vendor_id),
              .service_id = service_id_,
              .qkey = reply.qkey};
  IBEMU_RETURN_IF_ERROR(FillPrivateData(reply.private_data, rep.private_data));
  GoIdle();
  return Sending{.message = Message::kSidrRep,
                 .mad = MakeMad(rep, tid_, reply.ece.attr_mod)};
}

std::optional<Sending> ServiceResolution::Destroy() {
  std::optional<Sending> last;
  if (state_ == State::kSidrReqReceived) {
    last = *SendRep({.status = SidrStatus::kReject});
  }
  GoIdle();
  return last;
}

void ServiceResolution::OnReq(const mad::MadHeader& header, const SidrReq& req,
                              const Route& route) {
  tid_ = header.tid;
  request_id_ = req.request_id;
  service_id_ = req.service_id;
  route_ = route;
  state_ = State::kSidrReqReceived;
}

Step ServiceResolution::OnRep(const mad::MadHeader& header, const SidrRep& rep,
                              const mad::AddressVector& from) {
  if (state_ != State::kSidrReqSent) return {};
  GoIdle();
  CmEvent event{.kind = CmEvent::Kind::kSidrRep, .address = from};
  event.private_data.assign(rep.private_data.begin(), rep.private_data.end());
  event.sidr = {.status = static_cast<SidrStatus>(rep.status),
                .qpn = rep.qpn,
                .qkey = rep.qkey,
                .ece = {.vendor_id = uint32_t{rep.vendor_id_high} << 8 |
                                     rep.vendor_id_low,
                        .attr_mod = header.attr_mod}};
  return {.event = std::move(event)};
}

Step ServiceResolution::OnTimer(absl::Time now) {
  if (const std::optional<Sending> again = outstanding_->OnTimer(now)) {
    return {.send = again};
  }
  GoIdle();
  return {.event = CmEvent{.kind = CmEvent::Kind::kSidrReqError}};
}

}  // namespace ibemu::cm
