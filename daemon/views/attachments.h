// Attachments: the views of all runs, each with the hosts that it shows.
#ifndef IBEMU_DAEMON_VIEWS_ATTACHMENTS_H_
#define IBEMU_DAEMON_VIEWS_ATTACHMENTS_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "base/worker_pool.h"
#include "control/method_table.h"
#include "cuse/rings/ring_set.h"
#include "cuse/uverbs/uverbs_files.h"
#include "daemon/adapters/adapters.h"
#include "daemon/adapters/host_table.h"
#include "daemon/connections/connection_table.h"
#include "daemon/networks/network_table.h"
#include "loop/loop.h"
#include "sysfs/view.h"

namespace ibemu::daemon {

// An Attachments serves each view until its connection ends or its mount is
// gone.  Views of one adapter share the mad::Host that a HostTable has for it.
class Attachments : private Adapters::Listener {
 public:
  // All must outlive this object, and this object must outlive every Caller
  // that it has served.
  Attachments(Loop& loop, HostTable& hosts, ConnectionTable& connections,
              const NetworkTable& networks);
  ~Attachments();
  Attachments(const Attachments&) = delete;
  Attachments& operator=(const Attachments&) = delete;

  // Shows the adapters named in `hosts` (if it is empty, the default one) to
  // the whole machine: as character devices, and as sysfs entries through
  // `fuse`, which is or will be mounted on kSystemMount.  Call it once.
  //
  // Errors: those of a run's --host, and those of SystemDevices::Follow().
  absl::Status AttachSystem(const std::vector<std::string>& hosts,
                            sysfs::Profile profile, int major_number,
                            UniqueFd fuse);

  // Adds the methods `attach` and `host.set`.
  void AddTo(control::MethodTable& dispatcher);

  // Returns all views: [{"pid": 4711, "devices": [...]}], each device with the
  // addresses of its ports.
  nlohmann::json List() const;

  // Returns the clients with rings, and which way their calls went:
  // [{"pid": 4711, "file": "umad of node-1, port 1", "sent": {"ring": 5, ...},
  // "received": {...}}].
  nlohmann::json Clients() const;

  // The uverbs files that programs have open in any view.
  cuse::UverbsFiles& uverbs_files() { return uverbs_files_; }

 private:
  class Attachment;
  struct Placed {
    std::vector<AdapterId> adapters;
    sysfs::View view;
  };

  void OnAdapterChange(AdapterId adapter, bool present) override;

  // The hosts that have addresses: [{"address": "198.18.0.1", "node":
  // "node-1"},
  // ...], in the order of these, and not all of very many.
  nlohmann::json Names(int pid) const;
  std::string NameOf(const AddressPlan::HostAddress& host) const;
  void AddNetworks(Placed& placed, int pid) const;
  absl::StatusOr<nlohmann::json> Attach(control::Parameters& parameters,
                                        control::Caller& caller);
  absl::StatusOr<nlohmann::json> SetHost(control::Parameters& parameters);
  absl::StatusOr<std::vector<AdapterId>> FindAdapters(
      const std::vector<std::string>& names) const;
  absl::StatusOr<Placed> Place(const std::vector<std::string>& names,
                               const std::string& name_format,
                               sysfs::Profile profile, bool removed_ones_too);

  Loop& loop_;
  HostTable& hosts_;
  ConnectionTable& connections_;
  const NetworkTable& networks_;
  Adapters& adapters_;
  WorkerPool workers_;
  cuse::RingSet rings_;
  cuse::UverbsFiles uverbs_files_;
  std::set<Attachment*> served_;
  std::shared_ptr<Attachment> system_;  // null unless AttachSystem() was called
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_VIEWS_ATTACHMENTS_H_
