// IssmFile: an open issmN, the sign that a subnet manager runs on the port.
#ifndef IBEMU_CUSE_UMAD_ISSM_FILE_H_
#define IBEMU_CUSE_UMAD_ISSM_FILE_H_

#include <memory>
#include <optional>

#include "cuse/file.h"
#include "mad/host.h"

namespace ibemu::cuse {

// An open issmN.  Only one may be open for a port: open() is the semaphore's
// down(), and the last close() its up().  The file has no other use.
class IssmFile final : public File {
 public:
  IssmFile(std::shared_ptr<mad::Host> host, int port);

  void Open(bool nonblock, OpenReply reply) override;
  void Read(bool nonblock, ReadReply reply) override;
  void Write(Written data, WriteReply reply) override;
  void Ioctl(const IoctlRequest& request, IoctlReply reply) override;
  uint32_t Poll() override;
  void Interrupt(RequestId id) override;

 private:
  void OnGranted(std::unique_ptr<mad::Host::SmLock> lock);

  std::shared_ptr<mad::Host> host_;
  int port_;
  std::unique_ptr<mad::Host::SmLock> lock_;
  std::unique_ptr<mad::Host::SmWait> wait_;
  std::optional<OpenReply> opening_;  // while waiting
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UMAD_ISSM_FILE_H_
