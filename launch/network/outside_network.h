// OutsideNetwork: the way from the network of a run to the machine's.
#ifndef IBEMU_LAUNCH_NETWORK_OUTSIDE_NETWORK_H_
#define IBEMU_LAUNCH_NETWORK_OUTSIDE_NETWORK_H_

#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "launch/namespaces.h"
#include "launch/network/outside_program.h"

namespace ibemu::launch {

// An OutsideNetwork is a process that was forked to start an OutsideProgram,
// and ends it when this object goes, or the process that has made it.
class OutsideNetwork {
 public:
  // Forks: to be called before the launcher changes its namespaces, for the
  // program has to stay in the machine's network.  `program` must outlive this.
  //
  // Errors: NotFound, with the cure, if the program is not installed; else
  // those of fork(2).
  static absl::StatusOr<OutsideNetwork> Fork(const OutsideProgram& program);

  OutsideNetwork(OutsideNetwork&&) = default;
  OutsideNetwork& operator=(OutsideNetwork&&) = delete;
  ~OutsideNetwork();

  // Connects the network namespace that the calling process, the one that has
  // called Fork(), is in by now; returns when there is a default route.
  // `privilege`: EnterNamespaces()'s.
  //
  // Errors: FailedPrecondition with the last lines that the program has said,
  // or that it can't join what root has made; DeadlineExceeded.
  absl::Status Connect(Privilege privilege);

  // Where names are asked for; nothing: there is no IPv4.  REQUIRES: it is
  // connected.
  std::optional<std::string_view> NameServer() const {
    if (!has_ipv4_) return std::nullopt;
    return program_->name_server;
  }

 private:
  OutsideNetwork(const OutsideProgram& program, UniqueFd process, UniqueFd line)
      : program_(&program),
        process_(std::move(process)),
        line_(std::move(line)) {}

  const OutsideProgram* program_;
  UniqueFd process_;  // pidfd
  bool has_ipv4_ = false;
  UniqueFd line_;  // to it: a byte to start, an end of file to end
};

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_NETWORK_OUTSIDE_NETWORK_H_
