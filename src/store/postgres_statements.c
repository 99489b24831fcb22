/* Where tables have a day, by which they are partitioned, the server is told it, so that it looks
 * into one partition alone. */
#include "store/postgres.h"

/* Sessions of a list are of days that follow one another. Without OFFSET the least would be looked
 * for in the index of days, from the first session of all on. */
#define OF_LIST "FROM (SELECT day FROM session WHERE id = ANY(?1) OFFSET 0) of_list)"
#define DAYS    "BETWEEN (SELECT min(day) " OF_LIST " AND (SELECT max(day) " OF_LIST
#define EVENT                                                                                      \
    " AND (?2::bytea = '' OR event = ANY(ARRAY(SELECT id FROM event WHERE session = ANY(?1) AND "  \
    "name = ?2)))"
#define PROCESSES "AND process.session = ANY(?1) AND process.day " DAYS " "
#define OF_DAY    "day = (SELECT day FROM session WHERE id = ?1)"

const char *const POSTGRES_STATEMENTS[STATEMENT_COUNT] = {
    [ADD_SESSION] = "INSERT INTO session(day, kind, name, host, kernel, processor, weight, start, "
                    "\"end\", unknown, dropped, saved) "
                    "VALUES(day_of(?7),?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11) RETURNING id",
    [NAME_SESSIONS] = "SELECT " SESSION_COLUMNS " FROM session WHERE id = ANY(?1)",
    [NAME_EVENTS] =
        "SELECT " EVENT_COLUMNS ", session FROM event WHERE session = ANY(?1) ORDER BY session, id",
    [EVENT_TOTAL] =
        "SELECT total, length(data) FROM profile WHERE " OF_DAY " AND session = ?1 AND event = ?2 "
        "UNION ALL SELECT 0, length(data) FROM calls WHERE " OF_DAY
        " AND session = ?1 AND event = ?2",
    /* A path may be longer than what an index takes. */
    [FIND_IMAGE] = "SELECT id FROM image WHERE kind = ?1 AND build_id = ?3 AND origin = '' AND "
                   "sha256(path) = sha256(?2) AND sha256(root) = sha256(?4)",
    [ADD_IMAGE] = "INSERT INTO image(kind, path, build_id, root, origin, seen) "
                  "VALUES(?1,?2,?3,?4,'',today()) RETURNING id",
    [SET_SYMBOLS] = "INSERT INTO symbols(code, part, data) "
                    "SELECT code, sha256(?2), ?2 FROM image WHERE id = ?1 ON CONFLICT DO NOTHING",
    [GET_SYMBOLS] = "SELECT data FROM symbols WHERE code = (SELECT code FROM image WHERE id = ?1) "
                    "ORDER BY part",
    [FIND_PROCESS] =
        "SELECT id FROM process WHERE " OF_DAY " AND session = ?1 AND command = ?2 AND "
        "executable = ?3 AND pid = ?4 AND thread = ?5 AND processor = ?6 AND "
        "cgroup = ?7 AND \"begin\" = ?8 AND \"end\" = ?9",
    [ADD_PROCESS] = "INSERT INTO process(day, session, command, executable, pid, thread, "
                    "processor, cgroup, \"begin\", \"end\") VALUES((SELECT day FROM session WHERE "
                    "id = ?1),?1,?2,?3,?4,?5,?6,?7,?8,?9) RETURNING id",
    [FIND_PROFILE] = "SELECT id, data FROM profile WHERE " OF_DAY " AND session = ?1 AND "
                     "image = ?2 AND process = ?3 AND event = ?4 LIMIT 1",
    [ADD_PROFILE] = "INSERT INTO profile(day, session, image, process, event, total, data) "
                    "VALUES((SELECT day FROM session WHERE id = ?1),?1,?2,?3,?4,?5,?6)",
    [WALK_PROFILES] =
        "SELECT profile.id, image, process, event, "
        "CASE WHEN ?3::bigint[] IS NULL OR image = ANY(?3) THEN data END, "
        "total, profile.session, " PROCESS_COLUMNS
        " FROM profile JOIN (SELECT id AS of, start FROM session) s ON s.of = profile.session "
        "LEFT JOIN process ON process.day = profile.day AND process.id = process "
        "AND process.session = profile.session " PROCESSES
        "WHERE profile.session = ANY(?1) AND profile.day " DAYS EVENT
        " ORDER BY s.start, profile.session, image, process, event, profile.id",
    [WALK_IMAGES] = "SELECT DISTINCT image FROM profile WHERE session = ANY(?1) AND day " DAYS
                    " ORDER BY image",
    [FIND_CALLS] = "SELECT id, data FROM calls WHERE " OF_DAY
                   " AND session = ?1 AND process = ?2 AND event = ?3",
    [ADD_CALLS] = "INSERT INTO calls(day, session, process, event, total, data) "
                  "VALUES((SELECT day FROM session WHERE id = ?1),?1,?2,?3,?4,?5) RETURNING id",
    [WALK_CALLS] =
        "SELECT calls.id, process, event, data, calls.session, " PROCESS_COLUMNS
        " FROM calls JOIN (SELECT id AS of, start FROM session) s ON s.of = calls.session "
        "LEFT JOIN process ON process.day = calls.day AND process.id = process "
        "AND process.session = calls.session " PROCESSES
        "WHERE calls.session = ANY(?1) AND calls.day " DAYS EVENT
        " ORDER BY s.start, calls.session, process, event",
    [ADD_CALLS_IMAGE] = "UPDATE calls SET images = array_append(images, ?1) "
                        "WHERE id = ?2 AND NOT ?1 = ANY(images)",
    [HAS_CALLS_IMAGE] = "SELECT count(*) FROM calls WHERE id = ?2 AND ?1 = ANY(images)",
    [ERASE_CALLS_IMAGES] = "",
    [ERASE_SLICED_CALLS_IMAGES] = "",
    [ERASE_SENT] = "",
    [WAS_SENT] = "SELECT count(*) FROM session WHERE id = ?1 AND false",
    [SWEEP_SENT_SYMBOLS] = "",
    /* What was sent since the oldest day that there is stays; all of it, where sessions are of no
     * known day. */
    [SWEEP_IMAGES] =
        "DELETE FROM image WHERE seen < (SELECT least(min(day), today()) - 1 FROM session)",
    [SWEEP_SYMBOLS] = "DELETE FROM symbols WHERE code NOT IN (SELECT code FROM image)",
    [CHECK_SYMBOLS] = "SELECT id FROM image WHERE EXISTS "
                      "(SELECT FROM symbols WHERE symbols.code = image.code)",
};
