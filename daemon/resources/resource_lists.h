// The objects of one context, as the control socket's lists have them.
#ifndef IBEMU_DAEMON_RESOURCES_RESOURCE_LISTS_H_
#define IBEMU_DAEMON_RESOURCES_RESOURCE_LISTS_H_

#include <cstdint>
#include <functional>

#include "nlohmann/json_fwd.hpp"
#include "verbs/uverbs/context.h"

namespace ibemu::daemon {

// Takes an object with its handle, or that of the queue pair that it is of.
using TakeResource =
    std::function<void(uint32_t handle, nlohmann::json description)>;

// Each of these tells of all objects of its kind in the order of their handles.
//
// {"handle": 0, "size": 128, "waiting": 3, "channel": true,
//  "send": [18], "receive": [18]}: numbers of the queue pairs that use it
void ListCqs(const verbs::Context& context, const TakeResource& take);
// {"handle": 0, "lkey": 256, "rkey": 256, "address": 140000000000,
//  "length": 4096, "access": ["local-write"]}
void ListMrs(const verbs::Context& context, const TakeResource& take);
// {"handle": 0, "size": 64, "posted": 60, "limit": 0, "sges": 1,
//  "receive": [18]}
void ListSrqs(const verbs::Context& context, const TakeResource& take);
// {"qpn": 18, "mgid": "ff12:401b:ffff::1", "mlid": 49152}
void ListGroups(const verbs::Context& context, const TakeResource& take);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_RESOURCES_RESOURCE_LISTS_H_
