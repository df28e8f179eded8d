// RdmaCmView: rdma_cm as the programs of one view see it: one space of ids over
// all its adapters.
#ifndef IBEMU_RDMA_CM_RDMA_CM_VIEW_H_
#define IBEMU_RDMA_CM_RDMA_CM_VIEW_H_

#include <memory>

#include "base/random.h"
#include "base/timers.h"
#include "rdma_cm/host/adapter.h"
#include "rdma_cm/id.h"
#include "rdma_cm/numbers.h"
#include "rdma_cm/user_id.h"

namespace ibemu::rdma_cm {

// An RdmaCmView has what all opens of rdma_cm share: the numbers of ids and
// joins, and the adapters.  A Channel is one open.
class RdmaCmView final : private AdapterList::Listener {
 public:
  // REQUIRES: `timers` outlives this.
  RdmaCmView(Timers& timers, std::shared_ptr<AdapterList> adapters,
             Random random);
  ~RdmaCmView();
  RdmaCmView(const RdmaCmView&) = delete;
  RdmaCmView& operator=(const RdmaCmView&) = delete;

  AdapterList& adapters() { return *adapters_; }
  Timers& timers() { return parts_.timers; }
  ViewParts& parts() { return parts_; }
  Numbers<UserId>& ids() { return ids_; }
  Numbers<UserJoin>& joins() { return joins_; }

 private:
  void OnAdded(const std::shared_ptr<Adapter>& adapter) override;
  void OnRemoved(const std::shared_ptr<Adapter>& adapter) override;

  const std::shared_ptr<AdapterList> adapters_;
  ViewParts parts_;
  Numbers<UserId> ids_;
  Numbers<UserJoin> joins_;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_RDMA_CM_VIEW_H_
