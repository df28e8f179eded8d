// UnicastSender: packets to single neighbours, by the paths that subnet
// administration names.
#ifndef IBEMU_IPOIB_UNICAST_SENDER_H_
#define IBEMU_IPOIB_UNICAST_SENDER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "ipoib/wire/hardware_address.h"
#include "mad/sa/sa_client.h"
#include "verbs/provider.h"
#include "wire/types.h"

namespace ibemu::ipoib {

// A UnicastSender asks for a path when it is needed, and lets few packets wait
// for it.  It knows no more than kMaxPaths, whatever a peer invents.
class UnicastSender {
 public:
  static constexpr size_t kMaxPaths = 1024;
  static constexpr size_t kMaxWaiting = 3;  // for a path, as in Linux

  using Transmit =
      absl::AnyInvocable<void(const verbs::AddressAttributes& to, uint32_t qpn,
                              const std::vector<std::byte>& packet)>;

  // `sa` must outlive this.
  UnicastSender(mad::SaClient& sa, int port, Transmit transmit);

  // Sends a packet, now or when the path is known; or loses it.
  void Send(const wire::Gid& source, uint16_t pkey, const HardwareAddress& to,
            std::vector<std::byte> packet);

  // Forgets all paths, and what waits for them.
  void Forget() { paths_.clear(); }

 private:
  using Key = std::pair<uint64_t, uint64_t>;  // a GID
  struct Waiting {
    uint32_t qpn = 0;
    std::vector<std::byte> packet;
  };
  struct Path {
    std::optional<verbs::AddressAttributes> address;  // once it is known
    std::vector<Waiting> waiting;
    std::unique_ptr<mad::SaQuery> query;
  };

  bool MakeRoom();
  void OnPath(const Key& key, const absl::StatusOr<mad::PathRecord>& record);

  mad::SaClient& sa_;
  const int port_;
  Transmit transmit_;
  std::map<Key, Path> paths_;
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_UNICAST_SENDER_H_
