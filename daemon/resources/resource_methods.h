// The control socket's methods that list what programs have made by verbs.
#ifndef IBEMU_DAEMON_RESOURCES_RESOURCE_METHODS_H_
#define IBEMU_DAEMON_RESOURCES_RESOURCE_METHODS_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "control/method_table.h"
#include "cuse/uverbs/uverbs_files.h"
#include "daemon/adapters/adapters.h"
#include "daemon/resources/resource_lists.h"

namespace ibemu::daemon {

// A ResourceMethods knows the objects of open uverbs files, those of all views.
class ResourceMethods {
 public:
  static constexpr size_t kPage = 500;

  // Both must outlive this object.
  ResourceMethods(Adapters& adapters, const cuse::UverbsFiles& files)
      : adapters_(adapters), files_(files) {}

  // Adds cq.list, mr.list, srq.list and mcast.list {"node", "from"}: what
  // programs have on a host, or without "node" on all, in the order in which
  // the programs came.  {"items": [...], "next": 4294967301} has at most kPage
  // objects, or one queue pair's groups more; each is ListCqs()' or its like's
  // and
  // {"node": "node-1", "guid": "0x...", "pid": 4711}.  "next" is what to give
  // as "from" for more; null: there are none.  This object must outlive the
  // last call of `dispatcher`.
  //
  // Errors: Adapters::FindHost()'s.
  void AddTo(control::MethodTable& dispatcher);

 private:
  using Lister = void (*)(const verbs::Context&, ResourceTaker&);

  absl::StatusOr<nlohmann::json> List(Lister list,
                                      control::Parameters& parameters) const;

  Adapters& adapters_;
  const cuse::UverbsFiles& files_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_RESOURCES_RESOURCE_METHODS_H_
