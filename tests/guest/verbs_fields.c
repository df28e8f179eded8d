// verbs_fields ud|rc SL BITS FIFO: sends the peer a few messages of odd lengths
// and takes as many, with service level SL and the LIDs of path BITS.  Prints
// its own address, reads the peer's (such a line) from FIFO, and then prints
// each completion, a line of words and values.  The peer is to have the same
// service and bits.
#include <errno.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY (64 << 10)
#define RECEIVE_AT (32 << 10)  // the rest is for what is sent
#define GRH 40                 // bytes before a datagram
#define MESSAGES 3
#define Q_KEY 0x11111111
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)

struct address {
  unsigned lid, qpn, key;
  uint64_t memory;
  union ibv_gid gid;
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static char memory[MEMORY];
static int reliable, sl, path_bits;

static void check(int wrong, const char *what) {
  if (!wrong) return;
  printf("%s: %s\n", what, strerror(errno));
  exit(1);
}

static void open_adapter(void) {
  struct ibv_device **devices = ibv_get_device_list(NULL);
  check(devices == NULL || devices[0] == NULL, "ibv_get_device_list");
  context = ibv_open_device(devices[0]);
  check(context == NULL, "ibv_open_device");
  pd = ibv_alloc_pd(context);
  check(pd == NULL, "ibv_alloc_pd");
  cq = ibv_create_cq(context, 4 * MESSAGES, NULL, NULL, 0);
  check(cq == NULL, "ibv_create_cq");
  mr = ibv_reg_mr(pd, memory, MEMORY, ACCESS);
  check(mr == NULL, "ibv_reg_mr");
  struct ibv_qp_init_attr init = {.send_cq = cq,
                                  .recv_cq = cq,
                                  .cap = {MESSAGES, MESSAGES + 1, 1, 1, 0},
                                  .qp_type = reliable ? IBV_QPT_RC : IBV_QPT_UD,
                                  .sq_sig_all = 1};
  qp = ibv_create_qp(pd, &init);
  check(qp == NULL, "ibv_create_qp");
}

static void initialise(void) {
  struct ibv_qp_attr to = {.qp_state = IBV_QPS_INIT,
                           .port_num = 1,
                           .qkey = Q_KEY,
                           .qp_access_flags = ACCESS};
  check(ibv_modify_qp(qp, &to,
                      IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX |
                          (reliable ? IBV_QP_ACCESS_FLAGS : IBV_QP_QKEY)),
        "to INIT");
}

// One receive request more than there are messages.
static void post_receives(void) {
  for (int i = 0; i <= MESSAGES; ++i) {
    struct ibv_sge piece = {(uintptr_t)memory + RECEIVE_AT + i * 8000, 8000,
                            mr->lkey};
    struct ibv_recv_wr request = {.wr_id = i, .sg_list = &piece, .num_sge = 1};
    struct ibv_recv_wr *bad;
    check(ibv_post_recv(qp, &request, &bad), "ibv_post_recv");
  }
}

static struct ibv_ah_attr way_to(const struct address *peer, int global) {
  struct ibv_ah_attr way = {.dlid = peer->lid + path_bits,
                            .sl = sl,
                            .src_path_bits = path_bits,
                            .is_global = global,
                            .port_num = 1};
  way.grh.dgid = peer->gid;
  way.grh.hop_limit = 1;
  return way;
}

static void connect_to(const struct address *peer) {
  struct ibv_qp_attr to = {.qp_state = IBV_QPS_RTR,
                           .path_mtu = IBV_MTU_1024,
                           .max_dest_rd_atomic = 1,
                           .min_rnr_timer = 12};
  int mask = IBV_QP_STATE;
  if (reliable) {
    to.dest_qp_num = peer->qpn;
    to.ah_attr = way_to(peer, 0);
    mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  }
  check(ibv_modify_qp(qp, &to, mask), "to RTR");
  to = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                            .timeout = 17,
                            .retry_cnt = 7,
                            .rnr_retry = 7,
                            .max_rd_atomic = 1};
  mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (reliable) {
    mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
            IBV_QP_MAX_QP_RD_ATOMIC;
  }
  check(ibv_modify_qp(qp, &to, mask), "to RTS");
}

static void print_address(void) {
  struct ibv_port_attr port;
  union ibv_gid gid;
  check(ibv_query_port(context, 1, &port), "ibv_query_port");
  check(ibv_query_gid(context, 1, 0, &gid), "ibv_query_gid");
  printf("address %u %u %u %" PRIuPTR " %llx %llx\n", port.lid, qp->qp_num,
         mr->rkey, (uintptr_t)memory, gid.global.subnet_prefix,
         gid.global.interface_id);
  fflush(stdout);
}

static struct address read_address(const char *name) {
  struct address peer;
  FILE *fifo = fopen(name, "r");
  check(fifo == NULL, name);
  check(
      fscanf(fifo, "address %u %u %u %" SCNu64 " %llx %llx", &peer.lid,
             &peer.qpn, &peer.key, &peer.memory, &peer.gid.global.subnet_prefix,
             &peer.gid.global.interface_id) != 6,
      "the peer's address");
  fclose(fifo);
  return peer;
}

static void send_message(int number, const struct address *peer) {
  static const unsigned kReliable[MESSAGES] = {1, 4097, 777};
  static const unsigned kDatagram[MESSAGES] = {1, 1001, 333};
  struct ibv_sge piece = {(uintptr_t)memory,
                          (reliable ? kReliable : kDatagram)[number], mr->lkey};
  struct ibv_send_wr request = {
      .wr_id = number,
      .sg_list = &piece,
      .num_sge = 1,
      .opcode = number == 0 ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM,
      .imm_data = htobe32(0xcafe0000 + number)};
  if (reliable && number == 2) {
    request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    request.wr.rdma.remote_addr = peer->memory;
    request.wr.rdma.rkey = peer->key;
  }
  if (!reliable) {
    struct ibv_ah_attr way = way_to(peer, number == 2);
    request.wr.ud.ah = ibv_create_ah(pd, &way);
    check(request.wr.ud.ah == NULL, "ibv_create_ah");
    request.wr.ud.remote_qpn = peer->qpn;
    request.wr.ud.remote_qkey = Q_KEY;
  }
  struct ibv_send_wr *bad;
  check(ibv_post_send(qp, &request, &bad), "ibv_post_send");
}

static void print_completions(int count) {
  while (count > 0) {
    struct ibv_wc wc;
    const int got = ibv_poll_cq(cq, 1, &wc);
    check(got < 0, "ibv_poll_cq");
    if (got == 0) continue;
    --count;
    if (wc.status != IBV_WC_SUCCESS) {
      printf("failed wr_id %" PRIu64 " status %d\n", wc.wr_id, wc.status);
    } else if ((wc.opcode & IBV_WC_RECV) == 0) {
      printf("sent wr_id %" PRIu64 " opcode %d\n", wc.wr_id, wc.opcode);
    } else {
      const unsigned immediate =
          (wc.wc_flags & IBV_WC_WITH_IMM) != 0 ? be32toh(wc.imm_data) : 0;
      printf("received wr_id %" PRIu64
             " opcode %d byte_len %u slid %u sl %u src_qp %u path_bits %u"
             " grh %d imm %u qp_num %u\n",
             wc.wr_id, wc.opcode, wc.byte_len, wc.slid, wc.sl, wc.src_qp,
             wc.dlid_path_bits, (wc.wc_flags & IBV_WC_GRH) != 0, immediate,
             wc.qp_num);
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  reliable = strcmp(argv[1], "rc") == 0;
  sl = atoi(argv[2]);
  path_bits = atoi(argv[3]);
  open_adapter();
  initialise();
  post_receives();
  // A datagram may come as soon as the address is known.
  if (!reliable) connect_to(NULL);
  print_address();
  const struct address peer = read_address(argv[4]);
  if (reliable) connect_to(&peer);
  for (int i = 0; i < MESSAGES; ++i) send_message(i, &peer);
  print_completions(2 * MESSAGES);
  // What is left.
  struct ibv_qp_attr to = {.qp_state = IBV_QPS_ERR};
  check(ibv_modify_qp(qp, &to, IBV_QP_STATE), "to ERR");
  print_completions(1);
  return 0;
}
