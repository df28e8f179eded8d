#include "peers/connection.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "peers/certificates.h"
#include "peers/node_link_carrier.h"
#include "peers/subnet.grpc.pb.h"

namespace ibemu::peers {
namespace {

// Milliseconds.  A peer that is silent for the first two together is gone.
constexpr int kAsksEvery = 2000, kAnswersWithin = 3000;
constexpr int kHandshakeWithin = 5000, kConnectsWithin = 5000;
constexpr int kRetriesAfter = 100, kRetriesAtMostAfter = 1000;
constexpr unsigned kLooksForNewCertificatesEvery = 10;  // seconds
// The longest message of a peer that joins, and what surrounds its bytes.  The
// list of all hosts is longer, the other way.
constexpr int kLongest = int{kMaxAtOnce} + 4096;
constexpr int kLongestList = 4 << 20;
// Of all peers together.  A host has one as long as it is joined.
constexpr int kMaxThreads = 8192;
// For all peers together.
constexpr size_t kMaxMemory = size_t{256} << 20;
constexpr int kLastPort = 65535;

std::string Host(const std::string& address) {
  return address.substr(0, address.rfind(':'));
}

using Provider = grpc::experimental::CertificateProviderInterface;

std::shared_ptr<Provider> Watched(const std::string& folder) {
  const auto in = [&](const char* file) {
    return absl::StrCat(folder, "/", file);
  };
  return std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
      in(kKeyFile), in(kCertificateFile), in(kAuthorityFile),
      kLooksForNewCertificatesEvery);
}

// What is proved by certificates: who the other side is, and who we are.
void ProveBoth(grpc::experimental::TlsCredentialsOptions& options) {
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
}

}  // namespace

absl::StatusOr<std::string> AddressIn(const std::string& text,
                                      const std::string& host) {
  const size_t colon = text.rfind(':');
  const bool is_bare = colon == std::string::npos || text.ends_with(']');
  std::string at = is_bare ? text : text.substr(0, colon);
  std::string port = is_bare ? kDefaultPort : text.substr(colon + 1);
  int number = 0;
  if (is_bare && absl::SimpleAtoi(text, &number)) {
    port = text;
    at = "";
  }
  if (at.empty()) at = host;
  if (!absl::SimpleAtoi(port, &number) || number < 0 || number > kLastPort ||
      at.empty() || at.starts_with('[') != at.ends_with(']') ||
      (at.find(':') != std::string::npos && !at.starts_with('['))) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text,
                     "\" is no address and port: HOST:PORT or [ADDRESS]:PORT, "
                     "as in head:",
                     kDefaultPort));
  }
  return absl::StrCat(at, ":", number);
}

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address,
                                           const std::string& certificates) {
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(Watched(certificates));
  ProveBoth(options);
  grpc::ChannelArguments arguments;
  // Whatever http_proxy says: it is for the web.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kAsksEvery);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kAnswersWithin);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kRetriesAfter);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectsWithin);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kRetriesAtMostAfter);
  arguments.SetMaxReceiveMessageSize(kLongestList);
  return grpc::CreateCustomChannel(
      absl::StrCat("dns:///", address),  // whatever the host is called
      grpc::experimental::TlsCredentials(options), arguments);
}

absl::StatusOr<std::unique_ptr<grpc::Server>> Serve(
    const std::string& address, const std::string& certificates,
    grpc::Service& service, std::string& bound) {
  grpc::experimental::TlsServerCredentialsOptions options(
      Watched(certificates));
  ProveBoth(options);
  options.set_cert_request_type(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(
      address, grpc::experimental::TlsServerCredentials(options), &port);
  builder.RegisterService(&service);
  builder.SetMaxReceiveMessageSize(kLongest);
  grpc::ResourceQuota quota;
  quota.Resize(kMaxMemory);
  quota.SetMaxThreads(kMaxThreads);
  builder.SetResourceQuota(quota);
  // Two that listen at one port would share what comes.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             kHandshakeWithin);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kAsksEvery);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kAnswersWithin);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // Peers ask as often as we do.
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kAsksEvery / 2);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        address,
        ": can't listen there: the port may be taken, or the address "
        "not one of this machine"));
  }
  // Whoever asks for its health may name the service.
  server->GetHealthCheckService()->SetServingStatus(
      v1::Subnet::service_full_name(), true);
  bound = absl::StrCat(Host(address), ":", port);
  return server;
}

}  // namespace ibemu::peers
