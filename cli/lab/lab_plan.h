// LabPlan: a fabric and the programs on its hosts.
#ifndef IBEMU_CLI_LAB_LAB_PLAN_H_
#define IBEMU_CLI_LAB_LAB_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "launch/child.h"

namespace ibemu::cli {

// A LabProgram is one program of a lab.
struct LabProgram {
  enum class Kind {
    kCommand,   // the lab ends when all of them have ended
    kService,   // goes on until the commands have ended
    kScenario,  // `ibemu scenario`: may end before the commands, or not
  };

  Kind kind = Kind::kCommand;
  std::string label;  // of its output: the host, or "scenario"
  int line = 0;       // of the file
  // Of ibemu, --fabric excepted: "run --host=node-1 -- ibstat".
  std::vector<std::string> arguments;
  launch::Variables environment;  // beside the caller's
  // The program is ready when it has printed a line with this text.  Without
  // one, when it has ended.
  std::optional<std::string> ready;
  // Those that must be ready before it starts, as places in
  // LabPlan::programs.  There are no cycles.
  std::vector<size_t> after;
};

// A LabPlan is a file of ibemu-lab(5) as values.  The numbers of lines are for
// errors that show only when the lab starts.
struct LabPlan {
  std::string file;
  std::string name;      // of the fabric: --fabric's
  std::string topology;  // a generator's SPEC, or a file; empty: back-to-back
  std::optional<std::string> sm, addresses;  // ibemud's
  // The other daemon's subnet that has the hosts, as ibemud's --join has it;
  // empty: there is one of this lab alone.  None of `topology`, `sm`, `seed`,
  // `addresses` and `listen` goes together with it, and no scenario.
  std::string join;
  int join_line = 0;
  std::optional<std::string> listen;  // ibemud's: where other machines may join
  int listen_line = 0;
  std::string certificates;  // --certs of either; empty: the usual one
  std::optional<uint64_t> seed;
  absl::Duration timeout = absl::InfiniteDuration();
  std::vector<LabProgram> programs;  // not empty
};

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_LAB_LAB_PLAN_H_
