// LabOutput: the output of a lab's programs, told apart.
#ifndef IBEMU_CLI_LAB_LAB_OUTPUT_H_
#define IBEMU_CLI_LAB_LAB_OUTPUT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/lab/lab_plan.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::cli {

// An output stream of a program.
enum class LabStream { kStdout, kStderr };
inline constexpr LabStream kLabStreams[] = {LabStream::kStdout,
                                            LabStream::kStderr};

// A LabOutput prints lines as "node-1 | TEXT", those of stderr on stderr; or
// all as JSON, an object a line: {"host": …, "line": …, "stderr": true},
// {"host": …, "state": "started"} or {"host": …, "state": "ended", "status":
// …}, and at last {"state": "ended", "status": …, "reason": …}.
class LabOutput {
 public:
  LabOutput(const LabPlan& plan, bool json);

  // `line` has no newline.
  void Line(const LabProgram& program, LabStream stream, std::string_view line);
  void Started(const LabProgram& program);
  void Ended(const LabProgram& program, int status);
  // `reason`: why it ended early, or empty.
  void LabEnded(int status, std::string_view reason);

  // Returns false once something could not be printed on stdout.
  bool ok() const { return ok_; }

 private:
  void PrintJson(const nlohmann::json& event);

  bool ok_ = true;
  bool json_;
  size_t width_ = 0;  // of the longest label
};

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_LAB_LAB_OUTPUT_H_
