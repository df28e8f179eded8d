#include "cli/commands/capture_command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "control/client.h"
#include "daemon/capture/capture_file.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {
namespace {

constexpr char kCaptureHelp[] =
    R"(Usage: ibemu capture -w FILE [OPTION]... [NODE/PORT]...
       ibemu capture -w FILE --host=NODE [OPTION]...
Write the packets that cross the links of these ports, or all links, to a file
that tshark and Wireshark read (link type ERF).  With --host it writes the MADs
that programs on a host send and receive, also where ibemud drives adapters.  It
goes on until SIGINT or SIGTERM; the end says how many packets there were.

  -w FILE         "-": standard output
  --host=NODE     the MADs of all ports of this node, queue pairs 0 and 1
  --file-format=pcap|pcapng
                  in pcapng each port is an interface with its name, and losses
                  are comments (default: as FILE ends, else pcap)
  --count=N       stop after so many packets
  --for=TIME      stop after that time, for instance 10s or 500ms
  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")

Examples:
  ibemu capture -w - node-1/1 | tshark -r -
  ibemu capture -w mads.pcapng --host=node-1
)";

struct CaptureFlags {
  std::string fabric;
  std::optional<std::string> host;
  std::string file;
  std::string format;
  std::string duration;
  int64_t count = std::numeric_limits<int64_t>::max();
  std::vector<std::string> ports;
};

volatile std::sig_atomic_t interrupted = 0;

// An Interruptions makes SIGINT and SIGTERM set `interrupted`.  A second signal
// kills the process, since a write() may block for ever.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted = 1; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM}) {
      // nohup(1) and shells let background jobs ignore these signals.
      struct sigaction inherited;
      sigaction(signal, nullptr, &inherited);
      if (inherited.sa_handler == SIG_IGN) continue;
      sigaction(signal, &action, nullptr);
      sigaddset(&signals_, signal);
    }
    std::signal(SIGPIPE, SIG_IGN);
  }

  // Waits until `fd` is readable or `most` is over.  If `heed` is set, a signal
  // ends the wait, too.
  void Wait(int fd, absl::Duration most, bool heed) const {
    sigset_t before;
    sigprocmask(SIG_BLOCK, &signals_, &before);
    if (heed && interrupted != 0) most = absl::ZeroDuration();
    pollfd readable = {fd, POLLIN, 0};
    const timespec timeout = absl::ToTimespec(most);
    ppoll(&readable, 1, most == absl::InfiniteDuration() ? nullptr : &timeout,
          &before);
    sigprocmask(SIG_SETMASK, &before, nullptr);
  }

 private:
  sigset_t signals_;
};

class Output {
 public:
  static absl::StatusOr<Output> Open(const std::string& name) {
    Output output;
    if (name == "-") {
      output.name_ = "cannot write to standard output";
      output.fd_.Reset(dup(STDOUT_FILENO));
    } else {
      output.name_ = name;
      output.fd_.Reset(
          open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    }
    if (!output.fd_.valid()) return absl::ErrnoToStatus(errno, output.name_);
    return output;
  }

  // Writes `bytes`, which are whole packets.  If it fails and the output is a
  // file, the file is cut back to the packets that were written before.
  absl::Status Write(std::span<const std::byte> bytes) {
    const off_t whole = lseek(fd_.get(), 0, SEEK_CUR);
    while (!bytes.empty()) {
      const ssize_t written = write(fd_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        absl::Status error = absl::ErrnoToStatus(errno, name_);
        // There is no remedy if the file can't be cut either.
        if (whole >= 0) (void)!ftruncate(fd_.get(), whole);
        return error;
      }
      bytes = bytes.subspan(static_cast<size_t>(written));
    }
    return absl::OkStatus();
  }

 private:
  std::string name_;
  UniqueFd fd_;
};

absl::StatusOr<absl::Duration> ParseTime(const std::string& text) {
  if (text.empty()) return absl::InfiniteDuration();
  absl::Duration duration;
  if (absl::ParseDuration(text, &duration) &&
      duration >= absl::Milliseconds(1)) {
    return duration;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--for=", text, ": write a time such as 10s, 500ms or 2m"));
}

absl::Status Copy(int stream, absl::Duration most, daemon::CaptureFile& file,
                  Output& output, const Interruptions& interruptions) {
  absl::Time end = absl::Now() + most;
  std::vector<std::byte> received(size_t{256} << 10);
  std::vector<std::byte> packets;
  bool asked = false;
  while (!file.full()) {
    interruptions.Wait(
        stream, std::max(end - absl::Now(), absl::ZeroDuration()), !asked);
    if (!asked && (interrupted != 0 || absl::Now() >= end)) {
      // Packets that are under way still arrive, then the end of the stream.
      shutdown(stream, SHUT_WR);
      asked = true;
      end = absl::InfiniteFuture();
    }
    const ssize_t size =
        recv(stream, received.data(), received.size(), MSG_DONTWAIT);
    if (size == 0) break;
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (size < 0) return absl::ErrnoToStatus(errno, "the daemon's packets");
    packets.clear();
    IBEMU_RETURN_IF_ERROR(file.Add(
        std::span(received).first(static_cast<size_t>(size)), packets));
    IBEMU_RETURN_IF_ERROR(output.Write(packets));
  }
  if (file.full() || file.ended()) return absl::OkStatus();
  return absl::UnavailableError("the daemon has ended");
}

absl::Status Run(const CaptureFlags& flags) {
  if (flags.count < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--count=", flags.count, ": write a number from 1 on"));
  }
  if (flags.host && flags.host->empty()) {
    return absl::InvalidArgumentError(
        "--host=: name a node, as in --host=node-1");
  }
  IBEMU_ASSIGN_OR_RETURN(const absl::Duration most, ParseTime(flags.duration));
  IBEMU_ASSIGN_OR_RETURN(
      const daemon::PacketFileFormat format,
      daemon::ParsePacketFileFormat(flags.format, flags.file));
  if (flags.file == "-" && isatty(STDOUT_FILENO) == 1) {
    return absl::InvalidArgumentError(
        "standard output is a terminal: packets go to a file or a pipe");
  }
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(flags.fabric));
  // Up to here an error leaves the output file untouched; from the moment its
  // header is written, packets are captured.
  const Interruptions interruptions;
  IBEMU_ASSIGN_OR_RETURN(
      const UniqueFd stream,
      client.OpenStream(
          "capture.start",
          {{"ports", flags.ports},
           {"host", flags.host.value_or("")},
           {"tell_ports", format == daemon::PacketFileFormat::kPcapng}}));
  IBEMU_ASSIGN_OR_RETURN(Output output, Output::Open(flags.file));
  const control::Greeting& greeting = client.greeting();
  const auto packets = daemon::MakePacketFile(
      format, absl::StrCat("ibemu ", greeting.version, ", ", greeting.socket,
                           greeting.backend.empty()
                               ? absl::StrCat(", seed ", greeting.seed)
                               : ""));
  std::vector<std::byte> header;
  packets->Begin(header);
  IBEMU_RETURN_IF_ERROR(output.Write(header));

  daemon::CaptureFile file(*packets, static_cast<uint64_t>(flags.count));
  absl::Status status = Copy(stream.get(), most, file, output, interruptions);
  std::string summary =
      absl::StrCat("ibemu capture: ", file.packets(),
                   file.packets() == 1 ? " packet" : " packets");
  if (file.lost() != 0) {
    absl::StrAppend(&summary, ", ", file.lost(),
                    " more were lost: they came faster than they were written");
  }
  std::fprintf(stderr, "%s\n", summary.c_str());
  return status;
}

}  // namespace

void AddCapture(CLI::App& app, Action& action) {
  CLI::App* capture = app.add_subcommand("capture");
  SetHelp(*capture, kCaptureHelp);
  const auto flags = std::make_shared<CaptureFlags>();
  capture->add_option("-w", flags->file)->required();
  capture->add_option("--host", flags->host);
  capture->add_option("--file-format", flags->format);
  capture->add_option("--count", flags->count);
  capture->add_option("--for", flags->duration);
  capture->add_option("--fabric", flags->fabric);
  capture->add_option("ports", flags->ports);
  OnUse(*capture, action, "capture", [flags] { return Run(*flags); });
}

}  // namespace ibemu::cli
