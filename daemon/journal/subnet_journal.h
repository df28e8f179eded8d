// SubnetJournal: the writer of a subnet's journal.
#ifndef IBEMU_DAEMON_JOURNAL_SUBNET_JOURNAL_H_
#define IBEMU_DAEMON_JOURNAL_SUBNET_JOURNAL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/deferred_call.h"
#include "base/timers.h"
#include "daemon/journal/journal_content.h"
#include "daemon/journal/journal_file.h"
#include "daemon/subnet/fabric_methods.h"
#include "daemon/subnet/fault_methods.h"
#include "fabric/fabric.h"
#include "fabric/subnet/fabric_watcher.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::daemon {

// A SubnetJournal says what is to be written to its file, and when.  What was
// done to the subnet is written by Write(), or soon if nobody calls it; LIDs,
// and which hosts are elsewhere no more, when kQuiet has passed, so that the
// sweep of a subnet manager is few transactions.  A write that fails is tried
// again, and the log says so once.
class SubnetJournal final : private fabric::FabricWatcher {
 public:
  static constexpr absl::Duration kQuiet = absl::Milliseconds(200);
  // LIDs of so many ports are written at once, and the next ones after kPause.
  static constexpr size_t kBatch = 1000;
  static constexpr absl::Duration kPause = absl::Milliseconds(20);
  static constexpr absl::Duration kRetry = absl::Seconds(10);
  // So long a node whose adapter was elsewhere when the last daemon ended is
  // taken for such a node.
  static constexpr absl::Duration kRejoinsWithin = absl::Minutes(1);

  // All must outlive this.  `content`: what was in `file`, with which the
  // fabric was restored; nothing else has changed it but a subnet manager.
  // `since_1970`: what the clock of `timers` lacks.
  SubnetJournal(Timers& timers, fabric::Fabric& fabric, FabricMethods& links,
                FaultMethods& faults, std::unique_ptr<JournalFile> file,
                const JournalContent& content, absl::Duration since_1970);
  ~SubnetJournal();
  SubnetJournal(const SubnetJournal&) = delete;
  SubnetJournal& operator=(const SubnetJournal&) = delete;

  // Adds the faults and reverts of `content`.  A fault of what is not as it was
  // is left out, and the log says so.  Then lets the file be the journal of
  // `subnet`, and writes what has changed.
  //
  // Errors, which begin with the file's path: DataLoss for a fault that is
  // none, and the file stays as it is; those of JournalFile::Accept().
  absl::Status Start(const JournalSubnet& subnet,
                     const JournalContent& content);

  // Writes what was done to the subnet since the last call.
  void Write();
  // The same, and the LIDs that wait, at a daemon's end.
  void WriteAll();

  // The nodes whose adapters were elsewhere when the last daemon ended.
  const std::vector<topology::NodeId>& joined() const { return joined_; }

  // {"file": "/var/lib/ibemu/lab.journal", "error": ""}
  nlohmann::json Describe() const;

 private:
  // fabric::FabricWatcher
  void OnPortChange(fabric::PortId port) override;
  void OnHardwareChange(fabric::PortId port) override;
  void OnTrap(fabric::PortId, const mad::Notice&, bool) override {}
  void OnDrop(const fabric::DroppedPacket&) override {}

  // Adds the port, and its node, unless they are as they were written.
  void Look(fabric::PortId id, bool at_once, JournalChange& change) const;
  JournalPort PortNow(fabric::PortId id) const;
  JournalNode NodeNow(topology::NodeId id) const;
  std::vector<JournalRevert> RevertsNow() const;
  void AddLists(JournalChange& change) const;
  absl::Status Put(const JournalChange& change);
  // Put(), and the log says when that begins to fail, and ends.
  bool TryPut(const JournalChange& change);
  void WriteLater(absl::Duration delay);
  void WriteQuietly();

  Timers& timers_;
  fabric::Fabric& fabric_;
  FabricMethods& links_;
  FaultMethods& faults_;
  const std::unique_ptr<JournalFile> file_;
  const absl::Duration since_1970_;
  std::vector<topology::NodeId> joined_;
  bool awaits_joined_ = true;
  // As they are in the file, or as the topology says.
  std::vector<JournalNode> nodes_;
  std::vector<JournalPort> ports_;
  uint64_t faults_version_ = 0, reverts_version_ = 0;
  // What may be otherwise.
  absl::flat_hash_set<fabric::PortId> at_once_, later_;
  TimerId timer_ = TimerId::kNone;
  TimerId joined_timer_ = TimerId::kNone;
  std::string error_;
  DeferredCall write_{timers_, [this] { Write(); }};
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_JOURNAL_SUBNET_JOURNAL_H_
