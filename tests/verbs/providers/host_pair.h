// What the suite for verbs::Provider needs of those who implement it.
#ifndef IBEMU_TESTS_VERBS_PROVIDERS_HOST_PAIR_H_
#define IBEMU_TESTS_VERBS_PROVIDERS_HOST_PAIR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "absl/time/time.h"
#include "base/timers.h"
#include "verbs/provider.h"

namespace ibemu::verbs {

enum class HostNumber { kOne, kTwo };

// A HostPair is two hosts of a subnet in virtual time, with one switch between
// them and an adapter each, whose ports are ACTIVE.
class HostPair {
 public:
  virtual ~HostPair() = default;

  virtual Timers& timers() = 0;
  // Lives as long as the pair, even after Break().
  virtual Provider& provider(HostNumber host) = 0;
  // Returns the first of the table of port 1.
  virtual GidBytes gid(HostNumber host) = 0;
  virtual uint64_t node_guid(HostNumber host) = 0;

  // Lets time pass, and interrupts come through.
  virtual void RunFor(absl::Duration span) = 0;

  // Loses packets that the host sends, each with this chance.
  virtual void LoseFrom(HostNumber host, double chance) = 0;
  // Cuts the host's link, or mends it and makes its ports ACTIVE again.
  virtual void SetLink(HostNumber host, bool up) = 0;
  // Lets the switch forward a multicast LID to both hosts.
  virtual void ForwardMulticast(uint16_t lid) = 0;
  // Lets the host's adapter die, or pulls it out.
  virtual void Break(HostNumber host) = 0;
};

// A Wiring says which adapters the hosts have.
struct Wiring {
  std::string name;
  std::function<std::unique_ptr<HostPair>(uint64_t seed)> make;
};

inline void PrintTo(const Wiring& wiring, std::ostream* out) {
  *out << wiring.name;
}

}  // namespace ibemu::verbs

#endif  // IBEMU_TESTS_VERBS_PROVIDERS_HOST_PAIR_H_
