// Another machine's daemon, behind a control socket of this one.
#ifndef IBEMU_PEERS_SUBNET_PROXY_H_
#define IBEMU_PEERS_SUBNET_PROXY_H_

#include <grpcpp/grpcpp.h>

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "control/method_table.h"
#include "nlohmann/json.hpp"
#include "peers/lease_port.h"
#include "peers/subnet.grpc.pb.h"

namespace ibemu::peers {

// A SubnetProxy has those methods of the daemon that a daemon needs that joins
// its fabric.  A call waits for the other machine, five seconds at most.  A
// node link has two threads, which outlive this.
class SubnetProxy {
 public:
  // `address`: of the other machine, for errors.  `lease_port`: this machine's,
  // which must outlive this; it encrypts if the other machine wants it.
  SubnetProxy(const std::shared_ptr<grpc::Channel>& channel,
              std::string address, LeasePort& lease_port);

  // Adds node.status, node.names, node_link.free, node_link.attach and
  //   packets.again  {"first": "...", "token": "...", "number": 2}: what
  //                  packets.await does (LeasePort), for connection `number` of
  //                  the node link whose attach had the token "first", and asks
  //                  the other machine for it
  void AddTo(control::MethodTable& methods);

 private:
  struct NodeLink;

  using Method = absl::StatusOr<nlohmann::json> (SubnetProxy::*)(
      control::Parameters&, control::Caller&);

  void Add(control::MethodTable& methods, std::string_view name, Method method);
  absl::StatusOr<nlohmann::json> DescribeHost(control::Parameters& parameters,
                                              control::Caller& caller);
  absl::StatusOr<nlohmann::json> ListHosts(control::Parameters& parameters,
                                           control::Caller& caller);
  absl::StatusOr<nlohmann::json> ListFreeHosts(control::Parameters& parameters,
                                               control::Caller& caller);
  absl::StatusOr<nlohmann::json> AttachHost(control::Parameters& parameters,
                                            control::Caller& caller);

  absl::StatusOr<nlohmann::json> AskForPackets(control::Parameters& parameters,
                                               control::Caller& caller);

  // Tells whether the node is ours, and carries what comes then.
  static void Serve(v1::Subnet::Stub& stub, NodeLink& link);
  // Gives a connection that was lost the time to come again.
  void AwaitConnection() const;
  // Calls the other machine, for five seconds at most.
  template <class Request, class Answer>
  absl::StatusOr<nlohmann::json> Ask(
      grpc::Status (v1::Subnet::Stub::*call)(grpc::ClientContext*,
                                             const Request&, Answer*),
      const Request& request) const;
  // The daemon's errors as they are; those of the way to it with its address.
  absl::Status Explain(const grpc::Status& status) const;
  absl::StatusOr<nlohmann::json> Told(
      const grpc::Status& status,
      const google::protobuf::Message& message) const;

  const std::shared_ptr<grpc::Channel> channel_;
  const std::shared_ptr<v1::Subnet::Stub> stub_;
  const std::string address_;
  LeasePort& lease_port_;
  // By the tokens of their first connections of packets.
  std::map<std::string, std::weak_ptr<NodeLink>> links_;
};

}  // namespace ibemu::peers

#endif  // IBEMU_PEERS_SUBNET_PROXY_H_
