#include "peers/caller.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace ibemu::peers {

std::string EndpointOf(const grpc::ServerContext& context) {
  // "ipv4:10.0.0.7:41234" or "ipv6:%5Bfe80::1%252%5D:41234".
  const std::string uri = context.peer();
  return absl::StrReplaceAll(uri.substr(uri.find(':') + 1),
                             {{"%5B", "["}, {"%5D", "]"}, {"%25", "%"}});
}

std::string AddressOf(const grpc::ServerContext& context) {
  const std::string endpoint = EndpointOf(context);
  return endpoint.substr(0, endpoint.rfind(':'));
}

std::string NameOf(const grpc::ServerContext& context) {
  std::string name;
  for (const grpc::string_ref& value :
       context.auth_context()->FindPropertyValues(GRPC_X509_CN_PROPERTY_NAME)) {
    name.assign(value.data(), value.size());
  }
  if (name.empty()) {  // as cert-manager makes them
    for (const grpc::string_ref& value :
         context.auth_context()->FindPropertyValues(
             GRPC_X509_SAN_PROPERTY_NAME)) {
      name.assign(value.data(), value.size());
      break;
    }
  }
  return name;
}

std::string PeerOf(const grpc::ServerContext& context) {
  return absl::StrCat(
      NameOf(context), " (",
      absl::StrReplaceAll(AddressOf(context), {{"[", ""}, {"]", ""}}), ")");
}

}  // namespace ibemu::peers
