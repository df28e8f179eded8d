#include "cuse/umad/issm_file.h"

#include <poll.h>

#include <utility>

namespace ibemu::cuse {

IssmFile::IssmFile(std::shared_ptr<mad::Host> host, int port)
    : host_(std::move(host)), port_(port) {}

void IssmFile::Open(bool nonblock, OpenReply reply) {
  if (host_->removed()) return reply.Fail(Errno::kNoSuchAddress);
  lock_ = host_->TryLockSm(port_);
  if (lock_ != nullptr) return reply.Opened();
  if (nonblock) return reply.Fail(Errno::kTryAgain);

  opening_.emplace(std::move(reply));
  wait_ = host_->WaitForSm(port_,
                           [this](auto lock) { OnGranted(std::move(lock)); });
}

// The removal of the device does not end the wait, as in ib_umad_sm_open():
// only the semaphore or a signal does.  Linux then trips over the removed
// device.
void IssmFile::OnGranted(std::unique_ptr<mad::Host::SmLock> lock) {
  OpenReply reply = *std::exchange(opening_, std::nullopt);
  if (host_->removed()) return reply.Fail(Errno::kNoSuchAddress);
  lock_ = std::move(lock);
  reply.Opened();
}

void IssmFile::Interrupt(RequestId id) {
  if (!opening_ || opening_->id() != id) return;
  wait_.reset();
  std::exchange(opening_, std::nullopt)->Fail(Errno::kInterrupted);
}

void IssmFile::Read(bool /*nonblock*/, ReadReply reply) {
  reply.Fail(Errno::kInvalid);
}

void IssmFile::Write(Written /*data*/, WriteReply reply) {
  reply.Fail(Errno::kInvalid);
}

void IssmFile::Ioctl(const IoctlRequest& /*request*/, IoctlReply reply) {
  reply.Fail(Errno::kNotTty);
}

uint32_t IssmFile::Poll() { return POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM; }

}  // namespace ibemu::cuse
