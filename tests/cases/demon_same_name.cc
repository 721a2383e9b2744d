/* Two classes have a structure `Node` of their own. Others were let call cancel(), which takes a tree's, with a node of
 * the list, as both have one name: a failure that was "confirmed", and that no program can have.
 *
 * NEED: [ -x "$(dirname "$(command -v pct)")/pct-demon" ]
 * BUILD: g++ -g -O0 -pthread -o %p %s
 * RUN: cd %t && pct demon --points=calls -- %p > out; s=$?;
 *     grep 'cancel was never called by others: they know nothing that its node could be' out || exit 9; exit $s
 */
#include <cassert>

struct List {
    struct Node {
        long weight;
        Node *next;
    };
    Node *head;
};
struct Tree {
    struct Node {
        Node *left, *right;
        long weight;
    };
};

/*@demon
 * require heavy: list->head->weight > 0
 */
extern "C" void use(List *list)
{
    assert(list->head->weight > 0);
}

/*@demon
 * ensure none: node->left = null
 */
extern "C" void cancel(Tree::Node *node)
{
    node->left = nullptr;
}

/*@demon test */
extern "C" void look(List *list)
{
    use(list);
}

int main()
{
    static List::Node first = { 1, nullptr };
    static List list = { &first };
    look(&list);
    return 0;
}
