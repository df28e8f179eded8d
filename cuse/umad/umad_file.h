// UmadFile: an open umadN.
#ifndef IBEMU_CUSE_UMAD_UMAD_FILE_H_
#define IBEMU_CUSE_UMAD_UMAD_FILE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "cuse/file.h"
#include "cuse/parked_reads.h"
#include "cuse/umad/umad_header.h"
#include "cuse/umad/umad_queue.h"
#include "cuse/umad/umad_sends.h"
#include "mad/agent.h"
#include "mad/host.h"

namespace ibemu::cuse {

// An open umadN, which does for one struct file what
// drivers/infiniband/core/user_mad.c does: agents by id, writes that send, and
// a queue to read from.
class UmadFile final : public File, private mad::AgentClient {
 public:
  UmadFile(std::shared_ptr<mad::Host> host, int port);

  void Open(bool nonblock, OpenReply reply) override;
  void Read(bool nonblock, ReadReply reply) override;
  size_t HeadSize() const override { return header_size_; }
  void Write(Written data, WriteReply reply) override;
  void Ioctl(const IoctlRequest& request, IoctlReply reply) override;
  uint32_t Poll() override;
  void Interrupt(RequestId id) override { reads_.Interrupt(id); }

 private:
  static constexpr size_t kMaxAgents = 32;

  void OnMad(mad::Agent& agent, mad::IncomingMessage message) override;
  void OnSendDone(mad::Agent& agent, uint64_t cookie) override;
  void OnSendTimeout(mad::Agent& agent, uint64_t cookie) override;
  void OnHostChanged();

  Errno EnablePKey();
  template <class Request>
  void RegisterAgent(const IoctlRequest& ioctl, IoctlReply reply);
  Errno Register(uint32_t id, const mad::Registration& registration);
  Errno UnregisterAgent(const IoctlRequest& ioctl);
  std::optional<uint32_t> FreeId() const;
  uint32_t IdOf(const mad::Agent& agent) const;

  Errno Send(Written data);
  void Queue(UmadPacket packet);
  void Deliver(ReadReply reply);

  std::shared_ptr<mad::Host> host_;
  int port_;
  bool used_ = false;  // an agent was registered, so the header is fixed
  bool gone_ = false;  // the removal of the device was handled
  size_t header_size_ = kOldUmadHeader;
  UmadSends sends_;
  UmadQueue queue_;
  ParkedReads reads_;
  // These come last, so that they end while the rest still lives.
  std::array<std::unique_ptr<mad::Agent>, kMaxAgents> agents_;
  std::unique_ptr<mad::Host::Subscription> watch_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UMAD_UMAD_FILE_H_
