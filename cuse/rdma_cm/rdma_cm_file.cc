#include "cuse/rdma_cm/rdma_cm_file.h"

#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_user_cm.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "cuse/client/caller_memory.h"
#include "cuse/client/read_memory.h"
#include "cuse/client/write_memory.h"
#include "cuse/rdma_cm/event_response.h"

namespace ibemu::cuse {
namespace {

constexpr uint32_t kCommands = RDMA_USER_CM_CMD_JOIN_MCAST + 1;

std::optional<rdma_ucm_cmd_hdr> HeaderOf(Bytes data) {
  rdma_ucm_cmd_hdr header{};
  if (data.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, data.data(), sizeof header);
  return header;
}

// Whether all was written that the header announces.
bool IsWhole(const rdma_ucm_cmd_hdr& header, Bytes data) {
  return header.in + sizeof header <= data.size();
}

}  // namespace

// An open() that waits for interfaces: the last to come up, or to end, answers.
class RdmaCmFile::UpCount : public std::enable_shared_from_this<UpCount> {
 public:
  UpCount(Timers& timers, size_t count, OpenReply reply)
      : timers_(timers), left_(count), reply_(std::move(reply)) {}
  // Answers soon, as this may be called while an adapter is destroyed.
  void Down() {
    if (--left_ > 0) return;
    timers_.RunSoon([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->reply_.Opened();
    });
  }

 private:
  Timers& timers_;
  size_t left_;
  OpenReply reply_;
};

RdmaCmFile::RdmaCmFile(std::shared_ptr<rdma_cm::RdmaCmView> view,
                       WorkerPool& workers)
    : view_(std::move(view)), workers_(workers), channel_(view_, [this] {
        DeliverEvents();
        NotifyEvents();
      }) {}

RdmaCmFile::~RdmaCmFile() { *self_ = nullptr; }

void RdmaCmFile::Open(bool /*nonblock*/, OpenReply reply) {
  constexpr absl::Duration kPatience = absl::Seconds(1);
  std::vector<ipoib::Interface*> interfaces;
  for (const auto& adapter : view_->adapters().adapters()) {
    mad::Device& device = adapter->host().device();
    for (int port = device.first_port(); port <= device.last_port(); ++port) {
      std::ranges::copy(adapter->interfaces(port),
                        std::back_inserter(interfaces));
    }
  }
  if (interfaces.empty()) return reply.Opened();
  opening_ = std::make_shared<UpCount>(view_->timers(), interfaces.size(),
                                       std::move(reply));
  for (ipoib::Interface* const interface : interfaces) {
    // Destroyed uncalled if its adapter is pulled out, which ends the wait too.
    absl::Cleanup down = [weak = std::weak_ptr(opening_)] {
      if (const auto opening = weak.lock()) opening->Down();
    };
    interface->WhenUp(kPatience, [down = std::move(down)]() mutable {
      std::move(down).Invoke();
    });
  }
}

void RdmaCmFile::Read(bool /*nonblock*/, ReadReply reply) {
  reply.Fail(Errno::kInvalid);
}

void RdmaCmFile::Ioctl(const IoctlRequest& /*request*/, IoctlReply reply) {
  reply.Fail(Errno::kNotTty);
}

uint32_t RdmaCmFile::Poll() {
  return channel_.has_event() ? POLLIN | POLLRDNORM : 0;
}

File::LongestWrite RdmaCmFile::longest_write() const {
  return {UINT16_MAX + sizeof(rdma_ucm_cmd_hdr), Errno::kInvalid};
}

bool RdmaCmFile::MayBeCut(Bytes data) const {
  const auto header = HeaderOf(data);
  return !header || !IsWhole(*header, data);
}

void RdmaCmFile::Write(Written data, WriteReply reply) {
  const auto header = HeaderOf(data.body);
  if (!header || header->cmd >= kCommands || !IsWhole(*header, data.body)) {
    return reply.Fail(Errno::kInvalid);
  }
  LearnUser(data.caller);
  const Bytes body = Bytes(data.body).subspan(sizeof *header);
  if (header->cmd == RDMA_USER_CM_CMD_GET_EVENT) {
    return GetEvent(body, header->out, data.nonblock,
                    {.reply = std::move(reply),
                     .size = data.size(),
                     .caller = data.caller});
  }
  RdmaCmCommands::Answer answer = commands_.Execute({.command = header->cmd,
                                                     .in = header->in,
                                                     .out = header->out,
                                                     .body = body,
                                                     .caller = data.caller});
  Pending pending{.reply = std::move(reply),
                  .size = data.size(),
                  .caller = data.caller,
                  .answer = std::move(answer)};
  if (pending.answer.with_data) return ReadData(std::move(pending));
  Respond(std::move(pending));
}

// All who write have the credentials of the opener.
void RdmaCmFile::LearnUser(pid_t caller) {
  if (channel_.user() != 0) return;
  const ClientId client = ClientOf(caller);
  channel_.SetUser(static_cast<uint64_t>(UserOf(client)));
  channel_.SetProcess(static_cast<int>(client));
}

// ----- Events

void RdmaCmFile::GetEvent(Bytes body, size_t out, bool nonblock,
                          EventCall call) {
  rdma_ucm_get_event command{};
  if (out < RdmaCmCommands::LeastOut(RDMA_USER_CM_CMD_GET_EVENT)) {
    return call.reply.Fail(Errno::kNoSpace);
  }
  std::memcpy(&command, body.data(), std::min(body.size(), sizeof command));
  call.address = command.response;
  call.room = out;
  if (channel_.has_event()) {
    return Deliver(std::move(call), channel_.Fetch());
  }
  if (nonblock) return call.reply.Fail(Errno::kTryAgain);
  waiting_.Park(std::move(call));
}

void RdmaCmFile::DeliverEvents() {
  while (!waiting_.empty() && channel_.has_event()) {
    Deliver(waiting_.TakeFirst(), channel_.Fetch());
  }
}

void RdmaCmFile::Deliver(EventCall call, rdma_cm::QueuedEvent event) {
  const rdma_ucm_event_resp response = EventResponse(event);
  const Bytes bytes = std::as_bytes(std::span(&response, 1))
                          .first(std::min(call.room, sizeof response));
  const pid_t caller = call.caller;
  const uint64_t address = call.address;
  WriteToClient(caller, address, {bytes.begin(), bytes.end()},
                [this, call = std::move(call),
                 event = std::move(event)](bool written) mutable {
                  if (written) return call.reply.Written(call.size);
                  call.reply.Fail(Errno::kFault);
                  channel_.PutBack(std::move(event));
                  DeliverEvents();
                  NotifyEvents();
                });
}

// ----- Answers

void RdmaCmFile::ReadData(Pending pending) {
  auto data =
      std::make_shared<std::vector<std::byte>>(pending.answer.read_size);
  const pid_t caller = pending.caller;
  const uint64_t address = pending.answer.address;
  RunForClient(
      caller,
      [data, caller, address] {
        return data->empty() || ReadMemory(caller, address, *data).ok();
      },
      [data, pending = std::move(pending)](bool read) mutable {
        const Errno error =
            read ? pending.answer.with_data(*data) : Errno::kFault;
        if (error != Errno::kOk) return pending.reply.Fail(error);
        pending.reply.Written(pending.size);
      });
}

void RdmaCmFile::Respond(Pending pending) {
  RdmaCmCommands::Answer& answer = pending.answer;
  if (answer.error != Errno::kOk) return pending.reply.Fail(answer.error);
  if (answer.response.empty()) return pending.reply.Written(pending.size);
  const pid_t caller = pending.caller;
  const uint64_t address = answer.address;
  auto response = std::exchange(answer.response, {});
  WriteToClient(caller, address, std::move(response),
                [pending = std::move(pending)](bool written) mutable {
                  if (written) return pending.reply.Written(pending.size);
                  if (pending.answer.undo) pending.answer.undo();
                  pending.reply.Fail(Errno::kFault);
                });
}

void RdmaCmFile::WriteToClient(pid_t caller, uint64_t address,
                               std::vector<std::byte> bytes, Then then) {
  RunForClient(
      caller,
      [caller, address, bytes = std::move(bytes)] {
        return WriteMemory(caller, address, bytes).ok();
      },
      std::move(then));
}

// A thread of its own: what holds up its answer is not to hold up those of
// others in its process.
void RdmaCmFile::RunForClient(pid_t caller, std::function<bool()> access,
                              Then then) {
  const uint64_t number = ++last_step_;
  steps_.emplace(number, std::move(then));
  auto done =
      std::make_shared<bool>(false);  // set by the job, read by the loop
  workers_.RunBriefly(
      ClientId{static_cast<uint64_t>(caller)},
      [done, access = std::move(access)] { *done = access(); },
      [self = self_, number, done](WorkerPool::Outcome outcome) {
        if (*self == nullptr) return;
        Then then = std::move((*self)->steps_.extract(number).mapped());
        then(outcome == WorkerPool::Outcome::kDone && *done);
      });
}

}  // namespace ibemu::cuse
