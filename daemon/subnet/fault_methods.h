// The methods of the control socket for faults of links, nodes, queue pairs and
// hosts.
#ifndef IBEMU_DAEMON_SUBNET_FAULT_METHODS_H_
#define IBEMU_DAEMON_SUBNET_FAULT_METHODS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/timers.h"
#include "control/method_table.h"
#include "daemon/events/fabric_event_log.h"
#include "daemon/subnet/adapter_fault.h"
#include "daemon/subnet/fault_names.h"
#include "daemon/words/fault_words.h"
#include "fabric/fabric.h"
#include "fabric/faults/link_flap.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {

// A fault as it can be added again to the same fabric, when its daemon has
// ended.
struct StoredFault {
  std::string name;
  std::vector<std::string> words;  // as fault.add takes them
  std::optional<uint64_t> seed;    // its parameter, not that of the words
  topology::NodeId node{};         // whatever name the words have for it

  bool operator==(const StoredFault&) const = default;
};

// A FaultMethods owns the fabric's faults.  Each has a name, and stays until it
// is removed by that name.
class FaultMethods {
 public:
  static constexpr size_t kMaxFaults =
      500;  // the list of them is a single line

  // How many of those that acted and are over are remembered.
  static constexpr size_t kMaxPast = 100;

  // Returns true if there is a process with this number now.
  using ProcessExists = std::function<bool(uint64_t process)>;

  // All must outlive this object.  `exists`: null: the machine tells.
  FaultMethods(Timers& timers, fabric::Fabric& fabric, FabricEventLog& events,
               ProcessExists exists = nullptr);
  FaultMethods(const FaultMethods&) = delete;
  FaultMethods& operator=(const FaultMethods&) = delete;
  ~FaultMethods();

  // Adds fault.add, fault.list, fault.remove and fault.reset.  What a fault
  // does once is done by fault.add, and not kept ("done": true).  This object
  // must outlive the last call of `dispatcher`.
  void AddTo(control::MethodTable& dispatcher);

  // Returns the error that fault.add would return for these words if the name
  // were free.
  absl::Status Check(const std::string& name,
                     const std::vector<std::string>& words) const;

  // Returns the faults that outlive the daemon, in the order in which they were
  // added: not those of a process, and of one queue pair, which end with it.
  std::vector<StoredFault> Stored() const;
  // Has another value after each change of Stored().
  uint64_t version() const { return version_; }
  // Adds a fault of Stored() again.  What it counts begins anew.
  //
  // Errors: NotFound, FailedPrecondition: what it is of is not as it was;
  // others as those of fault.add.
  absl::Status Restore(const StoredFault& stored);

  bool Has(std::string_view name) const { return faults_.contains(name); }

  const FaultNames& names() const { return names_; }

  // Returns what the faults of these nodes, or of a process, have done, those
  // that are over first: "name", "what", "acts" (how often), "removed".
  nlohmann::json Acted(const std::vector<topology::NodeId>& nodes,
                       uint64_t process) const;

 private:
  struct Fault {
    FaultRequest request;
    std::vector<std::string> words;
    std::optional<uint64_t> seed;  // of fault.add
    uint64_t added = 0;            // grows from fault to fault
    topology::NodeId node{};
    std::optional<fabric::FaultId> transmit, receive;
    std::optional<fabric::AgentFaultId> answers;
    std::unique_ptr<fabric::LinkFlap> flap;
    uint32_t flap_number = 0;  // of what it cuts
    std::unique_ptr<AdapterFault> adapter;
  };

  // What acted, and is over.
  struct Past {
    topology::NodeId node{};
    uint64_t process = 0;  // 0: it was the node's
    nlohmann::json acted;
  };

  absl::StatusOr<nlohmann::json> Add(control::Parameters& parameters);
  absl::StatusOr<nlohmann::json> List(control::Parameters& parameters) const;
  absl::StatusOr<nlohmann::json> Remove(control::Parameters& parameters);
  absl::StatusOr<nlohmann::json> Reset(control::Parameters& parameters);

  // Returns why no fault of this name can be added.
  absl::Status CheckFree(const std::string& name) const;
  absl::Status Begin(const std::string& name, Fault fault);
  absl::StatusOr<nlohmann::json> Act(const std::string& name,
                                     const Fault& fault);
  // Returns the node that the fault is of, none in particular if it is of a
  // process.
  //
  // Errors: NotFound, FailedPrecondition: what it is of is not there.
  absl::StatusOr<topology::NodeId> FindPlace(const FaultRequest& request) const;
  absl::Status CheckPlace(topology::NodeId node,
                          const FaultRequest& request) const;
  absl::Status Install(std::string_view name, Fault& fault,
                       const fabric::FaultChance& chance);
  absl::Status InstallOnLink(Fault& fault, const fabric::FaultChance& chance);
  // Returns whether the port's cable leads to the rest of another daemon's
  // subnet.
  bool IsJoined(topology::NodeId node, int port) const;
  std::unique_ptr<fabric::LinkFlap> Flap(const Fault& fault,
                                         const fabric::FaultChance& chance);
  std::string FreeName() const;
  // Those that packets have from it.
  static std::vector<uint32_t> NumbersOf(const Fault& fault);
  void Tell(const std::string& name, const Fault& fault, const char* state);
  nlohmann::json Describe(std::string_view name, const Fault& fault) const;
  void TakeOut(const std::string& name, const Fault& fault);
  void Keep(const std::string& name, const Fault& fault, uint64_t acts,
            bool removed);

  Timers& timers_;
  fabric::Fabric& fabric_;
  FabricEventLog& events_;
  const ProcessExists exists_;
  std::map<std::string, Fault, std::less<>> faults_;
  uint64_t version_ = 0;
  FaultNames names_;
  std::vector<Past> past_;  // the latest last
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SUBNET_FAULT_METHODS_H_
