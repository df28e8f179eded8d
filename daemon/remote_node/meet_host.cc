#include "daemon/remote_node/meet_host.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/secret.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "control/client.h"
#include "launch/pass_descriptor.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

// Of the daemon or of ibemu-peers, for each word.
constexpr absl::Duration kSaysWithin = absl::Milliseconds(500);
// For the other host.
constexpr absl::Duration kMeetsWithin = absl::Seconds(10);
// Of the workers' clients, beside the leases' numbers.
constexpr ClientId kAsksForPackets{uint64_t{1} << 32};

// The line by which the connection to the other host will come.
absl::StatusOr<UniqueFd> OpenLine(const Authority& authority,
                                  const NodeLinkLease& lease,
                                  const std::string& address) {
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         authority.Connect(kSaysWithin));
  nlohmann::json parameters = {{"token", SecretText(lease.token)}};
  if (!address.empty()) parameters["address"] = address;
  return client.OpenStream("lease.meet", parameters);
}

// A line that is waited for.
struct Awaited {
  Loop& loop;
  UniqueFd line;
  HostLeases::Met met;
  TimerId limit = TimerId::kNone;

  void End(absl::StatusOr<UniqueFd> socket) {
    loop.Cancel(limit);
    loop.Forget(line.get());
    met(std::move(socket));
  }
};

// Has `open` open a line beside the loop, and awaits what comes by it.
void AwaitBeside(Loop& loop, WorkerPool& workers, ClientId client,
                 absl::AnyInvocable<absl::StatusOr<UniqueFd>()> open,
                 absl::AnyInvocable<void()> ready, HostLeases::Met met) {
  const auto line = std::make_shared<absl::StatusOr<UniqueFd>>(
      absl::UnavailableError("the daemon does not answer"));
  workers.Run(
      client, [line, open = std::move(open)]() mutable { *line = open(); },
      [&loop, line, ready = std::move(ready),
       met = std::move(met)](WorkerPool::Outcome outcome) mutable {
        if (outcome != WorkerPool::Outcome::kDone) {
          return met(absl::DeadlineExceededError("the daemon is too slow"));
        }
        if (!line->ok()) return met(line->status());
        ready();
        AwaitConnection(loop, *std::move(*line), std::move(met));
      });
}

}  // namespace

void AwaitConnection(Loop& loop, UniqueFd line, HostLeases::Met met) {
  const auto awaited =
      std::make_shared<Awaited>(Awaited{loop, std::move(line), std::move(met)});
  const absl::Status watched = loop.Watch(awaited->line.get(), [awaited] {
    UniqueFd socket = launch::ReceiveDescriptor(awaited->line.get());
    if (socket.valid()) return awaited->End(std::move(socket));
    awaited->End(absl::UnavailableError("the other host has not come"));
  });
  if (!watched.ok()) return awaited->met(watched);
  awaited->limit = loop.RunAfter(kMeetsWithin, [awaited] {
    awaited->End(absl::DeadlineExceededError("the other host does not come"));
  });
}

HostLeases::Meet MeetThrough(Loop& loop, WorkerPool& workers,
                             std::shared_ptr<const Authority> authority) {
  return [&loop, &workers, authority = std::move(authority)](
             const NodeLinkLease& lease, const std::string& address,
             absl::AnyInvocable<void()> ready, HostLeases::Met met) {
    AwaitBeside(
        loop, workers, ClientId{lease.number},
        [authority, lease, address] {
          return OpenLine(*authority, lease, address);
        },
        std::move(ready), std::move(met));
  };
}

std::function<void(const std::string& first, uint32_t number,
                   HostLeases::Met met)>
AskForPacketsThrough(Loop& loop, WorkerPool& workers,
                     std::shared_ptr<const Authority> authority) {
  return [&loop, &workers, authority = std::move(authority)](
             const std::string& first, uint32_t number, HostLeases::Met met) {
    AwaitBeside(
        loop, workers, kAsksForPackets,
        [authority, first, number]() -> absl::StatusOr<UniqueFd> {
          IBEMU_ASSIGN_OR_RETURN(control::Client client,
                                 authority->Connect(kSaysWithin));
          return client.OpenStream("packets.again",
                                   {{"first", first},
                                    {"token", SecretText(DrawSecret())},
                                    {"number", number}});
        },
        [] {}, std::move(met));
  };
}

}  // namespace ibemu::daemon
