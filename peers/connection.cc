#include "peers/connection.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "peers/certificates.h"
#include "peers/node_link_carrier.h"
#include "peers/subnet.grpc.pb.h"

namespace ibemu::peers {
namespace {

// Milliseconds.
constexpr int kAsksEvery = 2000;
constexpr int kConnectsWithin = 5000;
constexpr int kRetriesAfter = 100, kRetriesAtMostAfter = 1000;
// Who has nothing to ask connects again when he has.
constexpr int kIdleFor = 30'000;
constexpr absl::Duration kHandshakeWithin = absl::Seconds(5);
static_assert(kHandshakeWithin < PeerListener::kIsStrangerFor);
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

int Milliseconds(absl::Duration time) {
  return static_cast<int>(absl::ToInt64Milliseconds(time));
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

using GrpcAcceptor = grpc::experimental::ExternalConnectionAcceptor;
using InterceptorFactory =
    grpc::experimental::ServerInterceptorFactoryInterface;

// A BriefCall ends its call when it lasts for too long.
class BriefCall : public grpc::experimental::Interceptor {
 public:
  BriefCall(grpc::ServerContext& context, WaitingCalls& waiting)
      : context_(context), waiting_(waiting) {}

  void Intercept(
      grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            grpc::experimental::InterceptionHookPoints::
                POST_RECV_INITIAL_METADATA)) {
      wait_ = waiting_.Begin(context_);
      if (!wait_.ok()) context_.TryCancel();
    }
    methods->Proceed();
  }

 private:
  grpc::ServerContext& context_;
  WaitingCalls& waiting_;
  absl::StatusOr<std::unique_ptr<WaitingCalls::Wait>> wait_ = nullptr;
};

// Makes one for each call that holds a thread until its peer has said all.
// Those of our own service are node links, and know when they have begun; an
// interceptor would look at each of their packets.
class BriefCallFactory : public InterceptorFactory {
 public:
  explicit BriefCallFactory(WaitingCalls& waiting) : waiting_(waiting) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    const bool is_ours = absl::StartsWith(
        info->method(),
        absl::StrCat("/", v1::Subnet::service_full_name(), "/"));
    if (is_ours ||
        info->type() !=
            grpc::experimental::ServerRpcInfo::Type::BIDI_STREAMING) {
      return nullptr;
    }
    return new BriefCall(
        *static_cast<grpc::ServerContext*>(info->server_context()), waiting_);
  }

 private:
  WaitingCalls& waiting_;
};

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
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Milliseconds(kAnswersWithin));
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
    PeerListener& listener, const std::string& certificates,
    grpc::Service& service, WaitingCalls& waiting) {
  grpc::experimental::TlsServerCredentialsOptions options(
      Watched(certificates));
  ProveBoth(options);
  options.set_cert_request_type(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  std::shared_ptr<GrpcAcceptor> acceptor =
      builder.experimental().AddExternalConnectionAcceptor(
          grpc::ServerBuilder::experimental_type::ExternalConnectionType::
              FROM_FD,
          grpc::experimental::TlsServerCredentials(options));
  std::vector<std::unique_ptr<InterceptorFactory>> interceptors;
  interceptors.push_back(std::make_unique<BriefCallFactory>(waiting));
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
  builder.RegisterService(&service);
  builder.SetMaxReceiveMessageSize(kLongest);
  grpc::ResourceQuota quota;
  quota.Resize(kMaxMemory);
  quota.SetMaxThreads(kMaxThreads);
  builder.SetResourceQuota(quota);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             Milliseconds(kHandshakeWithin));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleFor);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kAsksEvery);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                             Milliseconds(kAnswersWithin));
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // Peers ask as often as we do.
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kAsksEvery / 2);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    return absl::InternalError(
        absl::StrCat(listener.bound(), ": gRPC does not start"));
  }
  // Whoever asks for its health may name the service.
  server->GetHealthCheckService()->SetServingStatus(
      v1::Subnet::service_full_name(), true);
  IBEMU_RETURN_IF_ERROR(listener.Start([acceptor](UniqueFd socket) {
    GrpcAcceptor::NewConnectionParameters connection;
    connection.fd = socket.Release();
    acceptor->HandleNewConnection(&connection);
  }));
  return server;
}

}  // namespace ibemu::peers
