// What ib_umad says of MADs that come.  Prints each one's header, words and
// values, in one line.
//
//   umad_fields ask CLASS LID SL BITS [GID]: asks CLASS (1, 3, 4, or 11, which
//     is a vendor's) of who has LID, with service level SL, from the LID of
//     path BITS, and with a global route if there is a GID
//   umad_fields answer COUNT: answers requests of class 11; prints "ready"
//     before
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAD_BYTES 256
#define ROOM (64 << 10)  // for a long answer
#define VENDOR 11
#define GET 1
#define GET_TABLE 0x12
#define RESPONSE 0x81
#define QP1_KEY 0x80010000u

static int port;
static ib_user_mad_t *umad;
static unsigned char *mad;  // in it

static void check(int wrong, const char *what) {
  if (!wrong) return;
  printf("%s: %s\n", what, strerror(errno));
  exit(1);
}

static void receive(void) {
  int length = ROOM;
  check(umad_recv(port, umad, &length, -1) < 0, "umad_recv");
  // Of a request that found nobody there is no sender.
  printf("status %d length %d returned %d method %u", umad_status(umad),
         umad->length, length, mad[3]);
  if (umad_status(umad) == 0) {
    printf(
        " lid %u sl %u qpn %u path_bits %u pkey_index %u grh %u hop_limit %u",
        ntohs(umad->addr.lid), umad->addr.sl, ntohl(umad->addr.qpn),
        umad->addr.path_bits, umad->addr.pkey_index, umad->addr.grh_present,
        umad->addr.grh_present ? umad->addr.hop_limit : 0);
  }
  puts("");
  fflush(stdout);
}

static void ask(int class, char **words, int count) {
  const int table = class == 3;
  const int agent =
      umad_register(port, class, table ? 2 : 1, table ? 1 : 0, NULL);
  check(agent < 0, "umad_register");
  mad[0] = 1;  // base version
  mad[1] = class;
  mad[2] = table ? 2 : 1;
  mad[3] = table ? GET_TABLE : GET;
  mad[15] = 1;                                 // of the transaction's ID
  mad[17] = class == 1 || table ? 0x11 : 0x1;  // NodeInfo, or what a class has
  umad_set_addr(umad, atoi(words[0]), class == 1 ? 0 : 1, atoi(words[1]),
                class == 1 ? 0 : QP1_KEY);
  umad->addr.path_bits = atoi(words[2]);
  if (count == 4) {
    umad->addr.grh_present = 1;
    umad->addr.hop_limit = 1;
    check(inet_pton(AF_INET6, words[3], umad->addr.gid) != 1, words[3]);
  }
  check(umad_send(port, agent, umad, MAD_BYTES, 5000, 0) < 0, "umad_send");
  receive();
}

static void answer(int count) {
  long methods[16 / sizeof(long)] = {1L << GET};
  const int agent = umad_register(port, VENDOR, 1, 0, methods);
  check(agent < 0, "umad_register");
  puts("ready");
  fflush(stdout);
  while (count-- > 0) {
    receive();
    mad[3] = RESPONSE;
    check(umad_send(port, agent, umad, MAD_BYTES, 0, 0) < 0, "umad_send");
  }
}

int main(int argc, char **argv) {
  // Before it the library does not know how long headers are.
  port = umad_open_port(NULL, 1);
  check(port < 0, "umad_open_port");
  umad = calloc(1, umad_size() + ROOM);
  check(umad == NULL, "calloc");
  mad = umad_get_mad(umad);
  if (argc == 3 && strcmp(argv[1], "answer") == 0) {
    answer(atoi(argv[2]));
  } else if ((argc == 6 || argc == 7) && strcmp(argv[1], "ask") == 0) {
    ask(atoi(argv[2]), argv + 3, argc - 3);
  } else {
    return 2;
  }
  return 0;
}
