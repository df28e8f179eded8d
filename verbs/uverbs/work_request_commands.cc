#include "verbs/uverbs/work_request_commands.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "verbs/sends_data.h"
#include "verbs/uverbs/responses.h"
#include "verbs/uverbs/work_requests.h"
#include "verbs/wc_status.h"

namespace ibemu::verbs {
namespace {

// ib_uverbs_post_*_resp.bad_wr: the first request that was not taken, counted
// from 1; 0 if all were.
std::vector<std::byte> BadRequest(const absl::Status& status, size_t taken) {
  const auto bad = static_cast<uint32_t>(status.ok() ? 0 : taken + 1);
  return ToVector(ib_uverbs_post_send_resp{bad});
}

// In bytes.
size_t LengthOf(const std::vector<ib_uverbs_sge>& sges) {
  size_t length = 0;
  for (const ib_uverbs_sge& sge : sges) length += sge.length;
  return length;
}

bool IsInline(const SendRequest& request) {
  return (request.work.send_flags & send_flag::kInline) != 0;
}

bool IsFenced(const SendRequest& request) {
  return (request.work.send_flags & send_flag::kFence) != 0;
}

// Gives each request its part of `read`.
//
// Errors: InvalidArgument if that is more or less than all of them send.
absl::Status ShareOut(const ReadData& read, std::vector<SendRequest>& sends) {
  Bytes data = read.bytes;
  const auto wrong = [] {
    return absl::InvalidArgumentError("the data are not what the SGEs name");
  };
  for (SendRequest& send : sends) {
    if (!SendsData(send.work)) continue;
    const size_t length = LengthOf(send.sges);
    if (length > data.size()) return wrong();
    const Bytes part = data.first(length);
    data = data.subspan(length);
    // A fenced request sends what was fetched before, which may come yet.
    if (IsFenced(send) && !IsInline(send)) continue;
    auto& buffer = IsInline(send) ? send.inline_data : send.read_data;
    send.reader = read.reader;
    buffer = std::make_shared<std::vector<std::byte>>(part.begin(), part.end());
  }
  return data.empty() ? absl::OkStatus() : wrong();
}

// Drops the first request that has more than `room` bytes of inline data, and
// those after it.  A list is posted up to the first request that is refused.
//
// Errors: InvalidArgument if there was one.
absl::Status DropFromTooLongInline(uint32_t room,
                                   std::vector<SendRequest>& sends) {
  const auto first =
      std::find_if(sends.begin(), sends.end(), [room](const SendRequest& send) {
        return IsInline(send) && LengthOf(send.sges) > room;
      });
  if (first == sends.end()) return absl::OkStatus();
  absl::Status refusal = absl::InvalidArgumentError(absl::StrFormat(
      "a work request has %d bytes of inline data: its queue pair takes at "
      "most %d",
      LengthOf(first->sges), room));
  sends.erase(first, sends.end());
  return refusal;
}

}  // namespace

WorkRequestCommands::WorkRequestCommands(CommandTable& table,
                                         ContextClient& client,
                                         ContextObjects& objects)
    : client_(client), objects_(objects) {
  table.Add<ib_uverbs_post_send, ib_uverbs_post_send_resp>(
      IB_USER_VERBS_CMD_POST_SEND,
      [this](CommandCall& call) { return PostSend(call); });
  table.Add<ib_uverbs_post_recv, ib_uverbs_post_recv_resp>(
      IB_USER_VERBS_CMD_POST_RECV,
      [this](CommandCall& call) { return PostRecv(call); });
  table.Add<ib_uverbs_post_srq_recv, ib_uverbs_post_srq_recv_resp>(
      IB_USER_VERBS_CMD_POST_SRQ_RECV,
      [this](CommandCall& call) { return PostSrqRecv(call); });
}

// `rest` is why requests after `sends` are refused, if there are any.
absl::Status WorkRequestCommands::Post(QpObject& qp,
                                       std::span<SendRequest> sends,
                                       const absl::Status& rest,
                                       size_t& taken) const {
  if (qp.type == QpType::kUd) {
    for (SendRequest& send : sends) {
      IBEMU_ASSIGN_OR_RETURN(const AhObject* ah,
                             FindObject(objects_.ahs, send.work.wr.ud.ah));
      send.address = ah->ah.get();
    }
  }
  IBEMU_RETURN_IF_ERROR(qp.qp->PostSend(sends, taken));
  return rest;
}

absl::Status WorkRequestCommands::PostSend(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_post_send>(call.request);
  IBEMU_ASSIGN_OR_RETURN(QpObject * qp,
                         FindObject(objects_.qps, request.qp_handle));
  IBEMU_ASSIGN_OR_RETURN(std::vector<SendRequest> sends,
                         DecodeSends(call.request));
  if (call.data) IBEMU_RETURN_IF_ERROR(ShareOut(*call.data, sends));
  absl::Status rest =
      DropFromTooLongInline(qp->qp->capacity().inline_bytes, sends);
  if (!call.data && std::any_of(sends.begin(), sends.end(), IsInline)) {
    PostInline(call, request.qp_handle, std::move(sends), std::move(rest));
    return absl::OkStatus();
  }
  if (!call.awaited) qp->qp->MakeRoom(sends.size(), 0);
  size_t taken = 0;
  absl::Status status = Post(*qp, sends, rest, taken);
  client_.OnPromise(request.qp_handle, qp);
  call.response = BadRequest(status, taken);
  return status;
}

// Reads inline data before the command is answered, because the client may
// change them afterwards.
void WorkRequestCommands::PostInline(CommandCall& call, uint32_t qp,
                                     std::vector<SendRequest> requests,
                                     absl::Status rest) {
  std::vector<MemoryPiece> pieces;
  for (SendRequest& request : requests) {
    if (!IsInline(request)) continue;
    request.inline_data =
        std::make_shared<std::vector<std::byte>>(LengthOf(request.sges));
    size_t offset = 0;
    for (const ib_uverbs_sge& piece : request.sges) {
      pieces.push_back({piece.addr, request.inline_data, offset, piece.length});
      offset += piece.length;
    }
  }
  const std::shared_ptr<Memory> memory = client_.MemoryOf(call.caller);
  memory->Read(
      std::move(pieces),
      [self = self_, qp, requests = std::move(requests), rest = std::move(rest),
       address = call.address,
       done = std::exchange(call.done, nullptr)](absl::Status read) mutable {
        if (*self == nullptr) return;
        size_t taken = 0;
        if (read.ok()) {
          QpObject* const object = (*self)->objects_.qps.Find(qp);
          read = object == nullptr
                     ? BadHandle(qp)
                     : (*self)->Post(*object, requests, rest, taken);
          if (object != nullptr) (*self)->client_.OnPromise(qp, object);
        }
        std::vector<std::byte> response = BadRequest(read, taken);
        done(Answer{.status = std::move(read),
                    .response = std::move(response),
                    .address = address,
                    .undo = {}});
      });
}

absl::Status WorkRequestCommands::PostRecv(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_post_recv>(call.request);
  IBEMU_ASSIGN_OR_RETURN(QpObject * qp,
                         FindObject(objects_.qps, request.qp_handle));
  IBEMU_ASSIGN_OR_RETURN(std::vector<ReceiveRequest> receives,
                         DecodeReceives(call.request));
  if (!call.awaited) qp->qp->MakeRoom(0, receives.size());
  size_t taken = 0;
  absl::Status status = qp->qp->PostReceive(receives, taken);
  client_.OnPromise(request.qp_handle, qp);
  call.response = BadRequest(status, taken);
  return status;
}

absl::Status WorkRequestCommands::PostSrqRecv(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_post_srq_recv>(call.request);
  IBEMU_ASSIGN_OR_RETURN(SrqObject * srq,
                         FindObject(objects_.srqs, request.srq_handle));
  IBEMU_ASSIGN_OR_RETURN(std::vector<ReceiveRequest> receives,
                         DecodeReceives(call.request));
  size_t taken = 0;
  absl::Status status = srq->srq->PostReceive(receives, taken);
  call.response = BadRequest(status, taken);
  return status;
}

}  // namespace ibemu::verbs
