/* In a contract 0xffffffff was a long, and an int that is -1 another number. In C it is unsigned, and both are the
 * same: `handle != 0xffffffff` was "proven stable" though another thread sets the handle to -1.
 *
 * NEED: [ -x "$(dirname "$(command -v pct)")/pct-demon" ]
 * BUILD: gcc -g -O0 -pthread -o %p %s
 * RUN 1: cd %t && pct demon --points=calls -- %p > out; s=$?; grep 'of use does not hold' out || exit 9; exit $s
 */
#include <assert.h>

struct file {
    int handle;
};

/*@demon
 * require open: file->handle != 0xffffffff
 */
void use(struct file *file)
{
    assert(file->handle != 0xffffffff);
}

/*@demon
 * ensure none: file->handle = -1
 */
void drop(struct file *file)
{
    file->handle = -1;
}

/*@demon test */
void look(struct file *file)
{
    use(file);
}

int main(void)
{
    static struct file file = { .handle = 3 };
    look(&file);
    return 0;
}
