// LabProcess: a program of a lab that runs.
#ifndef IBEMU_CLI_LAB_LAB_PROCESS_H_
#define IBEMU_CLI_LAB_LAB_PROCESS_H_

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "cli/lab/lab_output.h"
#include "cli/lab/lab_plan.h"

namespace ibemu::cli {

// A LabProcess is a child, first of a process group of its own, and the lines
// that it prints.  Whoever destroys it has ended it.
class LabProcess {
 public:
  // Starts a program on the fabric whose socket is at `fabric`.  The caller has
  // one thread.
  static absl::StatusOr<LabProcess> Start(const LabProgram& program,
                                          const std::string& fabric);

  LabProcess(LabProcess&&) = default;
  LabProcess& operator=(LabProcess&&) = default;

  pid_t pid() const { return pid_; }
  // The descriptor on which a stream comes, for poll(); -1 once all was read.
  int fd(LabStream stream) const { return pipes_[size_t(stream)].fd.get(); }

  // A function that gets a line, without its newline.
  using OnLine = absl::FunctionRef<void(LabStream, std::string_view)>;
  // Tells the lines that are there; never waits.  One of more than 64 KiB comes
  // in pieces.
  void Read(OnLine on_line);
  // Tells what has no newline yet.
  void Flush(OnLine on_line);

  // Ask it, and all that is in its group, to end, or end them.
  // REQUIRES: nobody has waited for it, so that the group's number is its own.
  void Terminate() const;
  void Kill() const;

 private:
  struct Pipe {
    UniqueFd fd;
    std::string text;  // of a line that is not whole
  };

  void Read(LabStream stream, OnLine on_line);
  void Flush(LabStream stream, OnLine on_line);

  LabProcess(pid_t pid, UniqueFd out, UniqueFd err)
      : pid_(pid), pipes_{Pipe{std::move(out), {}}, Pipe{std::move(err), {}}} {}

  pid_t pid_;
  std::array<Pipe, 2> pipes_;  // by LabStream
};

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_LAB_LAB_PROCESS_H_
