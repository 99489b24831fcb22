/* A name up to "@" or "(" is looked up in sorted lists; families of names go by how they begin. */
#include "analyze/no_return.h"

#include <stdlib.h>
#include <string.h>

/* Sorted as strcmp() does. */
static const char *const NAMES[] = {
    "_Exit",
    "_Unwind_Resume",
    "_ZSt9terminatev",
    "____longjmp_chk",
    "__assert",
    "__assert_fail",
    "__assert_fail_base",
    "__assert_perror_fail",
    "__assert_rtn",
    "__chk_fail",
    "__clang_call_terminate",
    "__cxa_bad_cast",
    "__cxa_bad_typeid",
    "__cxa_call_terminate",
    "__cxa_call_unexpected",
    "__cxa_deleted_virtual",
    "__cxa_pure_virtual",
    "__cxa_rethrow",
    "__cxa_throw",
    "__cxa_throw_bad_array_new_length",
    "__fortify_fail",
    "__fortify_panic",
    "__libc_fatal",
    "__libc_longjmp",
    "__libc_siglongjmp",
    "__libc_start_call_main",
    "__libc_start_main",
    "__longjmp",
    "__longjmp_chk",
    "__module_put_and_kthread_exit",
    "__pthread_exit",
    "__pthread_unwind",
    "__pthread_unwind_next",
    "__stack_chk_fail",
    "__stack_chk_fail_local",
    "__ubsan_handle_builtin_unreachable",
    "__ubsan_handle_missing_return",
    "_dl_fatal_printf",
    "_dl_signal_error",
    "_dl_signal_exception",
    "_exit",
    "_longjmp",
    "abort",
    "alloc::alloc::handle_alloc_error",
    "alloc::raw_vec::capacity_overflow",
    "alloc::raw_vec::handle_error",
    "core::cell::panic_already_borrowed",
    "core::cell::panic_already_mutably_borrowed",
    "core::option::expect_failed",
    "core::option::unwrap_failed",
    "core::result::unwrap_failed",
    "do_exit",
    "do_group_exit",
    "exit",
    "fortify_panic",
    "kthread_exit",
    "longjmp",
    "panic",
    "pthread_exit",
    "quick_exit",
    "runtime.fatal",
    "runtime.gopanic",
    "runtime.throw",
    "siglongjmp",
    "std::process::abort",
    "std::process::exit",
    "std::rethrow_exception",
    "std::terminate",
    "thrd_exit",
    "xalloc_die",
};

static const char *const FAMILIES[] = {
    "std::__throw_",
    "core::panicking::",
    "core::slice::index::slice_",
    "core::str::slice_error_fail",
    "std::panicking::begin_panic",
    "std::panicking::rust_panic",
    "runtime.panic",
    "runtime.goPanic",
};

/* Those of <err.h>, where they come from a library: a program's own err() may well return. */
static const char *const IMPORTED[] = {"err", "errx", "verr", "verrx"};

static int compare(const void *key, const void *item) {
    return strcmp(key, *(const char *const *)item);
}

#define LISTED(name, list)                                                                         \
    (bsearch(name, list, sizeof list / sizeof *list, sizeof *list, compare) != NULL)

/* Mangled: _ZSt, digits, __throw_ (std::__throw_length_error). */
static bool is_mangled_throw(const char *name) {
    if (strncmp(name, "_ZSt", 4))
        return false;
    name += 4 + strspn(name + 4, "0123456789");
    return !strncmp(name, "__throw_", 8);
}

bool name_never_returns(const char *name) {
    char plain[64];
    if (!name)
        return false;
    for (size_t i = 0; i < sizeof FAMILIES / sizeof *FAMILIES; i++)
        if (!strncmp(name, FAMILIES[i], strlen(FAMILIES[i])))
            return true;
    size_t length = strcspn(name, "@(");
    if (length == 0 || length >= sizeof plain)
        return is_mangled_throw(name);
    memcpy(plain, name, length);
    plain[length] = '\0';
    return is_mangled_throw(name) || LISTED(plain, NAMES) ||
           (name[length] == '@' && LISTED(plain, IMPORTED));
}
