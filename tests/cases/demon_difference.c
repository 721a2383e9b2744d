/* `end - at > 0` of two pointers is signed in C, and counts elements. Contracts had it without a sign, and in bytes:
 * "proven stable", though another thread may move `at` behind `end`. They compare pointers, and do not calculate.
 *
 * NEED: [ -x "$(dirname "$(command -v pct)")/pct-demon" ]
 * BUILD: gcc -g -O0 -pthread -o %p %s
 * RUN 2: cd %t && echo 'test look(text) proc use(text) require left: text.end - text.at > 0 proc skip(text)
 *     ensure past: text.at > old text.end' > c; pct demon --spec c -- %p 2> err; s=$?;
 *     grep 'text.end is a pointer: contracts compare pointers' err || exit 9; exit $s
 * RUN 1: cd %t && echo 'test look(text) proc use(text) require left: text.at < text.end proc skip(text)
 *     ensure past: text.at > old text.end' > c; pct demon --points=calls --spec c -- %p > out; s=$?;
 *     grep 'of use does not hold' out || exit 9; exit $s
 */
#include <assert.h>

struct text {
    char *at, *end;
};

void use(struct text *text)
{
    assert(text->end - text->at > 0);
}

void skip(struct text *text)
{
    text->at = text->end + 1;
}

void look(struct text *text)
{
    use(text);
}

int main(void)
{
    static char letters[4];
    static struct text text = { letters, letters + 2 };
    look(&text);
    return 0;
}
