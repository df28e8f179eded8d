// The gRPC service of a daemon's subnet.
#ifndef IBEMU_PEERS_SUBNET_SERVICE_H_
#define IBEMU_PEERS_SUBNET_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "control/client.h"
#include "nlohmann/json.hpp"
#include "peers/subnet.grpc.pb.h"
#include "peers/token_connection.h"
#include "peers/waiting_calls.h"

namespace ibemu::peers {

// A SubnetService answers peers by asking the daemon, over one connection to
// its control socket: a peer reaches the methods that are asked here, and no
// other. Its functions are called by many threads of gRPC's.
class SubnetService : public v1::Subnet::Service {
 public:
  // `encrypt`: packets of queue pairs, too.  `certificates`: this machine's
  // folder, for that.  `waiting` must outlive it.  `trust` is called with the
  // EndpointOf() who is about to have a host.
  SubnetService(control::Client daemon, bool encrypt, std::string certificates,
                WaitingCalls& waiting,
                std::function<void(const std::string& endpoint)> trust)
      : daemon_(std::move(daemon)),
        encrypt_(encrypt),
        tls_{.certificates = std::move(certificates)},
        waiting_(waiting),
        trust_(std::move(trust)) {}

  grpc::Status DescribeHost(grpc::ServerContext* context,
                            const v1::DescribeHostRequest* request,
                            v1::Host* host) override;
  grpc::Status ListHosts(grpc::ServerContext* context,
                         const v1::ListHostsRequest* request,
                         v1::HostList* hosts) override;
  grpc::Status ListFreeHosts(grpc::ServerContext* context,
                             const v1::ListFreeHostsRequest* request,
                             v1::FreeHostList* hosts) override;
  grpc::Status AttachHost(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::ToAdapter, v1::FromAdapter>* stream)
      override;

 private:
  // Fills `message` with the result of a method, as the member `name` of one
  // object if it is not empty.
  absl::Status Ask(const grpc::ServerContext& context,
                   const std::string& method, const nlohmann::json& parameters,
                   const std::string& name, google::protobuf::Message& message);
  // Returns one end of a node link, whose other end is the daemon's, and says
  // in `answer` what both machines keep to.
  absl::StatusOr<UniqueFd> Attach(const grpc::ServerContext& context,
                                  const v1::FromAdapter& first,
                                  v1::Attached& answer);
  // Connects to a peer that expects it with `token`, and hands the connection
  // to the daemon.
  void ConnectPackets(const v1::FromAdapter& first, const std::string& address,
                      const v1::PacketsAwaited& awaited);

  std::mutex mutex_;
  control::Client daemon_;  // guarded by it
  const bool encrypt_;
  const Tls tls_;
  WaitingCalls& waiting_;
  const std::function<void(const std::string& endpoint)> trust_;
};

}  // namespace ibemu::peers

#endif  // IBEMU_PEERS_SUBNET_SERVICE_H_
