// A port with a client of subnet administration, whose answers a test makes.
#ifndef IBEMU_TESTS_MAD_SA_SA_CLIENT_FIXTURE_H_
#define IBEMU_TESTS_MAD_SA_SA_CLIENT_FIXTURE_H_

#include <memory>
#include <span>

#include "mad/sa/sa_client.h"
#include "mad/wire/sa.h"
#include "tests/mad/fixture.h"

namespace ibemu::mad {

constexpr wire::Lid kSm{5};

class SaClientFixture : public HostTest {
 protected:
  SaClientFixture() {
    port_.info.master_sm_lid = kSm;
    port_.info.master_sm_sl = 3;
  }

  // The record in question number `index` of those sent.
  template <class T>
  T Asked(size_t index) const {
    return wire::Decode<T>(
        std::span(port_.sent.at(index).mad).subspan(kSaDataOffset));
  }
  // Answers question number `index` of those sent.
  template <class T>
  void Answer(size_t index, const T& record,
              MadStatus status = MadStatus::kOk) {
    Arrival answer{.qp = 1, .slid = kSm, .source_qpn = 1};
    answer.mad = port_.sent.at(index).mad;
    const auto method = wire::Get<&MadHeader::method>(answer.mad);
    wire::Put<&MadHeader::method>(
        answer.mad, method == Method::kSet
                        ? Method::kGetResp
                        : Method(static_cast<int>(method) | kResponseBit));
    wire::Put<&MadHeader::status>(answer.mad, status);
    wire::Encode(record, std::span(answer.mad).subspan(kSaDataOffset));
    port_.Receive(answer);
  }

  std::unique_ptr<SaClient> client_ =
      std::make_unique<SaClient>(timers_, host_, 1);
};

}  // namespace ibemu::mad

#endif  // IBEMU_TESTS_MAD_SA_SA_CLIENT_FIXTURE_H_
