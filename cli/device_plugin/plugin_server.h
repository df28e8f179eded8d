// PluginServer: a device plugin, where the kubelet of this node finds it.
#ifndef IBEMU_CLI_DEVICE_PLUGIN_PLUGIN_SERVER_H_
#define IBEMU_CLI_DEVICE_PLUGIN_PLUGIN_SERVER_H_

#include <grpcpp/grpcpp.h>
#include <sys/stat.h>

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace ibemu::cli {

// Checks the name of an extended resource, DOMAIN/NAME, by Kubernetes's rules.
//
// Errors: InvalidArgument.
absl::Status CheckResource(const std::string& name);

// A PluginServer serves a device plugin on a socket in the kubelet's folder and
// registers it with the kubelet.  A kubelet that is restarted knows no plugin
// and removes their sockets, so both are done again and again.
class PluginServer {
 public:
  // `folder`: the kubelet's, with its kubelet.sock.  `plugin` must outlive
  // this.
  PluginServer(grpc::Service& plugin, const std::string& folder,
               std::string resource);
  ~PluginServer();
  PluginServer(const PluginServer&) = delete;
  PluginServer& operator=(const PluginServer&) = delete;

  // Listens and registers, if that is not done or no more true.  Call it every
  // now and then.
  //
  // Errors: FailedPrecondition, nobody can listen in that folder;
  // AlreadyExists, another plugin has the resource; NotFound, there is no
  // kubelet; what the kubelet says.
  absl::Status KeepUp();

 private:
  // Tells one socket from another that has taken its place.
  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    int64_t seconds = 0, nanoseconds = 0;  // of its last change

    auto operator<=>(const Identity&) const = default;
  };

  // Nothing where there is no file.
  static std::optional<Identity> IdentityOf(const std::string& path);
  absl::Status Listen();
  void Close();
  absl::Status Register();

  grpc::Service& plugin_;
  const std::string resource_;
  const std::string endpoint_;          // the socket's name
  const std::string socket_, kubelet_;  // paths
  std::unique_ptr<grpc::Server> server_;
  std::optional<Identity> own_;         // of socket_, as we made it
  std::optional<Identity> registered_;  // of the kubelet_ that knows us
};

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_DEVICE_PLUGIN_PLUGIN_SERVER_H_
