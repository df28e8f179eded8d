// UmadAgents: the agents that a program has registered on one open umadN.
#ifndef IBEMU_CUSE_UMAD_UMAD_AGENTS_H_
#define IBEMU_CUSE_UMAD_UMAD_AGENTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "cuse/errno.h"
#include "cuse/file.h"
#include "cuse/umad/umad_header.h"
#include "mad/agent.h"
#include "mad/host.h"

namespace ibemu::cuse {

// The agents of one file by their ids, and the layout of headers, which the
// first registration fixes: the ioctls of drivers/infiniband/core/user_mad.c.
class UmadAgents {
 public:
  // The agents are of `port` of `host` and call `client`.  REQUIRES: both
  // outlive this object.
  UmadAgents(mad::Host& host, int port, mad::AgentClient& client)
      : host_(host), port_(port), client_(client) {}

  // The size of the header in front of every MAD, in bytes.
  size_t header_size() const { return header_size_; }

  // Handles IB_USER_MAD_REGISTER_AGENT and _AGENT2, whose arguments are
  // ib_user_mad_reg_req and ib_user_mad_reg_req2.
  template <class Request>
  void Register(const IoctlRequest& ioctl, IoctlReply reply);

  // Handles IB_USER_MAD_ENABLE_PKEY: chooses the layout with P_Key indexes.
  // Returns kInvalid if an agent was registered before.
  Errno EnablePKey();

  // Ends the agent `id`.  Returns false if there is none.
  bool Remove(uint32_t id);

  // Ends all agents.
  void Clear();

  // Returns true if an agent was ever registered.
  bool used() const { return used_; }

  // Returns false if no agent can have this id.
  static bool IsId(uint32_t id) { return id < kMaxAgents; }

  // Returns the agent `id`, or null.  REQUIRES: IsId(id).
  mad::Agent* Find(uint32_t id) const { return agents_[id].get(); }

  // Returns the id of one of these agents.
  uint32_t IdOf(const mad::Agent& agent) const;

  static constexpr uint32_t kMaxAgents = 32;

 private:
  Errno Add(uint32_t id, const mad::Registration& registration);
  std::optional<uint32_t> FreeId() const;

  mad::Host& host_;
  const int port_;
  mad::AgentClient& client_;
  bool used_ = false;  // an agent was registered, so the header is fixed
  size_t header_size_ = kOldUmadHeader;
  std::array<std::unique_ptr<mad::Agent>, kMaxAgents> agents_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UMAD_UMAD_AGENTS_H_
