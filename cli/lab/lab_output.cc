#include "cli/lab/lab_output.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/standard_output.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {
namespace {

using nlohmann::json;

}  // namespace

// A line of a program may be no UTF-8.
void LabOutput::PrintJson(const json& event) {
  ok_ &= PrintNow(absl::StrCat(
      event.dump(-1, ' ', false, json::error_handler_t::replace), "\n"));
}

LabOutput::LabOutput(const LabPlan& plan, bool json) : json_(json) {
  for (const LabProgram& program : plan.programs) {
    width_ = std::max(width_, program.label.size());
  }
}

void LabOutput::Line(const LabProgram& program, LabStream stream,
                     std::string_view line) {
  const bool is_error = stream == LabStream::kStderr;
  if (json_) {
    return PrintJson(
        {{"host", program.label}, {"line", line}, {"stderr", is_error}});
  }
  const std::string text = absl::StrFormat(
      "%-*s | %s\n", static_cast<int>(width_), program.label, line);
  if (is_error) {
    std::fputs(text.c_str(), stderr);
  } else {
    ok_ &= PrintNow(text);
  }
}

void LabOutput::Started(const LabProgram& program) {
  if (json_) PrintJson({{"host", program.label}, {"state", "started"}});
}

void LabOutput::Ended(const LabProgram& program, int status) {
  if (!json_) return;
  PrintJson({{"host", program.label}, {"state", "ended"}, {"status", status}});
}

void LabOutput::LabEnded(int status, std::string_view reason) {
  if (json_) {
    PrintJson({{"state", "ended"}, {"status", status}, {"reason", reason}});
  }
  if (!reason.empty()) {
    std::fprintf(stderr, "ibemu up: %s\n", std::string(reason).c_str());
  }
}

}  // namespace ibemu::cli
