/* Any bytes as a file of pairs. What is read has names of its own and both builds of each. */
#include <string.h>

#include "input.h"
#include "study/suite_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct suite_file suite;
    struct memory_file file = memory_file(data, size);
    if (suite_file_read(&suite, file.path, &error)) {
        require(suite.count > 0 && suite.count <= SUITE_MOST);
        for (size_t i = 0; i < suite.count; i++) {
            const struct suite_entry *entry = &suite.entries[i];
            require(*entry->old && *entry->new && (!entry->arguments || *entry->arguments));
            for (size_t k = 0; k < i; k++)
                require(strcmp(suite.entries[k].name, entry->name) != 0);
        }
    } else {
        require(error.message[0] && !strchr(error.message, '\n'));
    }
    suite_file_free(&suite);
    close(file.fd);
    return 0;
}
