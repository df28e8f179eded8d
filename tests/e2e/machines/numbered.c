/* numbered server COUNT ACK_TIMEOUT
   numbered client HOST COUNT ACK_TIMEOUT

   Two programs that send each other COUNT numbered messages (0: without end) over
   a reliable connection, both at once.  Each request must complete once, in
   order, and each message arrive once, in order, with what it was sent with;
   after a failure all that was posted must complete in error.  The last line of
   stdout says how many of each there were, as JSON.

   ACK_TIMEOUT: of the queue pair (4.096 us * 2^ACK_TIMEOUT, IBA 9.7.6.1.3).
   Exit status: 0: all was sent and received; 1: the connection failed; 2: what
   may never happen; 3: there was no connection; 4: the adapter is gone. */

#include <inttypes.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT "7899"
#define LONGEST 20000
#define SENDS 16    /* posted at once */
#define RECEIVES 64 /* so that who sends needs not wait for them */
#define SEND UINT64_C(0)
#define RECEIVE (UINT64_C(1) << 63)

struct queue {
  uint64_t posted;
  uint64_t completed; /* with success */
  uint64_t failed;
};

static struct rdma_cm_id* id;
static struct ibv_cq* cq;
static struct ibv_comp_channel* channel;
static struct ibv_mr* mr;
static unsigned char memory[SENDS + RECEIVES][LONGEST];
static struct queue sends, receives;
static uint64_t wanted = UINT64_MAX;
static const char* failure;

static void fail(int status, const char* what) {
  fprintf(stderr, "numbered: %s\n", what);
  exit(status);
}

static uint32_t length_of(uint64_t number) { return 1 + number * 7919 % LONGEST; }

static unsigned char byte_of(uint64_t number, uint32_t at) {
  return number * 31 + at;
}

static void post_receive(void) {
  const uint64_t number = receives.posted++;
  unsigned char* place = memory[SENDS + number % RECEIVES];
  struct ibv_sge sge = {(uintptr_t)place, LONGEST, mr->lkey};
  struct ibv_recv_wr wr = {.wr_id = RECEIVE | number, .sg_list = &sge, .num_sge = 1};
  struct ibv_recv_wr* bad;
  memset(place, 0xee, LONGEST);
  if (ibv_post_recv(id->qp, &wr, &bad)) fail(4, "can't post a receive");
}

static void post_send(void) {
  const uint64_t number = sends.posted++;
  unsigned char* place = memory[number % SENDS];
  struct ibv_sge sge = {(uintptr_t)place, length_of(number), mr->lkey};
  struct ibv_send_wr wr = {.wr_id = SEND | number,
                           .sg_list = &sge,
                           .num_sge = 1,
                           .opcode = IBV_WR_SEND,
                           .send_flags = IBV_SEND_SIGNALED};
  struct ibv_send_wr* bad;
  for (uint32_t at = 0; at < sge.length; ++at) place[at] = byte_of(number, at);
  if (ibv_post_send(id->qp, &wr, &bad)) fail(4, "can't post a send");
}

static void check_message(uint64_t number, uint32_t length) {
  const unsigned char* place = memory[SENDS + number % RECEIVES];
  if (length != length_of(number)) fail(2, "a message of another length arrived");
  for (uint32_t at = 0; at < length; ++at)
    if (place[at] != byte_of(number, at)) fail(2, "another message arrived");
}

static uint64_t pending(const struct queue* queue) {
  return queue->posted - queue->completed - queue->failed;
}

static void take(const struct ibv_wc* wc) {
  const int is_receive = (wc->wr_id & RECEIVE) != 0;
  struct queue* queue = is_receive ? &receives : &sends;
  const uint64_t number = wc->wr_id & ~RECEIVE;
  if (pending(queue) == 0) fail(2, "a completion of nothing");
  if (number != queue->completed + queue->failed)
    fail(2, "a completion that is not the next one's");
  if (wc->status == IBV_WC_SUCCESS) {
    if (queue->failed) fail(2, "a success after a failure");
    if (is_receive) check_message(number, wc->byte_len);
    queue->completed++;
    if (is_receive && !failure) post_receive();
    return;
  }
  if (failure && wc->status != IBV_WC_WR_FLUSH_ERR)
    fail(2, "a second request failed for itself");
  if (!failure) failure = ibv_wc_status_str(wc->status);
  queue->failed++;
}

static void poll_or_wait(void) {
  struct ibv_wc wcs[16];
  int count = ibv_poll_cq(cq, 16, wcs);
  if (count == 0) {
    struct ibv_cq* told;
    void* context;
    if (ibv_req_notify_cq(cq, 0)) fail(4, "can't ask for an event");
    count = ibv_poll_cq(cq, 16, wcs);
    if (count == 0) {
      if (ibv_get_cq_event(channel, &told, &context)) fail(4, "can't wait for an event");
      ibv_ack_cq_events(told, 1);
    }
  }
  if (count < 0) fail(4, "can't poll");
  for (int at = 0; at < count; ++at) take(&wcs[at]);
}

static void prepare(uint8_t ack_timeout) {
  channel = ibv_create_comp_channel(id->verbs);
  cq = channel ? ibv_create_cq(id->verbs, 2 * (SENDS + RECEIVES), NULL, channel, 0)
               : NULL;
  struct ibv_pd* pd = ibv_alloc_pd(id->verbs);
  struct ibv_qp_init_attr attributes = {
      .send_cq = cq,
      .recv_cq = cq,
      .qp_type = IBV_QPT_RC,
      .cap = {.max_send_wr = SENDS,
              .max_recv_wr = RECEIVES,
              .max_send_sge = 1,
              .max_recv_sge = 1}};
  if (!cq || !pd || rdma_create_qp(id, pd, &attributes))
    fail(2, "can't make a queue pair");
  mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
  if (!mr) fail(2, "can't register memory");
  if (rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &ack_timeout,
                      sizeof ack_timeout))
    fail(2, "can't set the timeout");
  for (int count = 0; count < RECEIVES; ++count) post_receive();
}

static struct rdma_conn_param parameters(void) {
  return (struct rdma_conn_param){.retry_count = 7, .rnr_retry_count = 7};
}

static void serve(uint8_t ack_timeout) {
  struct rdma_cm_id* listener;
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(atoi(PORT))};
  if (rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP) ||
      rdma_bind_addr(listener, (struct sockaddr*)&any) || rdma_listen(listener, 1))
    fail(3, "can't listen");
  printf("listening\n");
  if (rdma_get_request(listener, &id)) fail(3, "nobody connected");
  prepare(ack_timeout);
  struct rdma_conn_param accepted = parameters();
  if (rdma_accept(id, &accepted)) fail(3, "can't accept");
}

static void connect_to(const char* host, uint8_t ack_timeout) {
  struct addrinfo hints = {.ai_family = AF_INET}, *found;
  if (getaddrinfo(host, PORT, &hints, &found)) fail(3, "who is that?");
  if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) ||
      rdma_resolve_addr(id, NULL, found->ai_addr, 10000) ||
      rdma_resolve_route(id, 10000))
    fail(3, "no way there");
  prepare(ack_timeout);
  struct rdma_conn_param asked = parameters();
  if (rdma_connect(id, &asked)) fail(3, "can't connect");
}

/* Until all is sent and acknowledged, and the other's is here. */
static void exchange(void) {
  while (!failure && (sends.completed < wanted || receives.completed < wanted)) {
    while (sends.posted < wanted && pending(&sends) < SENDS) post_send();
    poll_or_wait();
  }
}

/* The client goes when the server knows that all has come: by one more message. */
static void part(int is_server) {
  const uint64_t last = wanted + 1;
  if (is_server) post_send();
  while (!failure && (is_server ? sends.completed : receives.completed) < last)
    poll_or_wait();
}

static void complete_what_is_left(void) {
  while (pending(&sends) || pending(&receives)) poll_or_wait();
  struct ibv_wc wc;
  if (ibv_poll_cq(cq, 1, &wc) != 0) fail(2, "a completion of nothing");
}

static void report(int all) {
  printf("{\"sent\": %" PRIu64 ", \"sends_failed\": %" PRIu64
         ", \"received\": %" PRIu64 ", \"failure\": \"%s\"}\n",
         sends.completed, sends.failed, receives.completed, all ? "" : failure);
}

int main(int argc, char** argv) {
  const int is_server = argc == 4 && strcmp(argv[1], "server") == 0;
  if (!is_server && (argc != 5 || strcmp(argv[1], "client") != 0))
    fail(3, "server COUNT ACK_TIMEOUT | client HOST COUNT ACK_TIMEOUT");
  const uint64_t count = strtoull(argv[argc - 2], NULL, 10);
  const uint8_t ack_timeout = atoi(argv[argc - 1]);
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (count) wanted = count;
  if (is_server)
    serve(ack_timeout);
  else
    connect_to(argv[2], ack_timeout);
  printf("connected\n");
  exchange();
  const int all = !failure;
  if (all) {
    part(is_server);
    rdma_disconnect(id);
  }
  complete_what_is_left();
  report(all);
  return all ? 0 : 1;
}
