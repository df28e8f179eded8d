#include "cuse/umad/umad_file.h"

#include <poll.h>

#include <algorithm>
#include <utility>

namespace ibemu::cuse {

UmadFile::UmadFile(std::shared_ptr<mad::Host> host, int port)
    : host_(std::move(host)), port_(port) {}

void UmadFile::Open(bool /*nonblock*/, OpenReply reply) {
  if (host_->removed()) return reply.Fail(Errno::kNoSuchAddress);
  watch_ = host_->Watch([this] { OnHostChanged(); });
  reply.Opened();
}

void UmadFile::Read(bool nonblock, ReadReply reply) {
  if (reply.room() < header_size_) return reply.Fail(Errno::kInvalid);
  if (host_->removed()) return reply.Fail(Errno::kIo);
  if (!queue_.empty()) return Deliver(std::move(reply));
  if (nonblock) return reply.Fail(Errno::kTryAgain);
  reads_.Park(std::move(reply));
}

uint32_t UmadFile::Poll() {
  if (host_->removed()) return POLLERR;
  const uint32_t writable = POLLOUT | POLLWRNORM;
  return queue_.empty() ? writable : writable | POLLIN | POLLRDNORM;
}

// A packet that can't be delivered stays first in the queue.
void UmadFile::Deliver(ReadReply reply) {
  const UmadPacket& first = queue_.front();
  switch (queue_.Fits(header_size_, reply.room())) {
    case Errno::kOk: {
      UmadPacket packet = queue_.TakeFront();
      return reply.Data(AsBytes(packet.header, header_size_),
                        std::move(packet.mad));
    }
    case Errno::kNoSpace:
      return reply.NoSpace(AsBytes(first.header, header_size_),
                           Bytes(first.mad).first(UmadQueue::kFirstSegment));
    default:
      return reply.Fail(Errno::kInvalid);
  }
}

void UmadFile::Queue(UmadPacket packet) {
  queue_.Push(std::move(packet));
  while (!queue_.empty() && !reads_.empty()) Deliver(reads_.TakeFirst());
  if (!queue_.empty()) NotifyEvents();
}

void UmadFile::OnMad(mad::Agent& agent, mad::IncomingMessage message) {
  if (queue_.full()) return;
  const ib_user_mad_hdr header = HeaderOf(message, IdOf(agent), header_size_);
  Queue({header, std::move(message.mad)});
}

// Does as Linux does: a reader gets EIO from now on, one that is already
// blocked stays so until a signal comes, and poll() reports an error and
// nothing else.
void UmadFile::OnHostChanged() {
  if (gone_ || !host_->removed()) return;
  gone_ = true;
  for (auto& agent : agents_) agent.reset();
  queue_.Clear();
  NotifyEvents();
}

uint32_t UmadFile::IdOf(const mad::Agent& agent) const {
  const auto it =
      std::find_if(agents_.begin(), agents_.end(),
                   [&](const auto& own) { return own.get() == &agent; });
  return static_cast<uint32_t>(it - agents_.begin());
}

}  // namespace ibemu::cuse
