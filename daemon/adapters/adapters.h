// The interface between views of adapters and the back end that has the
// adapters.
#ifndef IBEMU_DAEMON_ADAPTERS_ADAPTERS_H_
#define IBEMU_DAEMON_ADAPTERS_ADAPTERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mad/device.h"
#include "verbs/hw_counters.h"
#include "verbs/provider.h"

namespace ibemu::daemon {

// The back end's number of an adapter.  It stays valid as long as the back end
// lives.
enum class AdapterId : uint32_t {};

// An Adapters holds the adapters of one back end, each of which can be shown to
// programs as a host's.
class Adapters {
 public:
  class Listener {
   public:
    // Called when an adapter was plugged into its host (`present`) or pulled
    // out.
    virtual void OnAdapterChange(AdapterId adapter, bool present) = 0;

   protected:
    ~Listener() = default;
  };

  Adapters() = default;
  Adapters(const Adapters&) = delete;
  Adapters& operator=(const Adapters&) = delete;
  virtual ~Adapters() = default;

  // Sets the only listener, or removes it if null.  Not owned.
  void SetListener(Listener* listener) { listener_ = listener; }

  // Returns the adapter that --host calls `name`.
  //
  // Errors: NotFound, with a suggestion; InvalidArgument if the name is
  // ambiguous.
  virtual absl::StatusOr<AdapterId> Find(std::string_view name) const = 0;

  // Returns the adapters that --host calls `name`: that one, or those of a host
  // where the back end knows of hosts.
  //
  // Errors: as Find().
  virtual absl::StatusOr<std::vector<AdapterId>> FindHost(
      std::string_view name) const {
    const absl::StatusOr<AdapterId> found = Find(name);
    if (!found.ok()) return found.status();
    return std::vector<AdapterId>{*found};
  }

  // Returns the adapter that has a port of this GUID, if there is one.
  virtual std::optional<AdapterId> WithPortGuid(wire::Guid guid) const = 0;

  // Returns the adapter that is shown when the user names none.
  //
  // Errors: NotFound.
  virtual absl::StatusOr<AdapterId> Default() const = 0;

  // Whether it is pulled out of its host, and can be put back.
  virtual bool IsRemoved(AdapterId adapter) const = 0;

  // Returns OK if the adapter can be shown now.
  //
  // Errors: FailedPrecondition, with the reason.
  virtual absl::Status CheckShowable(AdapterId adapter) const = 0;

  // These two are valid for an adapter that is pulled out, too.
  virtual std::string description(AdapterId adapter) const = 0;
  virtual wire::Guid node_guid(AdapterId adapter) const = 0;

  // Returns the device and the verbs of an adapter.  Both live as long as this
  // object, even while the adapter is pulled out.
  virtual mad::Device& device(AdapterId adapter) = 0;
  virtual verbs::Provider& provider(AdapterId adapter) = 0;

  // Returns what the adapter's queue pairs have counted at a port; zeros where
  // that is not known.
  virtual verbs::HwCounters CountersOf(AdapterId /*adapter*/,
                                       int /*port*/) const {
    return {};
  }

 protected:
  // Tells the listener.  REQUIRES: the adapter's mad::Host knows of the change.
  void TellChange(AdapterId adapter, bool present) {
    if (listener_ != nullptr) listener_->OnAdapterChange(adapter, present);
  }

 private:
  Listener* listener_ = nullptr;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ADAPTERS_ADAPTERS_H_
