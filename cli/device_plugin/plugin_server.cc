#include "cli/device_plugin/plugin_server.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/absl_text.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "cli/device_plugin/device_plugin.grpc.pb.h"
#include "peers/grpc_status.h"

namespace ibemu::cli {
namespace {

constexpr char kVersion[] = "v1beta1";
constexpr char kKubeletSocket[] = "kubelet.sock";
constexpr std::chrono::seconds kKubeletAnswersWithin(5);
// The longest parts of a name.
constexpr size_t kLongestDomain = 244, kLongestName = 63;
constexpr char kOwnDomain[] = "kubernetes.io";

bool IsAlphanumeric(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c));
}

// Letters and digits, between them also `others`.
bool IsWord(std::string_view word, std::string_view others, size_t longest) {
  return !word.empty() && word.size() <= longest &&
         IsAlphanumeric(word.front()) && IsAlphanumeric(word.back()) &&
         std::ranges::all_of(word, [&](char c) {
           return IsAlphanumeric(c) || others.find(c) != std::string::npos;
         });
}

// Of DNS, in small letters, and not one that Kubernetes has for itself.
bool IsDomain(std::string_view text) {
  const std::vector<std::string> labels = absl::StrSplit(Absl(text), '.');
  return text.size() <= kLongestDomain && !text.starts_with("requests.") &&
         !text.ends_with(kOwnDomain) &&
         std::ranges::all_of(labels,
                             [](const std::string& label) {
                               return IsWord(label, "-", kLongestName);
                             }) &&
         std::ranges::none_of(text, [](char c) {
           return absl::ascii_isupper(static_cast<unsigned char>(c));
         });
}

// Whether somebody listens at the socket `path`.
bool IsServed(const std::string& path) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof name.sun_path) return false;
  path.copy(name.sun_path, path.size());
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return connect(socket.get(), reinterpret_cast<const sockaddr*>(&name),
                 sizeof name) == 0;
}

std::string UnixAddress(const std::string& path) {
  return absl::StrCat("unix:", path);
}

}  // namespace

absl::Status CheckResource(const std::string& name) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  if (parts.size() == 2 && IsDomain(parts[0]) &&
      IsWord(parts[1], "-_.", kLongestName)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", name,
      "\" is no name of an extended resource: DOMAIN/NAME, as in rdma/ibemu, a "
      "domain of small letters and not of Kubernetes itself"));
}

PluginServer::PluginServer(grpc::Service& plugin, const std::string& folder,
                           std::string resource)
    : plugin_(plugin),
      resource_(std::move(resource)),
      endpoint_(
          absl::StrCat(absl::StrReplaceAll(resource_, {{"/", "_"}}), ".sock")),
      socket_(absl::StrCat(folder, "/", endpoint_)),
      kubelet_(absl::StrCat(folder, "/", kKubeletSocket)) {}

PluginServer::~PluginServer() { Close(); }

absl::Status PluginServer::KeepUp() {
  if (server_ == nullptr || !own_ || IdentityOf(socket_) != own_) {
    IBEMU_RETURN_IF_ERROR(Listen());
  }
  const auto kubelet = IdentityOf(kubelet_);
  if (!kubelet) {
    registered_.reset();
    return absl::NotFoundError(
        absl::StrCat(kubelet_, ": no kubelet is there yet"));
  }
  if (kubelet == registered_) return absl::OkStatus();
  IBEMU_RETURN_IF_ERROR(Register());
  registered_ = kubelet;
  return absl::OkStatus();
}

std::optional<PluginServer::Identity> PluginServer::IdentityOf(
    const std::string& path) {
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0) return std::nullopt;
  return Identity{found.st_dev, found.st_ino, found.st_ctim.tv_sec,
                  found.st_ctim.tv_nsec};
}

absl::Status PluginServer::Listen() {
  Close();
  if (IsServed(socket_)) {
    return absl::AlreadyExistsError(
        absl::StrCat(socket_, ": another device plugin offers ", resource_,
                     " on this node: give each its own --resource"));
  }
  grpc::ServerBuilder builder;
  builder.AddListeningPort(UnixAddress(socket_),
                           grpc::InsecureServerCredentials());
  builder.RegisterService(&plugin_);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        socket_,
        ": can't listen there: the kubelet's folder may be missing, "
        "or not be ours to write to"));
  }
  own_ = IdentityOf(socket_);
  return absl::OkStatus();
}

// The socket goes with the server, before another is made in its place.
void PluginServer::Close() {
  registered_.reset();
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  server_.reset();
}

absl::Status PluginServer::Register() {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  const auto kubelet = v1beta1::Registration::NewStub(grpc::CreateCustomChannel(
      UnixAddress(kubelet_), grpc::InsecureChannelCredentials(), arguments));
  v1beta1::RegisterRequest request;
  request.set_version(kVersion);
  request.set_endpoint(endpoint_);
  request.set_resource_name(resource_);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       kKubeletAnswersWithin);
  v1beta1::Empty response;
  absl::Status status =
      peers::FromGrpc(kubelet->Register(&context, request, &response));
  if (status.ok()) return status;
  return {status.code(), absl::StrCat(kubelet_, ": the kubelet does not take ",
                                      resource_, ": ", status.message())};
}

}  // namespace ibemu::cli
