// The outstanding sends of an agent.
#ifndef IBEMU_MAD_TRANSACTION_H_
#define IBEMU_MAD_TRANSACTION_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/time/time.h"
#include "base/timers.h"
#include "mad/address.h"
#include "mad/rmpp_sender.h"
#include "mad/wire/mad_header.h"

namespace ibemu::mad {

// A Transaction is one send that waits for its answer or, with RMPP, for ACKs.
struct Transaction {
  uint64_t tid = 0;
  MgmtClass mgmt_class{};
  bool is_response = false;
  uint64_t cookie = 0;
  absl::Duration timeout = absl::ZeroDuration();
  int tries = 1, retries_left = 0;  // of a plain MAD
  absl::Time begin{};  // of the first try, with RMPP of the last new ACK
  TimerId timer = TimerId::kNone;

  // A plain MAD as it was sent, to be sent again.  With RMPP only the
  // destination counts, because `rmpp` makes the segments.
  Outgoing packet;
  std::unique_ptr<RmppSender> rmpp;
};

// A TransactionTable holds the outstanding sends of one agent, by TID.  It
// keeps spare entries, so that a send allocates only its place in the index.
class TransactionTable {
 public:
  // Adds an entry, which stays at its address until Remove().
  Transaction& Add(uint64_t tid);

  // Returns all entries with this TID, oldest first.  Usually there is at most
  // one.
  std::span<const std::unique_ptr<Transaction>> With(uint64_t tid) const;

  void Remove(const Transaction& transaction);
  void Clear() { by_tid_.clear(); }

  // Calls visit(transaction) for all entries, in no particular order.
  template <class Visitor>
  void ForEach(Visitor&& visit) const {
    for (const auto& [tid, transactions] : by_tid_) {
      for (const auto& transaction : transactions) visit(*transaction);
    }
  }

 private:
  static constexpr size_t kSpares = 64;

  using Transactions = absl::InlinedVector<std::unique_ptr<Transaction>, 1>;

  absl::flat_hash_map<uint64_t, Transactions> by_tid_;
  std::vector<std::unique_ptr<Transaction>> spares_;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_TRANSACTION_H_
