// The console of ibsim, on top of the methods of the control socket.
#ifndef IBEMU_CLI_CONSOLE_CONSOLE_H_
#define IBEMU_CLI_CONSOLE_CONSOLE_H_

#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cli/console/console_line.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::cli {

// A Console carries out the commands of ibsim's console by method calls on the
// daemon, and prints what they tell.  A command that fails does not end it: the
// error is printed as a comment, and counted in failures().
class Console {
 public:
  using Call = std::function<absl::StatusOr<nlohmann::json>(
      const char* method, const nlohmann::json& parameters)>;
  using Sleep = std::function<void(absl::Duration)>;

  // `call`: calls a method of the daemon.  `out` must outlive this object.
  Console(Call call, Sleep sleep, std::ostream& out);

  // Carries out a line.  Returns false if it was "Quit".
  bool Do(std::string_view text) { return Do(text, 0); }

  // Returns the number of lines that were not carried out.
  int failures() const { return failures_; }

 private:
  using Place = ConsoleLine::Place;

  bool Do(std::string_view text, int depth);
  absl::Status CarryOut(const ConsoleLine& line, int depth);
  absl::Status DoFile(const std::string& name, int depth);
  absl::Status Attached();
  absl::Status Baselid(const ConsoleLine& line);
  absl::Status Dump(const ConsoleLine& line);
  absl::Status Error(const ConsoleLine& line);
  absl::Status Guid(const ConsoleLine& line);
  absl::Status Link(const ConsoleLine& line);
  absl::Status PerformanceSet(const ConsoleLine& line);
  absl::Status Route(const ConsoleLine& line);
  absl::Status Wait(const ConsoleLine& line);

  // The commands Unlink, ReLink and Clear, for a port or for all ports that
  // have a cable.
  absl::Status SetLinks(const Place& place, bool up);
  absl::Status Clear(const Place& place);
  absl::Status SetLoss(const nlohmann::json& node, int port, int percent,
                       const std::string& attribute);
  // Returns the port that has `lid`.
  absl::StatusOr<Place> FindLid(int lid);
  // Returns a node as node.show describes it.
  absl::StatusOr<nlohmann::json> Show(const std::string& node);
  // Calls `use` for each node, described as by the method `nodes`.
  absl::Status ForEachNode(
      const std::function<absl::Status(const nlohmann::json& node)>& use);

  Call call_;
  Sleep sleep_;
  std::ostream& out_;
  int failures_ = 0;
  bool leave_ = false;
};

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_CONSOLE_CONSOLE_H_
