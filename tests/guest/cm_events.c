/* What rdma_cm tells of one connection, event by event, to programs without a
 * queue pair: so the kernel's own events are seen, not librdmacm's.
 *
 *   cm_events serve tcp|udp PORT accept|reject|hang-up
 *   cm_events call tcp|udp ADDRESS PORT accept|reject|hang-up
 *
 * The last word is what the server does.  Who called disconnects, but with
 * hang-up the server does.
 */
#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE = 20000 }; /* ms */

static const char *answer;

static void need(int status, const char *what) {
  if (status == 0) return;
  perror(what);
  exit(1);
}

/* Without the zeros that fill the room of the message. */
static void tell_data(const unsigned char *data, int room) {
  int length = room;
  while (length > 0 && data[length - 1] == 0) --length;
  printf(" room %d data '%.*s'", room, length, (const char *)data);
}

static void tell(const struct rdma_cm_event *event) {
  printf("%s status %d", rdma_event_str(event->event), event->status);
  if (event->id->ps == RDMA_PS_UDP) {
    const struct rdma_ud_param *ud = &event->param.ud;
    tell_data(ud->private_data, ud->private_data_len);
    printf(" qp 0x%x qkey 0x%x sl %d global %d rate %d port %d", ud->qp_num,
           ud->qkey, ud->ah_attr.sl, ud->ah_attr.is_global,
           ud->ah_attr.static_rate, ud->ah_attr.port_num);
  } else {
    const struct rdma_conn_param *conn = &event->param.conn;
    tell_data(conn->private_data, conn->private_data_len);
    printf(" resources %d depth %d flow %d retries %d rnr %d srq %d qp 0x%x",
           conn->responder_resources, conn->initiator_depth,
           conn->flow_control, conn->retry_count, conn->rnr_retry_count,
           conn->srq, conn->qp_num);
  }
  printf("\n");
}

static struct rdma_conn_param parameters(const char *data) {
  struct rdma_conn_param with = {.private_data = data,
                                 .private_data_len = strlen(data),
                                 .responder_resources = 3,
                                 .initiator_depth = 2,
                                 .flow_control = 1,
                                 .retry_count = 5,
                                 .rnr_retry_count = 6,
                                 .qp_num = 0x123456};
  return with;
}

/* What asking for the queue pair's attributes says in each state. */
static void tell_attributes(struct rdma_cm_id *id) {
  for (int state = IBV_QPS_INIT; state <= IBV_QPS_RTS; ++state) {
    struct ibv_qp_attr attributes = {.qp_state = state};
    int mask = 0;
    if (rdma_init_qp_attr(id, &attributes, &mask) != 0) {
      perror("attributes");
      continue;
    }
    printf("attributes %d mask 0x%x mtu %d access 0x%x read %d %d rnr %d"
           " retries %d %d timeout %d qp 0x%x sl %d global %d rate %d\n",
           state, mask, attributes.path_mtu, attributes.qp_access_flags,
           attributes.max_rd_atomic, attributes.max_dest_rd_atomic,
           attributes.min_rnr_timer, attributes.retry_cnt,
           attributes.rnr_retry, attributes.timeout, attributes.dest_qp_num,
           attributes.ah_attr.sl, attributes.ah_attr.is_global,
           attributes.ah_attr.static_rate);
  }
}

static void answer_request(struct rdma_cm_id *id) {
  struct rdma_conn_param with = parameters("welcome");
  /* The number is the peer's choice: it only has to be there. */
  printf("from port %s\n", rdma_get_dst_port(id) != 0 ? "some" : "none");
  if (strcmp(answer, "reject") == 0) {
    need(rdma_reject(id, "go away", strlen("go away")), "rdma_reject");
    exit(0);
  }
  tell_attributes(id);
  need(rdma_accept(id, &with), "rdma_accept");
  if (id->ps == RDMA_PS_UDP) exit(0);
}

/* Does what comes next. */
static void go_on(const struct rdma_cm_event *event) {
  struct rdma_cm_id *id = event->id;
  struct rdma_conn_param with = parameters("hello");
  switch (event->event) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      return need(rdma_resolve_route(id, PATIENCE), "rdma_resolve_route");
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      return need(rdma_connect(id, &with), "rdma_connect");
    case RDMA_CM_EVENT_CONNECT_REQUEST:
      return answer_request(id);
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
      tell_attributes(id);
      need(rdma_establish(id), "rdma_establish");
      if (strcmp(answer, "hang-up") != 0)
        need(rdma_disconnect(id), "rdma_disconnect");
      return;
    case RDMA_CM_EVENT_ESTABLISHED:
      if (strcmp(answer, "hang-up") == 0)
        need(rdma_disconnect(id), "rdma_disconnect");
      if (id->ps == RDMA_PS_UDP) exit(0);
      return;
    case RDMA_CM_EVENT_DISCONNECTED:
      return need(rdma_disconnect(id), "rdma_disconnect");
    default:
      exit(0);
  }
}

int main(int argc, char **argv) {
  const int serves = argc == 5;
  struct sockaddr_in address = {.sin_family = AF_INET};
  struct rdma_event_channel *channel = rdma_create_event_channel();
  struct rdma_cm_id *id = NULL;
  if (argc != 5 && argc != 6) return 2;
  answer = argv[argc - 1];
  setvbuf(stdout, NULL, _IOLBF, 0);
  need(channel == NULL, "rdma_create_event_channel");
  need(rdma_create_id(channel, &id, NULL,
                      strcmp(argv[2], "udp") == 0 ? RDMA_PS_UDP : RDMA_PS_TCP),
       "rdma_create_id");
  address.sin_port = htons(atoi(argv[serves ? 3 : 4]));
  if (serves) {
    need(rdma_bind_addr(id, (struct sockaddr *)&address), "rdma_bind_addr");
    need(rdma_listen(id, 1), "rdma_listen");
    printf("listens\n");
  } else {
    if (inet_pton(AF_INET, argv[3], &address.sin_addr) != 1) return 2;
    need(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, PATIENCE),
         "rdma_resolve_addr");
  }
  for (;;) {
    struct rdma_cm_event *event = NULL;
    need(rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
    tell(event);
    go_on(event);
    rdma_ack_cm_event(event);
  }
}
