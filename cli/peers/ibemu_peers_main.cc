// ibemu-peers: lets other machines have hosts of a subnet, or has some of
// theirs.  A process of its own, so that what the network sends meets no
// daemon, packets of queue pairs excepted, and a daemon no library for it.
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "base/version.h"
#include "cli/command_line/command_line.h"
#include "control/client.h"
#include "control/control_server.h"
#include "control/method_table.h"
#include "control/rpc.h"
#include "launch/descriptor_limit.h"
#include "launch/hardening.h"
#include "launch/pass_descriptor.h"
#include "launch/peers/keep_peers.h"
#include "launch/peers/peers_process.h"
#include "loop/loop.h"
#include "nlohmann/json.hpp"
#include "peers/certificates.h"
#include "peers/connection.h"
#include "peers/grpc_log.h"
#include "peers/lease_port.h"
#include "peers/peer_listener.h"
#include "peers/subnet_proxy.h"
#include "peers/subnet_service.h"
#include "peers/waiting_calls.h"

namespace {

using ibemu::Loop;
using ibemu::UniqueFd;

constexpr char kHelp[] = R"(Usage: ibemu-peers COMMAND [OPTION]... [ARG]...
Let other machines have hosts of a subnet.  "ibemu" and "ibemud" start it.

  certs       make certificates
  listen      let other machines join a fabric
  join        join one; for a daemon

"ibemu-peers COMMAND --help" tells more.
)";

constexpr char kCertsHelp[] =
    R"(Usage: ibemu certs [--days=N] FOLDER NAME[,NAME]...
Make certificates, by which the machines that share a subnet know each other.
Each machine gets a folder, FOLDER/NAME, with its certificate, its key, and the
certificate of the authority that signed it, which is made when there is none:
copy it there, to ~/.config/ibemu/certs or where --certs=DIR says.  The
authority's key, FOLDER/ca.key, makes more of them: keep it.

  NAME            a machine as others call it, a name or an IP address; further
                  ones of the same machine follow after commas
  --days=N        how long they are valid (default: 365)

Example, for --join=head on three machines:
  ibemu certs lab head,10.0.0.1 node-a node-b
)";

constexpr char kListenHelp[] =
    R"(Usage: ibemu listen [OPTION]... [[ADDRESS:]PORT]
Let other machines take hosts of a fabric over, with "ibemu run --join" and
"ibemud --join", as long as this runs.  They need certificates of the same
authority.

  ADDRESS:PORT    where to listen (default: [::]:7471, all addresses); port 0:
                  the kernel chooses
  --fabric=NAME   a fabric, or the path of its daemon's socket (default:
                  IBEMU_FABRIC, else "default")
  --certs=DIR     this machine's certificates (default: IBEMU_CERTS, else
                  ~/.config/ibemu/certs); "ibemu certs" makes them
  --encrypt       have packets of queue pairs encrypted, too: slower

Example, on a machine called head:
  ibemu listen --fabric=lab
)";

constexpr char kJoinHelp[] =
    R"(Usage: ibemu-peers join --line=FD [--certs=DIR] HOST[:PORT]
Hand what a daemon asks of a daemon on HOST on to it.  For "--join" of "ibemu
run" and "ibemud", which start it.

  --line=FD       a socket by which the daemon sends its connections
  --certs=DIR     this machine's certificates
)";

// Between the death of what serves other machines and the next one.
constexpr absl::Duration kPause = absl::Seconds(1);

struct Flags {
  std::vector<std::string> words;
  int days = 365;
  std::string name;  // of the program and the command
  std::string fabric, certs, address;
  bool encrypt = false;
  int line = -1;
  int news = -1;  // where the daemon hears how it goes, with `line`
};

// Whether other machines can join what `daemon` has.
absl::Status CheckSubnet(const ibemu::control::Client& daemon) {
  // The node link's messages are the daemon's, but its version is what we tell
  // peers: both have to be of one release.
  if (daemon.greeting().version != ibemu::Version()) {
    return absl::FailedPreconditionError(
        absl::StrCat(daemon.greeting().socket, ": that daemon is ibemu ",
                     daemon.greeting().version, ", and this is ",
                     ibemu::Version(), ": start it anew"));
  }
  const auto& methods = daemon.greeting().capabilities;
  if (std::ranges::find(methods, "node_link.free") != methods.end()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat(daemon.greeting().socket,
                   ": that daemon has no subnet: it drives adapters, or has "
                   "joined another"));
}

// What "ibemu-peers" does until the end, for a daemon in a process that is made
// again.  It ends as it stands, for threads of gRPC may be in the middle of
// something.
class Peers {
 public:
  explicit Peers(const Flags& flags) : flags_(flags), line_(flags.line) {}

  absl::Status Listen() {
    ibemu::peers::LogRefusals();
    IBEMU_ASSIGN_OR_RETURN(const std::string address,
                           ibemu::peers::AddressIn(flags_.address, "[::]"));
    IBEMU_RETURN_IF_ERROR(Prepare());
    IBEMU_ASSIGN_OR_RETURN(ibemu::control::Client daemon,
                           ibemu::control::Client::Connect(flags_.fabric));
    IBEMU_RETURN_IF_ERROR(CheckSubnet(daemon));
    const std::string socket = daemon.greeting().socket;
    // Its answers would look like its end.
    IBEMU_ASSIGN_OR_RETURN(const ibemu::control::Client watched,
                           ibemu::control::Client::Connect(socket));
    IBEMU_ASSIGN_OR_RETURN(const auto listener,
                           ibemu::peers::PeerListener::Open(
                               *loop_, address, ibemu::peers::kAnswersWithin));
    ibemu::peers::WaitingCalls waiting;
    ibemu::peers::SubnetService service(
        std::move(daemon), flags_.encrypt, certificates_, waiting,
        [&](const std::string& endpoint) { listener->Trust(endpoint); });
    IBEMU_ASSIGN_OR_RETURN(
        const auto server,
        ibemu::peers::Serve(*listener, certificates_, service, waiting));
    IBEMU_RETURN_IF_ERROR(
        loop_->Watch(watched.fd(), [this] { loop_->Stop(); }));
    SayReady(listener->bound(), absl::StrCat("listening at ", listener->bound(),
                                             " for ", socket, "\n"));
    loop_->Run();
    if (line_.valid()) _exit(0);
    std::fprintf(stderr, "ibemu listen: the daemon at %s has ended\n",
                 socket.c_str());
    _exit(1);
  }

  absl::Status Join() {
    ibemu::peers::LogNothing();
    IBEMU_ASSIGN_OR_RETURN(const std::string address,
                           ibemu::peers::AddressIn(flags_.address, ""));
    IBEMU_RETURN_IF_ERROR(Prepare());
    IBEMU_ASSIGN_OR_RETURN(const auto lease_port, ibemu::peers::LeasePort::Open(
                                                      *loop_, certificates_));
    ibemu::peers::SubnetProxy proxy(
        ibemu::peers::MakeChannel(address, certificates_), address,
        *lease_port);
    ibemu::control::MethodTable methods;
    proxy.AddTo(methods);
    lease_port->AddTo(methods);
    ibemu::control::ControlServer server(
        *loop_, methods,
        ibemu::control::GreetingLine({{"capabilities", methods.names()}}));
    connected_ = [&server](UniqueFd client) {
      server.Adopt(std::move(client), [] {});
    };
    SayReady("", absl::StrCat("joining ", address, "\n"));
    loop_->Run();
    _exit(0);
  }

 private:
  absl::Status Prepare() {
    certificates_ =
        flags_.certs.empty() ? ibemu::peers::DefaultFolder() : flags_.certs;
    signal(SIGPIPE, SIG_IGN);  // of who reads what we say
    // Each peer has a descriptor, and each node link three, or with --encrypt
    // five.
    ibemu::launch::RaiseDescriptorLimit();
    IBEMU_RETURN_IF_ERROR(ibemu::launch::DropCapabilities(0));
    // As they are read later, too.
    IBEMU_RETURN_IF_ERROR(ibemu::peers::CheckCertificates(certificates_));
    // Some sandboxes know no seccomp.
    ibemu::launch::ForbidSystemCalls().IgnoreError();
    IBEMU_ASSIGN_OR_RETURN(loop_, ibemu::MakeLoop());
    if (!line_.valid()) return absl::OkStatus();
    return loop_->Watch(line_.get(), [this] {
      UniqueFd client = ibemu::launch::ReceiveDescriptor(line_.get());
      if (client.valid()) return connected_(std::move(client));
      // No room for the descriptor, or the end.
      char byte = 0;
      if (recv(line_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) {
        loop_->Stop();
      }
    });
  }

  // To the daemon, or to people.
  void SayReady(const std::string& address, const std::string& words) {
    if (!line_.valid()) {
      ibemu::PrintNow(words);
      return;
    }
    const std::string text =
        absl::StrCat(ibemu::launch::kPeersReady, address, "\n");
    send(flags_.news, text.data(), text.size(), MSG_NOSIGNAL);
  }

  const Flags& flags_;
  const UniqueFd line_;
  std::string certificates_;
  std::unique_ptr<Loop> loop_;
  std::function<void(UniqueFd)> connected_ = [](UniqueFd) {};
};

absl::Status MakeCertificates(const Flags& flags) {
  if (flags.words.size() < 2) {
    return absl::InvalidArgumentError(
        "the machines are missing: ibemu certs FOLDER NAME...");
  }
  std::vector<ibemu::peers::Machine> machines;
  for (size_t i = 1; i < flags.words.size(); ++i) {
    machines.push_back({absl::StrSplit(flags.words[i], ',')});
  }
  return ibemu::peers::MakeCertificates(flags.words[0], machines, flags.days);
}

// An error goes to the daemon that has started this; else to standard error.
int Tell(const absl::Status& status, const Flags& flags) {
  if (status.ok()) return 0;
  if (flags.news < 0) return ibemu::cli::Fail(flags.name, status);
  const std::string text(status.message());
  send(flags.news, text.data(), text.size(), MSG_NOSIGNAL);
  return 1;
}

// Listens or joins.
int Serve(Flags flags, absl::Status (Peers::*work)()) {
  if (flags.line < 0) return Tell((Peers(flags).*work)(), flags);
  return ibemu::launch::KeepPeers(flags.line, kPause,
                                  [&](int news, const std::string& before) {
                                    flags.news = news;
                                    if (!before.empty()) flags.address = before;
                                    return Tell((Peers(flags).*work)(), flags);
                                  });
}

// `program`: "ibemu", whose commands these are, or our own name.
int Main(const std::string& program, std::vector<std::string> arguments) {
  Flags flags;
  ibemu::cli::Action action;
  CLI::App app("", program);
  ibemu::cli::SetHelp(app, kHelp);
  app.set_version_flag("-v,--version",
                       absl::StrCat("ibemu-peers ", ibemu::Version()));
  app.require_subcommand(1);
  CLI::App* const certs = app.add_subcommand("certs");
  ibemu::cli::SetHelp(*certs, kCertsHelp);
  certs->add_option("--days", flags.days)->check(CLI::Range(1, 36500));
  certs->add_option("words", flags.words);
  certs->callback(
      [&] { action = [&] { return Tell(MakeCertificates(flags), flags); }; });
  CLI::App* const listen = app.add_subcommand("listen");
  ibemu::cli::SetHelp(*listen, kListenHelp);
  listen->add_option("--fabric", flags.fabric);
  listen->add_flag("--encrypt", flags.encrypt);
  listen->add_option("address", flags.address);
  listen->callback(
      [&] { action = [&] { return Serve(flags, &Peers::Listen); }; });
  CLI::App* const join = app.add_subcommand("join");
  ibemu::cli::SetHelp(*join, kJoinHelp);
  join->add_option("address", flags.address)->required();
  join->callback([&] { action = [&] { return Serve(flags, &Peers::Join); }; });
  for (CLI::App* const command : {listen, join}) {
    command->add_option("--certs", flags.certs);
    command->add_option("--line", flags.line);
  }
  if (const auto status = ibemu::cli::Parse(app, std::move(arguments))) {
    return *status;
  }
  flags.name =
      absl::StrCat(program, " ", app.get_subcommands().front()->get_name());
  return action();
}

}  // namespace

// Only bugs and a lack of memory cause exceptions.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  const std::string path = argc > 0 ? argv[0] : "ibemu-peers";
  const std::string program = path.substr(path.rfind('/') + 1);
  return ibemu::FinishOutput(program, Main(program, {argv + 1, argv + argc}));
}
