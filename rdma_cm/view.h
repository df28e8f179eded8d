// View: rdma_cm as the programs of one view see it: one space of ids over all
// its adapters.
#ifndef IBEMU_RDMA_CM_VIEW_H_
#define IBEMU_RDMA_CM_VIEW_H_

#include <memory>

#include "base/random.h"
#include "base/timers.h"
#include "rdma_cm/adapter.h"

namespace ibemu::rdma_cm {

class View {
 public:
  // REQUIRES: `timers` outlives this.
  View(Timers& timers, std::shared_ptr<AdapterList> adapters, Random random);
  ~View();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_VIEW_H_
