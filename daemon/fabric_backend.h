// FabricBackend: the back end of a simulated subnet.
#ifndef IBEMU_DAEMON_FABRIC_BACKEND_H_
#define IBEMU_DAEMON_FABRIC_BACKEND_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/worker_pool.h"
#include "daemon/adapters/fabric_adapters.h"
#include "daemon/backend.h"
#include "daemon/capture/capture_methods.h"
#include "daemon/daemon_options.h"
#include "daemon/events/event_methods.h"
#include "daemon/events/fabric_event_log.h"
#include "daemon/journal/journal_content.h"
#include "daemon/journal/journal_file.h"
#include "daemon/journal/subnet_journal.h"
#include "daemon/remote_node/join_fabric.h"
#include "daemon/remote_node/joined_host.h"
#include "daemon/remote_node/node_link_methods.h"
#include "daemon/scenario/scenario_methods.h"
#include "daemon/subnet/counter_methods.h"
#include "daemon/subnet/fabric_methods.h"
#include "daemon/subnet/fault_methods.h"
#include "daemon/subnet/forwarding_methods.h"
#include "daemon/subnet/hardware_methods.h"
#include "daemon/subnet/health_methods.h"
#include "daemon/subnet/partition_methods.h"
#include "daemon/subnet/path_methods.h"
#include "daemon/subnet/queue_pair_methods.h"
#include "daemon/web/metrics/link_history.h"
#include "daemon/why/diagnosis.h"
#include "daemon/why/lint_methods.h"
#include "daemon/why/why_events.h"
#include "daemon/why/why_methods.h"
#include "fabric/fabric.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// A FabricBackend owns a fabric, and all that observes or changes it.  With
// --join it has hosts of another daemon's fabric, and the methods that are
// about queue pairs and programs.
class FabricBackend : public Backend {
 public:
  // Makes the fabric.  `loop` must outlive the result.
  //
  // Errors: those of the topology, of --sm, of --addresses and of --journal, or
  // JoinFabric()'s.
  static absl::StatusOr<std::unique_ptr<Backend>> Load(
      const DaemonOptions& options, Loop& loop);
  ~FabricBackend() override;

  Adapters& adapters() override { return adapters_; }
  const AddressPlan& addresses() const override { return addresses_; }
  uint64_t seed() const override { return seed_; }
  EventLog& events() override { return events_; }
  void AddTo(control::MethodTable& dispatcher, HostTable& hosts,
             cuse::UverbsFiles& uverbs_files) override;
  void Greet(nlohmann::json& greeting) const override;
  void Describe(nlohmann::json& status) const override;
  std::string Summary() const override;
  absl::StatusOr<std::unique_ptr<WebServer>> BindWeb(
      const WebAddress& address, control::MethodTable& dispatcher) override;

 private:
  FabricBackend(const DaemonOptions& options, Loop& loop, JoinedFabric fabric);

  absl::Status StartJournal(std::unique_ptr<JournalFile> file,
                            const JournalSubnet& subnet,
                            const JournalContent& content);
  void AddSubnetTo(control::MethodTable& dispatcher);

  // Whose fabric it is that has the hosts here; empty: it is ours.
  const std::string joined_;
  const std::string topology_, sm_;
  const bool exact_;
  const uint64_t seed_;
  Loop& loop_;
  const std::unique_ptr<fabric::Fabric> fabric_;
  const std::unique_ptr<WorkerPool> plugging_, meeting_;
  const std::vector<std::unique_ptr<JoinedHost>> joined_hosts_;
  FabricAdapters adapters_;
  const AddressPlan addresses_;
  FabricMethods methods_;
  FabricEventLog events_;
  FaultMethods faults_;
  EventMethods event_methods_;
  CounterMethods counters_;
  HardwareMethods hardware_;
  PathMethods paths_;
  ForwardingMethods forwarding_;
  HealthMethods health_;
  PartitionMethods partitions_;
  const LinkOutages outages_;
  const Diagnosis diagnosis_;
  QueuePairMethods queue_pairs_;
  std::optional<EndedContexts> ended_contexts_;  // with AddTo()
  std::optional<LintMethods> lint_;              // with AddTo()
  std::optional<MadHistory> mad_history_;        // with AddTo()
  std::optional<RefusedCalls> refused_calls_;    // with AddTo()
  std::optional<WhyEvents> why_events_;          // with AddTo()
  std::optional<WhyMethods> why_;                // with AddTo()
  std::optional<CaptureMethods> captures_;       // with AddTo()
  std::optional<ScenarioMethods> scenarios_;     // with AddTo()
  std::optional<NodeLinkMethods> cables_;        // with AddTo()
  std::optional<LinkHistory> history_;           // with BindWeb()
  std::optional<SubnetJournal> journal_;         // with --journal
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_FABRIC_BACKEND_H_
