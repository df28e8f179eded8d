// MethodRegistry: the agents of a port by the requests that they handle.
#ifndef IBEMU_MAD_METHOD_REGISTRY_H_
#define IBEMU_MAD_METHOD_REGISTRY_H_

#include <array>
#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "mad/agent.h"
#include "mad/mad_class.h"

namespace ibemu::mad {

class AgentCore;

// A MethodRegistry holds tables of agents by method.  There is a table for each
// class version, class and, in vendor classes that have one, OUI.  Classes 0x01
// and 0x81 have separate tables.
class MethodRegistry {
 public:
  // Adds `agent`, unless it only sends.  Requires a registration that
  // CheckRegistration() accepts.
  //
  // Errors:
  //   InvalidArgument    another agent has one of the methods
  //   ResourceExhausted  the class and version have 8 other OUIs
  absl::Status Add(AgentCore& agent, const Registration& registration);

  // Undoes Add().
  void Remove(const AgentCore& agent, const Registration& registration);

  // Returns the agent for a request, or null.
  AgentCore* Find(const MadBytes& mad) const;

 private:
  static constexpr size_t kMethods = 128;
  static constexpr int kOuis = 8;  // of a vendor class: Linux's MAX_MGMT_OUI

  using Key = uint64_t;  // OUI, class version, class
  using Table = std::array<AgentCore*, kMethods>;

  static Key KeyOf(const Registration& registration);
  static Key KeyOf(uint32_t oui, uint8_t version, uint8_t mgmt_class) {
    return Key{oui} << 16 | Key{version} << 8 | mgmt_class;
  }

  absl::flat_hash_map<Key, std::unique_ptr<Table>> tables_;
  absl::flat_hash_map<Key, int> ouis_;  // by key with OUI 0
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_METHOD_REGISTRY_H_
