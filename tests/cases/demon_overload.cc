/* A function of C++ has the name of one that contracts speak of, and is entered before it. The trace counts both, and
 * the plan one: others were let in too early, where they could not go on yet, so all was "refuted by a real run".
 *
 * NEED: [ -x "$(dirname "$(command -v pct)")/pct-demon" ]
 * BUILD: g++ -g -O0 -pthread -o %p %s
 * RUN 1: cd %t && pct demon --points=calls -- %p > out; s=$?; grep 'of use does not hold' out || exit 9; exit $s
 */
#include <cassert>

struct queue {
    int size;
};

void use(queue &first)
{
    first.size++;
}

/*@demon
 * require some: all->size > 0
 */
extern "C" void use(queue *all)
{
    assert(all->size > 0);
}

/*@demon
 * ensure none: all->size = 0
 */
extern "C" void drain(queue *all)
{
    all->size = 0;
}

/*@demon test */
extern "C" void look(queue *all)
{
    use(all);
}

int main()
{
    static queue all;
    use(all);
    look(&all);
    return 0;
}
