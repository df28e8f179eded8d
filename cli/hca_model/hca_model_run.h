// The program `ibemu-hca-model`: a virtual machine whose adapter is a node of
// the fabric.
#ifndef IBEMU_CLI_HCA_MODEL_HCA_MODEL_RUN_H_
#define IBEMU_CLI_HCA_MODEL_HCA_MODEL_RUN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ibemu::cli {

// An HcaModelOptions is the command line of ibemu-hca-model(1): the daemon, the
// node whose adapter the machine gets, and how QEMU is started.
struct HcaModelOptions {
  // Options of the private daemon.  None of them can be combined with `fabric`.
  std::optional<std::string> topology;  // default "back-to-back"
  std::optional<std::string> sm;
  std::optional<uint64_t> seed;

  // A running daemon, as in RunOptions.  If this and the three above are
  // missing, IBEMU_FABRIC counts.
  std::optional<std::string> fabric;

  std::string host;               // the node whose adapter it has; not empty
  std::vector<std::string> qemu;  // program and arguments; not empty
  bool statistics = false;        // print some at the end
  // A file that gets a line for each command of the guest's driver.
  std::optional<std::string> trace;
};

// Runs the machine and returns what main() returns: QEMU's exit status, or
// kRunFailed and the like (cli/run/run.h) after one sentence on stderr.
int RunHcaModel(const HcaModelOptions& options);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_HCA_MODEL_HCA_MODEL_RUN_H_
