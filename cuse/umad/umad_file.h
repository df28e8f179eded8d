// UmadFile: an open umadN.
#ifndef IBEMU_CUSE_UMAD_UMAD_FILE_H_
#define IBEMU_CUSE_UMAD_UMAD_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "cuse/file.h"
#include "cuse/parked_reads.h"
#include "cuse/rings/ring_set.h"
#include "cuse/umad/umad_agents.h"
#include "cuse/umad/umad_queue.h"
#include "cuse/umad/umad_rings.h"
#include "cuse/umad/umad_sends.h"
#include "mad/address.h"
#include "mad/agent.h"
#include "mad/host.h"

namespace ibemu::cuse {

// An open umadN, which does for one struct file what
// drivers/infiniband/core/user_mad.c does: writes that send through the file's
// agents, and a queue to read from.  A client may have both in rings that it
// shares with us, too (kAttachRings).
class UmadFile final : public File, private mad::AgentClient {
 public:
  // Without `rings` no client can have some.  REQUIRES: `rings` outlives this
  // object.
  UmadFile(std::shared_ptr<mad::Host> host, int port, RingSet* rings = nullptr);
  ~UmadFile() override;

  void Open(bool nonblock, OpenReply reply) override;
  void Read(bool nonblock, ReadReply reply) override;
  size_t HeadSize() const override { return agents_.header_size(); }
  // Linux takes as much as it finds memory for.  A table of a million paths is
  // a quarter of this.
  LongestWrite longest_write() const override {
    return {size_t{256} << 20, Errno::kNoMemory};
  }
  // Only RMPP makes messages of another length.
  bool MayBeCut(Bytes data) const override {
    return data.size() != HeadSize() + sizeof(mad::MadBytes);
  }
  void Write(Written data, WriteReply reply) override;
  void Ioctl(const IoctlRequest& request, IoctlReply reply) override;
  uint32_t Poll() override;
  void Interrupt(RequestId id) override { reads_.Interrupt(id); }

 private:
  void OnMad(mad::Agent& agent, mad::IncomingMessage message) override;
  void OnSendDone(mad::Agent& agent, uint64_t cookie) override;
  void OnSendTimeout(mad::Agent& agent, uint64_t cookie) override;
  void OnHostChanged();

  // The call itself, without what it means for the rings.
  void Answer(const IoctlRequest& request, IoctlReply reply);
  Errno UnregisterAgent(const IoctlRequest& ioctl);
  Errno AttachRings(const IoctlRequest& ioctl);
  // Tells the client of the rings what it may send by them.
  void TellAgents();
  Errno Send(Written data);
  std::optional<UmadSends::Send> EndSend(uint64_t cookie);
  void Queue(UmadPacket packet);
  void Deliver(ReadReply reply);

  std::shared_ptr<mad::Host> host_;
  const int port_;
  RingSet* const ring_set_;
  UmadRings rings_;
  bool gone_ = false;  // the removal of the device was handled
  UmadSends sends_;
  UmadQueue queue_;  // of what is not in the rings, but after it
  ParkedReads reads_;
  // These come last, so that they end while the rest still lives.
  UmadAgents agents_;
  std::unique_ptr<mad::Host::Subscription> watch_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UMAD_UMAD_FILE_H_
