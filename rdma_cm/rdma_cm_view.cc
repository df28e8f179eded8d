#include "rdma_cm/rdma_cm_view.h"

#include <utility>
#include <vector>

namespace ibemu::rdma_cm {

RdmaCmView::RdmaCmView(Timers& timers, std::shared_ptr<AdapterList> adapters,
                       Random random)
    : adapters_(std::move(adapters)),
      parts_{.timers = timers,
             .adapters = *adapters_,
             .random = Random(random.Next()),
             .routing = Routing(*adapters_),
             .ports = PortChooser(Random(random.Next()))} {
  adapters_->AddListener(static_cast<AdapterList::Listener&>(*this));
}

RdmaCmView::~RdmaCmView() {
  adapters_->RemoveListener(static_cast<AdapterList::Listener&>(*this));
}

void RdmaCmView::OnAdded(const std::shared_ptr<Adapter>& adapter) {
  for (const std::shared_ptr<UserId>& id : ids_.all()) {
    if (id != nullptr && id->id() != nullptr) id->id()->OnAdapterAdded(adapter);
  }
}

// An id that ends takes those of its requests with it only when the program
// destroys it.
void RdmaCmView::OnRemoved(const std::shared_ptr<Adapter>& adapter) {
  const std::vector<std::shared_ptr<UserId>> ids = ids_.all();
  for (const std::shared_ptr<UserId>& id : ids) {
    if (id == nullptr || id->id() == nullptr) continue;
    if (!id->id()->OnAdapterRemoved(adapter)) continue;
    id->owner().OnEvent(id, {.type = EventType::kDeviceRemoval});
    id->End();
  }
}

}  // namespace ibemu::rdma_cm
