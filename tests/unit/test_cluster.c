/* What the scheduler is told and says, which jobs are submitted again, and the files of tasks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/cluster_options.h"
#include "cluster/ledger.h"
#include "cluster/outside.h"
#include "cluster/submission.h"
#include "cluster/task_file.h"

/* ---- options ---- */

static void options_are_passed_on(void **state) {
    (void)state;
    struct cluster_options options;
    struct error error;
    assert_true(cluster_options_parse(&options, "slurm", &error));
    assert_int_equal(options.passed_count, 0);
    assert_null(options.time);
    cluster_options_free(&options);

    assert_true(cluster_options_parse(&options,
                                      "slurm:account=a,partition=p,time=1:00:00,mem=2G,"
                                      "partition=q,exclude=n[1,3],cpus=4,each=3,grace=1.5s",
                                      &error));
    static const char *const PASSED[] = {"--account=a", "--partition=p,q", "--time=1:00:00",
                                         "--mem=2G", "--exclude=n[1,3]"};
    assert_int_equal(options.passed_count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(options.passed[i], PASSED[i]);
    assert_string_equal(options.time, "1:00:00");
    assert_int_equal(options.cpus, 4);
    assert_int_equal(options.each, 3);
    assert_true(options.grace == 1.5);
    cluster_options_free(&options);
}

static void bad_options_are_refused(void **state) {
    (void)state;
    static const char *const BAD[][2] = {
        {"pbs", "must be slurm"},
        {"slurmy", "must be slurm"},
        {"slurm:", "not KEY=VALUE"},
        {"slurm:mem", "not KEY=VALUE"},
        {"slurm:mem=", "not KEY=VALUE"},
        {"slurm:mem=1G,", "not KEY=VALUE"},
        {"slurm:mem=1G,mem=2G", "twice"},
        {"slurm:color=red", "no key of it: there are account"},
        {"slurm:cpus=0", "1 to 1024"},
        {"slurm:each=x", "1 to 10000"},
        {"slurm:grace=-1", "must be a time"},
        {"slurm:program=culprit", "whole path"},
        {"slurm:account=a\nb", "control characters"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct cluster_options options;
        struct error error = {0};
        assert_false(cluster_options_parse(&options, BAD[i][0], &error));
        if (!strstr(error.message, BAD[i][1]))
            fail_msg("%s: %s", BAD[i][0], error.message);
        cluster_options_free(&options);
    }
}

/* ---- what Slurm says ---- */

static void answers_are_read(void **state) {
    (void)state;
    uint64_t number;
    uint32_t largest = 0;
    assert_true(slurm_read_number("1234\n", &number) && number == 1234);
    assert_true(slurm_read_number("77;cluster\n", &number) && number == 77);
    assert_false(slurm_read_number("", &number));
    assert_false(slurm_read_number("Submitted batch job 3\n", &number));
    assert_false(slurm_read_number("99999999999999999999\n", &number));
    assert_true(
        slurm_read_config("Configuration data\nMaxArraySize            = 1001\nX = 1\n", &largest));
    assert_int_equal(largest, 1001);
    assert_false(slurm_read_config("MaxJobCount = 10000\n", &largest));
    assert_false(slurm_read_config("MaxArraySize = x\n", &largest));
}

static void lists_are_read(void **state) {
    (void)state;
    struct slurm_list list = {0};
    assert_true(slurm_read_list("12|1|RUNNING|node2|None\n"
                                "nonsense\n"
                                "14|[0-2,7-8%3]|CANCELLED||None\n" /* they never were jobs */
                                "11|5|TIMEOUT|node1|TimeLimit\n"
                                "12|0|PENDING||Prio\x1b[2Jrity\n"
                                "13|N/A|CANCELLED||Resources\n"
                                "13|2|RUNNING|node1|None",
                                &list));
    assert_int_equal(list.count, 3 + 5 + 2);
    assert_int_equal(slurm_find(&list, 13, 2)->fate, JOB_RUNS);
    assert_int_equal(slurm_find(&list, 13, 7)->fate, JOB_CANCELLED);
    assert_int_equal(slurm_find(&list, 14, 8)->fate, JOB_CANCELLED);
    assert_null(slurm_find(&list, 14, 3));
    const struct slurm_element *found = slurm_find(&list, 11, 5);
    assert_non_null(found);
    assert_int_equal(found->fate, JOB_LOST);
    assert_string_equal(found->node, "node1");
    found = slurm_find(&list, 12, 0);
    assert_int_equal(found->fate, JOB_WAITS);
    assert_null(strchr(found->reason, '\x1b'));
    assert_int_equal(slurm_find(&list, 12, 1)->fate, JOB_RUNS);
    assert_null(slurm_find(&list, 12, 2));
    slurm_list_free(&list);
    assert_int_equal(slurm_fate("OUT_OF_MEMORY"), JOB_LOST);
    assert_int_equal(slurm_fate("PREEMPTED"), JOB_PREEMPTED);
    assert_int_equal(slurm_fate("something new"), JOB_LOST);
}

/* ---- which are submitted again ---- */

static const struct slurm_element RUNS = {.fate = JOB_RUNS, .state = "RUNNING"},
                                  LOST = {.fate = JOB_LOST, .state = "NODE_FAIL", .node = "node1"},
                                  COMPLETED = {.fate = JOB_COMPLETED, .state = "COMPLETED"},
                                  CANCELLED = {.fate = JOB_CANCELLED, .state = "CANCELLED"},
                                  PREEMPTED = {.fate = JOB_PREEMPTED, .state = "PREEMPTED"};

/* Three times in all, each after a grace of 3 s. */
static void lost_jobs_are_submitted_twice_more(void **state) {
    (void)state;
    struct task_record record = {0};
    double now = 100;
    for (uint32_t submission = 0; submission < 3; submission++) {
        ledger_submitted(&record, submission, 4, 8);
        assert_int_equal(ledger_judge(&record, &RUNS, now, 30), TASK_OUT);
        assert_true(record.runs);
        assert_int_equal(ledger_judge(&record, &LOST, now += 10, 30), TASK_OUT);
        assert_int_equal(ledger_judge(&record, &LOST, now += 2, 30), TASK_OUT);
        assert_int_equal(ledger_judge(&record, &LOST, now += 2, 30),
                         submission < 2 ? TASK_OPEN : TASK_FAILED);
    }
}

/* What has completed may be seen late, by caches of NFS; what is forgotten counts as ended. */
static void results_may_come_late(void **state) {
    (void)state;
    struct task_record record = {0};
    ledger_submitted(&record, 0, 0, 0);
    assert_int_equal(ledger_judge(&record, &COMPLETED, 100, 30), TASK_OUT);
    assert_int_equal(ledger_judge(&record, &COMPLETED, 129, 30), TASK_OUT);
    assert_int_equal(ledger_judge(&record, &COMPLETED, 131, 30), TASK_OPEN);
    ledger_submitted(&record, 1, 0, 0);
    assert_int_equal(ledger_judge(&record, NULL, 200, 30), TASK_OUT);
    assert_int_equal(ledger_judge(&record, &RUNS, 220, 30), TASK_OUT); /* it was there after all */
    assert_int_equal(ledger_judge(&record, NULL, 240, 30), TASK_OUT);
    assert_int_equal(ledger_judge(&record, NULL, 271, 30), TASK_OPEN);
}

static void cancelled_ones_are_not(void **state) {
    (void)state;
    struct task_record record = {0};
    ledger_submitted(&record, 0, 0, 0);
    assert_int_equal(ledger_judge(&record, &CANCELLED, 100, 1), TASK_OUT);
    assert_int_equal(ledger_judge(&record, &CANCELLED, 102, 1), TASK_FAILED);
}

static void preemption_does_not_count(void **state) {
    (void)state;
    struct task_record record = {0};
    for (uint32_t i = 0; i < 10; i++) {
        ledger_submitted(&record, i, 0, 0);
        ledger_judge(&record, &PREEMPTED, 100, 0);
        assert_int_equal(record.state, TASK_OPEN);
    }
}

static void reasons_are_told(void **state) {
    (void)state;
    char why[LEDGER_WHY];
    ledger_why(&LOST, 12, 3, why, sizeof why);
    assert_string_equal(why, "job 12_3 on node1 ended as its node failed (NODE_FAIL)");
    const struct slurm_element failed = {.state = "FAILED", .reason = "NonZeroExitCode"};
    ledger_why(&failed, 12, 3, why, sizeof why);
    assert_string_equal(why, "job 12_3 ended as FAILED: NonZeroExitCode");
    ledger_why(NULL, 12, 3, why, sizeof why);
    assert_string_equal(why, "job 12_3 is not known to Slurm any more");
}

/* ---- how many jobs ---- */

static void tasks_share_jobs(void **state) {
    (void)state;
    assert_int_equal(ledger_each(0, 0, 1, 1000), 1);
    assert_int_equal(ledger_each(200, 0, 0.1, 1000), 1);    /* few jobs: one each */
    assert_int_equal(ledger_each(2000, 0, 100, 1000), 2);   /* long, but at most 1000 jobs */
    assert_int_equal(ledger_each(2000, 0, 5, 1000), 4);     /* 20 s to a job */
    assert_int_equal(ledger_each(2000, 0, 0.01, 1000), 10); /* no fewer than 200 jobs */
    assert_int_equal(ledger_each(2000, 7, 0.01, 1000), 7);
    assert_int_equal(ledger_each(10000, 1, 1, 1000), 10);
    assert_true(ledger_look(1) == 0.25 && ledger_look(32) == 0.25 && ledger_look(33) == 1);
    assert_int_equal(ledger_array(25, 0, 10), 10);
    assert_int_equal(ledger_array(25, 20, 10), 5);
}

/* ---- files ---- */

static bool note_task(void *context, const struct task_file *file, uint32_t number,
                      const json_t *task, struct error *error) {
    char *noted = context;
    (void)error;
    assert_string_equal(file->folder, "/kept");
    sprintf(noted + strlen(noted), "%u=%lld ", number,
            (long long)json_integer_value(json_object_get(task, "n")));
    return true;
}

static void files_of_tasks_are_read(void **state) {
    (void)state;
    char folder[] = "/tmp/culprit-tasks-XXXXXX", path[64], noted[64];
    struct error error;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/1.tasks", folder);
    const struct task_file written = {
        .verb = "sweep", .version = "1", .folder = "/kept", .each = 2, .count = 3};
    char *lines[] = {"{\"n\":10}", "{\"n\":11}", "{\"n\":12}"};
    assert_true(task_file_write(path, &written, lines, &error));
    static const char *const WANTED[] = {"0=10 1=11 ", "2=12 "};
    const struct task_visitor visitor = {note_task, noted};
    for (uint32_t element = 0; element < 3; element++) {
        struct task_file file;
        noted[0] = 0;
        const bool good = task_file_read(path, element, &file, &visitor, &error);
        assert_int_equal(good, element < 2);
        if (good)
            assert_string_equal(noted, WANTED[element]);
        task_file_free(&file);
    }
    assert_non_null(strstr(error.message, "no element 2"));
    truncate(path, 100);
    struct task_file file;
    assert_false(task_file_read(path, 1, &file, &visitor, &error));
    task_file_free(&file);
    unlink(path);
    rmdir(folder);
}

static void words_are_quoted(void **state) {
    (void)state;
    char *word = submission_quoted("/a b/it's $HOME");
    assert_string_equal(word, "'/a b/it'\\''s $HOME'");
    free(word);
    word = submission_pattern("/a%j/50%");
    assert_string_equal(word, "/a%%j/50%%");
    free(word);
}

static void logs_tell_of_a_task(void **state) {
    (void)state;
    static const char LOG[] = "task 1: one\ntask 12: twelve\nslurmstepd: error: killed\n\n";
    char line[64];
    bool of_task;
    submission_said(LOG, sizeof LOG - 1, 12, &of_task, line, sizeof line);
    assert_true(of_task);
    assert_string_equal(line, "twelve");
    submission_said(LOG, sizeof LOG - 1, 2, &of_task, line, sizeof line);
    assert_false(of_task);
    assert_string_equal(line, "slurmstepd: error: killed");
    submission_said(LOG, sizeof LOG - 1, 2, &of_task, line, 8);
    assert_string_equal(line, "slurmst");
    submission_said("", 0, 2, &of_task, line, sizeof line);
    assert_string_equal(line, "");
}

static void others_are_run(void **state) {
    (void)state;
    struct outside outside;
    struct error error;
    static const char *const SAYS[] = {"sh", "-c",
                                       "echo out; echo first >&2; echo last >&2; exit 3", NULL};
    assert_true(outside_run(&outside, SAYS, 20, &error));
    assert_int_equal(outside.status, 3);
    assert_string_equal(outside.said, "out\n");
    assert_string_equal(outside.complaint, "last");
    outside_free(&outside);
    static const char *const HANGS[] = {"sleep", "60", NULL};
    assert_false(outside_run(&outside, HANGS, 0.05, &error));
    assert_non_null(strstr(error.message, "no answer"));
    outside_free(&outside);
    static const char *const NONE[] = {"/no/such/program", NULL};
    assert_false(outside_run(&outside, NONE, 20, &error));
    outside_free(&outside);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_passed_on),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(answers_are_read),
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(lost_jobs_are_submitted_twice_more),
        cmocka_unit_test(results_may_come_late),
        cmocka_unit_test(cancelled_ones_are_not),
        cmocka_unit_test(preemption_does_not_count),
        cmocka_unit_test(reasons_are_told),
        cmocka_unit_test(tasks_share_jobs),
        cmocka_unit_test(files_of_tasks_are_read),
        cmocka_unit_test(words_are_quoted),
        cmocka_unit_test(logs_tell_of_a_task),
        cmocka_unit_test(others_are_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
