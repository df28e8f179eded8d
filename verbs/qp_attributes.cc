#include "verbs/qp_attributes.h"

namespace ibemu::verbs {

void TakeNamed(const QpAttributes& from, QpAttributes& to) {
  const auto take = [&](uint32_t bit, auto member) {
    if (Names(from, bit)) to.*member = from.*member;
  };
  using A = QpAttributes;
  take(qp_attribute::kAccessFlags, &A::qp_access_flags);
  take(qp_attribute::kPKeyIndex, &A::pkey_index);
  take(qp_attribute::kPort, &A::port_num);
  take(qp_attribute::kQKey, &A::qkey);
  take(qp_attribute::kAddress, &A::ah_attr);
  take(qp_attribute::kPathMtu, &A::path_mtu);
  take(qp_attribute::kTimeout, &A::timeout);
  take(qp_attribute::kRetryCount, &A::retry_cnt);
  take(qp_attribute::kRnrRetry, &A::rnr_retry);
  take(qp_attribute::kReceivePsn, &A::rq_psn);
  take(qp_attribute::kSendPsn, &A::sq_psn);
  take(qp_attribute::kMaxReads, &A::max_rd_atomic);
  take(qp_attribute::kMaxReadsHere, &A::max_dest_rd_atomic);
  take(qp_attribute::kMinRnrTimer, &A::min_rnr_timer);
  take(qp_attribute::kDestinationQp, &A::dest_qp_num);
  take(qp_attribute::kAlternatePath, &A::alt_ah_attr);
  take(qp_attribute::kAlternatePath, &A::alt_pkey_index);
  take(qp_attribute::kAlternatePath, &A::alt_port_num);
  take(qp_attribute::kAlternatePath, &A::alt_timeout);
}

}  // namespace ibemu::verbs
