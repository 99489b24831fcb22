/* In the SQL that SQLite and PostgreSQL have in common. */
#include "store/statements.h"

/* How far a session reaches, and a day in ns. */
#define REACHED "(CASE WHEN \"end\" = 0 THEN saved ELSE \"end\" END)"
#define DAY     "86400000000000"

/* Those that day_sums_have() admits; of no times whatever are numbers too large. */
#define HAS_DAYS                                                                                   \
    "kind = 0 AND weight = 1 AND start BETWEEN 1 AND 8000000000000000000 AND " REACHED             \
    " > 0 AND " REACHED " / " DAY " - start / " DAY " <= 400"

const char *const STATEMENTS[STATEMENT_COUNT] = {
    [ADD_SESSION] = "INSERT INTO session(kind, name, host, kernel, processor, weight, start, "
                    "\"end\", unknown, dropped, saved) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11) "
                    "RETURNING id",
    [UPDATE_SESSION] = "UPDATE session SET \"end\" = ?2, unknown = ?3, dropped = ?4, saved = "
                       "CASE WHEN saved > ?5 THEN saved ELSE ?5 END WHERE id = ?1",
    [WEIGH_SESSION] = "UPDATE session SET weight = ?2 WHERE id = ?1",
    [LIST_SESSIONS] = "SELECT " SESSION_COLUMNS " FROM session ORDER BY start, id",
    [LIST_SUMS] = "SELECT " SESSION_COLUMNS " FROM session WHERE kind = 3 ORDER BY start, id",
    [NAME_SESSIONS] = "SELECT " SESSION_COLUMNS " FROM session WHERE id = ?1",
    [SESSIONS_BETWEEN] = "SELECT " SESSION_COLUMNS " FROM session WHERE kind <> 3 AND " REACHED
                         " >= ?1 AND start < ?2 ORDER BY start, id",
    [OTHER_SESSIONS] =
        "SELECT " SESSION_COLUMNS " FROM session WHERE id IN (SELECT id FROM session "
        "WHERE kind <> 3 AND NOT (" HAS_DAYS ")) ORDER BY start, id",
    /* By host, first and last day. */
    [HOST_DAYS] = "SELECT host, start / " DAY ", (" REACHED " - 1) / " DAY ", count(*), "
                  "CAST(sum(id) AS BIGINT), CAST(sum(saved / 1000000 % 1000000000) AS BIGINT) "
                  "FROM session WHERE " HAS_DAYS " GROUP BY 1, 2, 3",
    [ADD_EVENT] = "INSERT INTO event(session, name, unit, period, period_unit, precise) "
                  "VALUES(?1,?2,?3,?4,?5,?6) RETURNING id",
    [NAME_EVENTS] =
        "SELECT " EVENT_COLUMNS ", session FROM event WHERE session = ?1 ORDER BY session, id",
    [LIST_EVENTS] = "SELECT " EVENT_COLUMNS ", session.id "
                    "FROM session JOIN event ON event.session = session.id "
                    "ORDER BY start, session.id, event.id",
    [EVENT_TOTAL] = "SELECT total, length(data) FROM profile WHERE session = ?1 AND event = ?2 "
                    "UNION ALL SELECT 0, length(data) FROM calls WHERE session = ?1 AND event = ?2",
    [FIND_IMAGE] =
        "SELECT id FROM image WHERE path = ?2 AND build_id = ?3 AND kind = ?1 AND root = ?4",
    [ADD_IMAGE] = "INSERT INTO image(kind, path, build_id, root) VALUES(?1,?2,?3,?4) RETURNING id",
    [GET_IMAGE] = "SELECT kind, path, build_id, root FROM image WHERE id = ?1",
    [LIST_IMAGES] = "SELECT id FROM image ORDER BY id",
    [SET_SYMBOLS] = "INSERT INTO symbols(image, data) VALUES(?1,?2) "
                    "ON CONFLICT(image) DO UPDATE SET data = excluded.data",
    [GET_SYMBOLS] = "SELECT data FROM symbols WHERE image = ?1",
    [FIND_PROCESS] = "SELECT id FROM process WHERE session = ?1 AND command = ?2 AND "
                     "executable = ?3 AND pid = ?4 AND thread = ?5 AND processor = ?6 AND "
                     "cgroup = ?7 AND \"begin\" = ?8 AND \"end\" = ?9",
    [ADD_PROCESS] = "INSERT INTO process(session, command, executable, pid, thread, processor, "
                    "cgroup, \"begin\", \"end\") VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9) RETURNING id",
    [FIND_PROFILE] = "SELECT id, data FROM profile WHERE session = ?1 AND image = ?2 AND "
                     "process = ?3 AND event = ?4",
    [ADD_PROFILE] = "INSERT INTO profile(session, image, process, event, total, data) "
                    "VALUES(?1,?2,?3,?4,?5,?6)",
    [SET_PROFILE] = "UPDATE profile SET total = ?2, data = ?3 WHERE id = ?1",
    [WALK_PROFILES] =
        "SELECT profile.id, image, process, event, data, total, profile.session, " PROCESS_COLUMNS
        " FROM profile LEFT JOIN process ON process.id = process "
        "WHERE profile.session = ?1 ORDER BY image, process, event",
    [FIND_CALLS] = "SELECT id, data FROM calls WHERE session = ?1 AND process = ?2 AND event = ?3",
    [ADD_CALLS] = "INSERT INTO calls(session, process, event, total, data) "
                  "VALUES(?1,?2,?3,?4,?5) RETURNING id",
    [SET_CALLS] = "UPDATE calls SET total = ?2, data = ?3 WHERE id = ?1",
    [WALK_CALLS] = "SELECT calls.id, process, event, data, calls.session, " PROCESS_COLUMNS
                   " FROM calls LEFT JOIN process ON process.id = process "
                   "WHERE calls.session = ?1 ORDER BY process, event",
    [ADD_CALLS_IMAGE] = "INSERT INTO calls_image(image, calls) VALUES(?1,?2) "
                        "ON CONFLICT DO NOTHING",
    [HAS_CALLS_IMAGE] = "SELECT count(*) FROM calls_image WHERE image = ?1 AND calls = ?2",
    [HAS_SLICES] = "SELECT 1 FROM process WHERE " SLICED " LIMIT 1",
    [ERASE_CALLS_IMAGES] =
        "DELETE FROM calls_image WHERE calls IN (SELECT id FROM calls WHERE session = ?1)",
    [ERASE_CALLS] = "DELETE FROM calls WHERE session = ?1",
    [ERASE_PROFILES] = "DELETE FROM profile WHERE session = ?1",
    [ERASE_PROCESSES] = "DELETE FROM process WHERE session = ?1",
    [ERASE_EVENTS] = "DELETE FROM event WHERE session = ?1",
    [ERASE_SENT] = "DELETE FROM sent WHERE session = ?1",
    [ERASE_SESSION] = "DELETE FROM session WHERE id = ?1",
    [ERASE_SLICED_CALLS_IMAGES] =
        "DELETE FROM calls_image WHERE calls IN (SELECT id FROM calls WHERE process IN "
        "(SELECT id FROM process WHERE " SLICED "))",
    [ERASE_SLICED_CALLS] = "DELETE FROM calls WHERE session = ?1 AND process IN "
                           "(SELECT id FROM process WHERE " SLICED ")",
    [ERASE_SLICED_PROFILES] = "DELETE FROM profile WHERE session = ?1 AND process IN "
                              "(SELECT id FROM process WHERE " SLICED ")",
    [ERASE_SLICED_PROCESSES] = "DELETE FROM process WHERE " SLICED,
    [SWEEP_IMAGES] = "DELETE FROM image WHERE id NOT IN (SELECT image FROM profile) AND "
                     "id NOT IN (SELECT image FROM calls_image)",
    [SWEEP_SYMBOLS] = "DELETE FROM symbols WHERE image NOT IN (SELECT id FROM image)",
    [SWEEP_SENT_SYMBOLS] = "DELETE FROM sent_symbols WHERE image NOT IN (SELECT id FROM image)",
    [CHECK_SYMBOLS] = "SELECT image FROM symbols",
    [CHECK_PROFILES] = "SELECT id, image, total, data FROM profile",
    [CHECK_CALLS] = "SELECT id, total, data FROM calls",
    [GET_IDENTITY] = "SELECT id, server FROM identity",
    [SET_SERVER] = "UPDATE identity SET server = ?1",
    [LIST_WAITING] =
        "SELECT id, (SELECT coalesce(sum(length(data)), 0) FROM profile WHERE session = s.id) + "
        "(SELECT coalesce(sum(length(data)), 0) FROM calls WHERE session = s.id) FROM session s "
        "WHERE kind = 0 AND \"end\" <> 0 AND name = 'daemon' AND host = ?1 AND id NOT IN "
        "(SELECT session FROM sent WHERE server = (SELECT server FROM identity)) ORDER BY id",
    [ADD_SENT] = "INSERT INTO sent(server, session, at, given_up) VALUES(?1,?2,?3,?4) "
                 "ON CONFLICT(server, session) DO UPDATE SET at = excluded.at, "
                 "given_up = excluded.given_up",
    [GIVE_UP] = "INSERT INTO sent(server, session, at, given_up) "
                "SELECT server, ?1, ?2, 1 FROM identity WHERE 1 ON CONFLICT DO NOTHING",
    [WAS_SENT] = "SELECT count(*) FROM sent WHERE session = ?1 AND server = "
                 "(SELECT server FROM identity)",
    [SESSION_IMAGES] =
        "SELECT image FROM profile WHERE session = ?1 UNION SELECT image FROM calls_image WHERE "
        "calls IN (SELECT id FROM calls WHERE session = ?1) ORDER BY 1",
    [SESSION_PROCESSES] = "SELECT id, " PROCESS_COLUMNS " FROM process WHERE session = ?1 "
                          "ORDER BY id",
    [SESSION_PROFILES] = "SELECT id, image, process, event, total, data FROM profile "
                         "WHERE session = ?1 ORDER BY image, process, event",
    [SESSION_CALLS] = "SELECT id, process, event, total, data FROM calls WHERE session = ?1 "
                      "ORDER BY process, event",
    [GET_SENT_SYMBOLS] = "SELECT number, checksum FROM sent_symbols WHERE server = ?1 AND "
                         "image = ?2",
    [SET_SENT_SYMBOLS] = "INSERT INTO sent_symbols(server, image, number, checksum) "
                         "VALUES(?1,?2,?3,?4) ON CONFLICT(server, image) DO UPDATE SET "
                         "number = excluded.number, checksum = excluded.checksum",
};
