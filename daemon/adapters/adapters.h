// The seam between views of adapters and the back end that has them.
#ifndef IBEMU_DAEMON_ADAPTERS_ADAPTERS_H_
#define IBEMU_DAEMON_ADAPTERS_ADAPTERS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mad/device.h"
#include "verbs/provider.h"

namespace ibemu::daemon {

// What a back end calls an adapter, for as long as the back end lives.
enum class AdapterId : uint32_t {};

// The adapters that hosts may be shown.
class Adapters {
 public:
  class Listener {
   public:
    // One was pulled out of its host, or plugged in.
    virtual void OnAdapterChange(AdapterId adapter, bool present) = 0;

   protected:
    ~Listener() = default;
  };

  Adapters() = default;
  Adapters(const Adapters&) = delete;
  Adapters& operator=(const Adapters&) = delete;
  virtual ~Adapters() = default;

  // At most one; nullptr takes it away.  Not owned.
  void SetListener(Listener* listener) { listener_ = listener; }

  // The one that --host calls `name`.  Errors: NotFound, with what was meant.
  virtual absl::StatusOr<AdapterId> Find(std::string_view name) const = 0;

  // The one that is shown when none is named.  Errors: NotFound.
  virtual absl::StatusOr<AdapterId> Default() const = 0;

  // Errors: FailedPrecondition with the reason why nobody may be shown it now.
  virtual absl::Status CheckShowable(AdapterId adapter) const = 0;

  // True when it is pulled out or not, too.
  virtual std::string description(AdapterId adapter) const = 0;
  virtual wire::Guid node_guid(AdapterId adapter) const = 0;

  // Both stay until this goes, whether the adapter is there or not.
  virtual mad::Device& device(AdapterId adapter) = 0;
  virtual verbs::Provider& provider(AdapterId adapter) = 0;

 protected:
  // The adapter's mad::Host has been told.
  void TellChange(AdapterId adapter, bool present) {
    if (listener_ != nullptr) listener_->OnAdapterChange(adapter, present);
  }

 private:
  Listener* listener_ = nullptr;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ADAPTERS_ADAPTERS_H_
