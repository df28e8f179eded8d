#include "cm/cm_id_core.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "cm/cm_port.h"
#include "cm/manager_core.h"
#include "cm/received_req.h"

namespace ibemu::cm {

CmIdCore::CmIdCore(ManagerCore& manager, CmIdOwner* owner,
                   const LocalEnd& local)
    : manager_(manager),
      owner_(owner),
      comm_id_(local.comm_id),
      connection_(local),
      resolution_(local.comm_id) {
  manager_.Enter(*this);
}

CmIdCore::~CmIdCore() {
  if (const auto last = connection_.Destroy(manager_.timers().Now())) {
    manager_.Send(*last, connection_.route());
  }
  if (const auto last = resolution_.Destroy()) {
    manager_.Send(*last, resolution_.route());
  }
  Update();
  manager_.Leave(*this);
}

// --- Calls.

absl::Status CmIdCore::Send(const absl::StatusOr<Sending>& sending,
                            const Route& route) {
  if (!sending.ok()) return sending.status();
  manager_.Send(*sending, route);
  Update();
  return absl::OkStatus();
}

absl::Status CmIdCore::SendReq(const CmRequest& request) {
  if (resolution_.state() != State::kIdle) {
    return absl::InvalidArgumentError("it resolves a service ID");
  }
  IBEMU_ASSIGN_OR_RETURN(const Route route, manager_.RouteTo(request.path));
  return Send(connection_.SendReq(manager_.timers().Now(), request, route),
              route);
}

absl::Status CmIdCore::SendRep(const CmReply& reply) {
  IBEMU_RETURN_IF_ERROR(manager_.CheckPresent());
  return Send(connection_.SendRep(manager_.timers().Now(), reply),
              connection_.route());
}

absl::Status CmIdCore::SendRtu(std::span<const std::byte> private_data) {
  IBEMU_RETURN_IF_ERROR(manager_.CheckPresent());
  return Send(connection_.SendRtu(private_data), connection_.route());
}

absl::Status CmIdCore::SendRej(RejectReason reason,
                               std::span<const std::byte> ari,
                               std::span<const std::byte> private_data) {
  IBEMU_RETURN_IF_ERROR(manager_.CheckPresent());
  return Send(
      connection_.SendRej(manager_.timers().Now(), reason, ari, private_data),
      connection_.route());
}

absl::Status CmIdCore::SendDreq(std::span<const std::byte> private_data) {
  IBEMU_RETURN_IF_ERROR(manager_.CheckPresent());
  return Send(connection_.SendDreq(manager_.timers().Now(), private_data),
              connection_.route());
}

absl::Status CmIdCore::SendDrep(std::span<const std::byte> private_data) {
  IBEMU_RETURN_IF_ERROR(manager_.CheckPresent());
  return Send(connection_.SendDrep(manager_.timers().Now(), private_data),
              connection_.route());
}

absl::Status CmIdCore::SendSidrReq(const SidrRequest& request) {
  if (connection_.state() != State::kIdle) {
    return absl::InvalidArgumentError("it is the end of a connection");
  }
  IBEMU_ASSIGN_OR_RETURN(const Route route, manager_.RouteTo(request.path));
  return Send(resolution_.SendReq(manager_.timers().Now(), request, route),
              route);
}

absl::Status CmIdCore::SendSidrRep(const SidrReply& reply) {
  IBEMU_RETURN_IF_ERROR(manager_.CheckPresent());
  return Send(resolution_.SendRep(reply), resolution_.route());
}

absl::Status CmIdCore::NotifyEstablished() {
  IBEMU_RETURN_IF_ERROR(connection_.NotifyEstablished());
  Update();
  manager_.timers().RunSoon([this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) Tell({.kind = CmEvent::Kind::kEstablished});
  });
  return absl::OkStatus();
}

void CmIdCore::Ignore() {
  connection_.Ignore();
  resolution_.Ignore();
  Update();
}

// --- What arrives, and the timer.

void CmIdCore::Take(const mad::MadHeader& header, const Req& req,
                    const Route& route) {
  connection_.OnReq(header, req, route);
  Update();
}

void CmIdCore::Take(const mad::MadHeader& header, const SidrReq& req,
                    const Route& route) {
  resolution_.OnReq(header, req, route);
  Update();
}

void CmIdCore::Do(const Step& step, CmPort& port, Message which,
                  const mad::IncomingMessage& mad) {
  if (step.duplicate) port.CountDuplicate(which);
  if (step.send) port.Send(*step.send, ReplyTo(mad));
  Update();
  if (step.event) Tell(*step.event);
}

void CmIdCore::OnTimer() {
  timer_ = TimerId::kNone;
  armed_.reset();
  const absl::Time now = manager_.timers().Now();
  const bool resolves = resolution_.deadline().has_value();
  const Step step =
      resolves ? resolution_.OnTimer(now) : connection_.OnTimer(now);
  if (step.send) {
    manager_.Send(*step.send,
                  resolves ? resolution_.route() : connection_.route());
  }
  Update();
  if (step.event) Tell(*step.event);
}

void CmIdCore::Tell(const CmEvent& event) {
  if (owner_ != nullptr) owner_->OnCmEvent(*this, event);
}

void CmIdCore::Update() {
  manager_.peers().Update(
      *this, entry_,
      {.peer = connection_.peer(), .asker = resolution_.asker()});
  UpdateTimer();
}

void CmIdCore::UpdateTimer() {
  const std::optional<absl::Time> deadline =
      resolution_.deadline() ? resolution_.deadline() : connection_.deadline();
  if (deadline == armed_) return;
  manager_.timers().Cancel(timer_);
  timer_ = TimerId::kNone;
  armed_ = deadline;
  if (deadline) {
    timer_ = manager_.timers().RunAt(*deadline, [this] { OnTimer(); });
  }
}

}  // namespace ibemu::cm
