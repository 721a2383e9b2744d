/* Objects that others know by those that they know: a list's first node, by the list. */
#ifndef PCT_RUNTIME_DEMON_DISCOVER_H
#define PCT_RUNTIME_DEMON_DISCOVER_H

#include <common/demon.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The test's thread is about to enter this function of the plan, with these arguments: they tell of what kind objects
 * are. */
void pct_demon_entered(uint32_t function, const uint64_t arguments[PCT_DEMON_ARGUMENTS]);

/* Add to the map those that are there now. */
void pct_demon_discover(struct pct_demon_map *map);

/* The program has gone on since objects were looked for. */
void pct_demon_forget(void);

/* Whether it is certain that what stands at `link` is the member that pct_demon_container() says, of an element of a
 * list, not of its head. To be called with the baton, by threads of this library and the test's. */
bool pct_demon_is_element(struct pct_demon_map *map, uint64_t link, uint32_t container);

/* Read the program's memory, as the kernel does. False: there is none. */
bool pct_demon_read(uint64_t from, void *to, size_t size);

/* Where the object is; 0: there is none, or it is not certain that it is an element of a list. call: the arguments of
 * the function of the point, NULL: it is none. */
uint64_t pct_demon_find(const struct pct_demon_place *place, const uint64_t *call);

#endif
