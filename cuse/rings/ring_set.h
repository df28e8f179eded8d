// RingSet: the rings that all clients of a daemon share with it.
#ifndef IBEMU_CUSE_RINGS_RING_SET_H_
#define IBEMU_CUSE_RINGS_RING_SET_H_

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
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
  // A client that has rings, and the file that they are of.
  struct Client {
    uid_t user = 0;
    pid_t process = 0;
    std::string file;  // for people
  };

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
    Client client_;
    bool served_ = false;
    int vain_ = 0;  // looks in a row that found nothing
  };

  // So many files have rings at most, and so many of one user: each takes a
  // mapping of up to half a MiB, and a look while it is used.
  static constexpr size_t kMax = 1024;
  static constexpr size_t kMaxOfUser = 64;

  RingSet() = default;
  RingSet(const RingSet&) = delete;
  RingSet& operator=(const RingSet&) = delete;

  // Returns true if a file of this user may have rings.
  bool HasRoomFor(uid_t user) const;

  // Serves `rings` once they are Used().  REQUIRES: HasRoomFor(client.user);
  // `rings` live until Remove().
  void Add(Rings& rings, Client client);
  void Remove(Rings& rings);

  // Called when a call came by the device file: the next ones may come by the
  // rings.
  void Used(Rings& rings);

  // How many calls of a client went which way, by Way.
  struct Usage {
    Client client;
    std::array<uint32_t, fast_path::kWays> sent;
    std::array<uint32_t, fast_path::kWays> received;
  };
  // Returns what clients say of themselves, in the order in which they came.
  std::vector<Usage> Usages() const;

  bool Look() override;
  bool BeforeSleep() override;
  void AfterSleep() override;

 private:
  void Park(Rings& rings);

  absl::flat_hash_map<uid_t, size_t> users_;
  std::vector<Rings*> all_;
  // Entries of a Look() that is under way become null instead of moving.
  std::vector<Rings*> served_;
};

// Tells a client that something was put into its rings, and wakes it if it
// sleeps.
void WakeClient(fast_path::RingControl& control);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_RINGS_RING_SET_H_
