/* Standard input is a file that pct has been given open, but may not open itself (sudo -u NOBODY pct ... < FILE): the
 * runs of a campaign read nothing, and nothing said so.
 *
 * RUN: echo word > %t/in; exec 3< %t/in; chmod 0 %t/in; of_root=;
 *     [ "$(id -u)" != 0 ] || of_root='setpriv --inh-caps=-all --bounding-set=-all';
 *     $of_root pct run -q -n 3 -s 1 -- %p <&3
 */
#include <stdio.h>
#include <string.h>

int main(void)
{
    char line[16] = "";
    return !fgets(line, sizeof line, stdin) || strcmp(line, "word\n");
}
