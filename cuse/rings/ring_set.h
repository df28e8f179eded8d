// RingSet: the rings that all clients of a daemon share with it.
#ifndef IBEMU_CUSE_RINGS_RING_SET_H_
#define IBEMU_CUSE_RINGS_RING_SET_H_

#include <sys/types.h>

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/polled_source.h"
#include "fast_path/rings/ring_control.h"

namespace ibemu::cuse {

// A RingSet looks into the rings of those clients that used them lately.  The
// others are told that the daemon sleeps, whether it does or not, so that their
// next call comes by the device file.
class RingSet final : public PolledSource {
 public:
  // The rings of one open file.
  class Rings {
   public:
    // Handles some of the calls that wait in the rings.  Returns false if there
    // were none.
    virtual bool Drain() = 0;

    // Returns true if calls wait.
    virtual bool HasCalls() const = 0;

    virtual fast_path::RingControl& control() = 0;

   protected:
    ~Rings() = default;

   private:
    friend class RingSet;
    uid_t user_ = 0;
    bool served_ = false;
    int vain_ = 0;  // looks in a row that found nothing
  };

  // So many files have rings at most, and so many of one user, for each takes
  // 1.6 MiB and a look.
  static constexpr size_t kMost = 1024;
  static constexpr size_t kMostOfUser = 64;

  RingSet() = default;
  RingSet(const RingSet&) = delete;
  RingSet& operator=(const RingSet&) = delete;

  // Returns true if a file of this user may have rings.
  bool HasRoomFor(uid_t user) const;

  // Takes part in their life: they are served when they are Used().  REQUIRES:
  // HasRoomFor(user); `rings` live until Remove().
  void Add(Rings& rings, uid_t user);
  void Remove(Rings& rings);

  // Called when a call came by the device file: the next ones may come by the
  // rings.
  void Used(Rings& rings);

  bool Look() override;
  bool BeforeSleep() override;
  void AfterSleep() override;

 private:
  void Park(Rings& rings);

  absl::flat_hash_map<uid_t, size_t> users_;
  size_t size_ = 0;
  // Entries of a Look() that is under way become null instead of moving.
  std::vector<Rings*> served_;
};

// Tells a client that sleeps that something was put into its rings.
void WakeClient(fast_path::RingControl& control);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_RINGS_RING_SET_H_
