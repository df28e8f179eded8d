// ContextObjects: the objects that the commands of one context have created.
#ifndef IBEMU_VERBS_UVERBS_CONTEXT_OBJECTS_H_
#define IBEMU_VERBS_UVERBS_CONTEXT_OBJECTS_H_

#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "verbs/uverbs/event_queue.h"
#include "verbs/uverbs/handle_table.h"
#include "verbs/uverbs/objects.h"

namespace ibemu::verbs {

// The objects of one context by their handles, and the queue for their
// asynchronous events.
struct ContextObjects {
  std::shared_ptr<EventQueue> async;  // null before GET_CONTEXT
  // Who did GET_CONTEXT, see Memory::process(); 0: nobody has yet.
  uint64_t process = 0;
  // How often the client read an event of completions that were there when it
  // asked for the event, before it had polled them all.
  uint64_t late_arms = 0;

  // An object comes after those that it uses, so that it is destroyed first.
  HandleTable<PdObject> pds;
  HandleTable<MrObject> mrs;
  HandleTable<AhObject> ahs;
  HandleTable<CqObject> cqs;
  HandleTable<SrqObject> srqs;
  HandleTable<QpObject> qps;
  absl::flat_hash_map<uint32_t, uint32_t> qp_handles;  // by the numbers
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_CONTEXT_OBJECTS_H_
