// The objects of one context, as the control socket's lists have them.
#ifndef IBEMU_DAEMON_RESOURCES_RESOURCE_LISTS_H_
#define IBEMU_DAEMON_RESOURCES_RESOURCE_LISTS_H_

#include <cstdint>

#include "nlohmann/json_fwd.hpp"
#include "verbs/uverbs/context.h"

namespace ibemu::daemon {

// A ResourceTaker is given the objects of a context that it wants, in the order
// of their places (HandleTable::PlaceOf()).
class ResourceTaker {
 public:
  // Asked before an object is described, or the groups of a queue pair.
  virtual bool Wants(uint32_t place) = 0;
  virtual void Take(nlohmann::json description) = 0;

 protected:
  ~ResourceTaker() = default;
};

// Each of these tells of all objects of its kind.
//
// {"handle": 0, "size": 128, "waiting": 3, "channel": true,
//  "send": [18], "receive": [18]}: numbers of the queue pairs that use it
void ListCqs(const verbs::Context& context, ResourceTaker& taker);
// {"handle": 0, "lkey": 256, "rkey": 256, "address": 140000000000,
//  "length": 4096, "access": ["local-write"]}
void ListMrs(const verbs::Context& context, ResourceTaker& taker);
// {"handle": 0, "size": 64, "posted": 60, "limit": 0, "sges": 1,
//  "receive": [18]}
void ListSrqs(const verbs::Context& context, ResourceTaker& taker);
// {"qpn": 18, "mgid": "ff12:401b:ffff::1", "mlid": 49152}
void ListGroups(const verbs::Context& context, ResourceTaker& taker);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_RESOURCES_RESOURCE_LISTS_H_
