#include "cli/commands/record_command.h"

#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "topology/formats/formats.h"
#include "topology/formats/text/ibstat_text.h"
#include "topology/read_file.h"
#include "topology/topology.h"

namespace ibemu::cli {
namespace {

using topology::IbstatAdapter;
using topology::Topology;

constexpr char kRecordHelp[] =
    R"(Usage: ibemu record [--ibnetdiscover=FILE] [--ibstat=FILE]... [-o FILE]
Write a spec of a subnet, in YAML, from what tools print of it.  Without a file
to read, they are run here.

  --ibnetdiscover=FILE
                  its output: nodes, cables, rates
  --ibstat=FILE   the output of ibstat on one host or more, or a directory of
                  such files: what the adapters are; may be repeated
  -o FILE         write to FILE, not to the standard output

Example, this machine's subnet as it is, anywhere else:
  ibemu record -o lab.yaml
  ibemu run --topology=lab.yaml -- ibnetdiscover
)";

struct RecordFlags {
  std::string ibnetdiscover;
  std::vector<std::string> ibstat;
  std::string output;
};

// Returns the output of a tool from the PATH.
absl::StatusOr<std::string> OutputOf(const std::string& tool) {
  std::FILE* pipe = ::popen(tool.c_str(), "re");
  if (pipe == nullptr) return absl::ErrnoToStatus(errno, tool);
  std::string text;
  char buffer[4096];
  for (size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    text.append(buffer, got);
  }
  if (::pclose(pipe) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "\"", tool,
        "\" did not work here: it is of Debian's infiniband-diags, "
        "and asks the fabric; or give a file with its output"));
  }
  return text;
}

absl::Status ReadIbstat(const std::string& text, const std::string& file,
                        std::vector<IbstatAdapter>& adapters) {
  IBEMU_ASSIGN_OR_RETURN(const std::vector<IbstatAdapter> more,
                         topology::ParseIbstat(text, file));
  adapters.insert(adapters.end(), more.begin(), more.end());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<IbstatAdapter>> Adapters(const RecordFlags& flags,
                                                    bool ask_here) {
  std::vector<IbstatAdapter> adapters;
  if (ask_here) {
    IBEMU_ASSIGN_OR_RETURN(const std::string text, OutputOf("ibstat"));
    IBEMU_RETURN_IF_ERROR(ReadIbstat(text, "ibstat", adapters));
  }
  std::vector<std::string> files;
  for (const std::string& name : flags.ibstat) {
    std::error_code error;
    if (!std::filesystem::is_directory(name, error)) {
      files.push_back(name);
      continue;
    }
    const size_t before = files.size();
    for (std::filesystem::directory_iterator it(name, error), end;
         !error && it != end; it.increment(error)) {
      std::error_code unknown;
      if (it->is_regular_file(unknown)) files.push_back(it->path());
    }
    if (error) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ": ", error.message()));
    }
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  for (const std::string& file : files) {
    IBEMU_ASSIGN_OR_RETURN(const std::string text, topology::ReadFile(file));
    IBEMU_RETURN_IF_ERROR(ReadIbstat(text, file, adapters));
  }
  return adapters;
}

absl::Status Write(const std::string& text, const std::string& file) {
  if (file.empty() || file == "-") {
    Print(text);
    return absl::OkStatus();
  }
  std::ofstream stream(file);
  stream << text;
  stream.close();
  if (stream) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, file);
}

absl::Status Record(const RecordFlags& flags) {
  const bool ask_here = flags.ibnetdiscover.empty() && flags.ibstat.empty();
  Topology topology;
  if (ask_here || !flags.ibnetdiscover.empty()) {
    std::string text;
    std::string name = flags.ibnetdiscover;
    if (ask_here) {
      name = "ibnetdiscover";
      IBEMU_ASSIGN_OR_RETURN(text, OutputOf(name));
    } else {
      IBEMU_ASSIGN_OR_RETURN(text, topology::ReadFile(name));
    }
    IBEMU_ASSIGN_OR_RETURN(topology, topology::ParseIbnetdiscover(text, name));
  }
  IBEMU_ASSIGN_OR_RETURN(const std::vector<IbstatAdapter> adapters,
                         Adapters(flags, ask_here));
  topology::AddAdapters(adapters, topology);
  const std::string spec = topology::FormatSpecYaml(topology);
  // Checks that the recorded file can be loaded.
  IBEMU_RETURN_IF_ERROR(
      topology::ParseSpec(spec, "the recorded spec").status());
  return Write(spec, flags.output);
}

}  // namespace

void AddRecord(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("record");
  SetHelp(*command, kRecordHelp);
  const auto flags = std::make_shared<RecordFlags>();
  command->add_option("--ibnetdiscover", flags->ibnetdiscover);
  command->add_option("--ibstat", flags->ibstat)->expected(1)->take_all();
  command->add_option("-o", flags->output);
  OnUse(*command, action, "record", [flags] { return Record(*flags); });
}

}  // namespace ibemu::cli
