#include "cli/commands/events_command.h"

#include <CLI/App.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "cli/command_line/line_reader.h"
#include "control/client.h"
#include "control/json_text.h"
#include "daemon/events/event_text.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {
namespace {

using nlohmann::json;

constexpr char kEventsHelp[] = R"(Usage: ibemu events [OPTION]... [KIND]...
Tell what happens in a fabric, or to adapters (port, sm, device and the last
three), a line each, until it is interrupted: events of these kinds, or all.
Time counts from the daemon's start, in seconds.

  --for=TIME      stop after that time, for instance 10s or 500ms
  --json          a JSON object a line: see ibemu-events(7)
  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")

KIND is one of
  link            a link comes up or goes down
  port            a port's state, LID or subnet manager changes
  sm              a port has a subnet manager, or no more
  node, device    a node is switched; an adapter is plugged, or dies
  trap            an agent sends a trap to the subnet manager
  drop            a packet goes no further, and why
  fault           a fault is added or removed
  scenario        a scenario's step is done
  qp              something happens to a queue pair: a change of state, packets
                  sent again, dropped or refused; a work request fails, and why
  mad             nobody answers a MAD, and why
  call            a call of verbs is refused, and why
  connection      a program connects by rdma_cm: asked, established, rejected
                  and why, disconnected ...
  datagram        it asks for a queue pair to send datagrams to
  group           it joins or leaves a multicast group

Example:
  ibemu events link trap
)";

struct EventsFlags {
  std::string fabric;
  std::string duration;
  std::vector<std::string> kinds;
  bool json = false;
};

// Returns when to stop, by the option --for.
absl::StatusOr<absl::Time> Deadline(const std::string& duration) {
  if (duration.empty()) return absl::InfiniteFuture();
  absl::Duration time;
  if (absl::ParseDuration(duration, &time) && time >= absl::Milliseconds(1)) {
    return absl::Now() + time;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--for=", duration, ": write a time such as 10s, 500ms or 2m"));
}

absl::Status Run(const EventsFlags& flags) {
  IBEMU_ASSIGN_OR_RETURN(const absl::Time deadline, Deadline(flags.duration));
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(flags.fabric));
  IBEMU_ASSIGN_OR_RETURN(
      const UniqueFd stream,
      client.OpenStream("events.start", {{"kinds", flags.kinds}}));
  LineReader lines(stream.get());
  while (const std::optional<std::string> line = lines.Next(deadline)) {
    const std::string text =
        flags.json
            ? *line
            : daemon::EventText(control::ParseJson(*line).value_or(json()));
    Print(text + "\n");
    // Output that fails is told of when the program ends.
    if (!lines.HasLine() && !PrintNow("")) return absl::OkStatus();
  }
  if (!lines.ended()) return absl::OkStatus();
  return absl::UnavailableError("the daemon has ended");
}

}  // namespace

void AddEvents(CLI::App& app, Action& action) {
  CLI::App* events = app.add_subcommand("events");
  SetHelp(*events, kEventsHelp);
  const auto flags = std::make_shared<EventsFlags>();
  events->add_flag("--json", flags->json);
  events->add_option("--for", flags->duration);
  events->add_option("--fabric", flags->fabric);
  events->add_option("kinds", flags->kinds);
  OnUse(*events, action, "events", [flags] { return Run(*flags); });
}

}  // namespace ibemu::cli
