/* Who we are, and which Redis a client may take us for. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define PERDURE_VERSION "0.1.0"
/* INFO's redis_version and HELLO's version: clients decide by it what they may send. */
#define PERDURE_REDIS_VERSION "7.2.5"

#endif
