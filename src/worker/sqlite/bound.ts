/**
 * A bound value that the query planner cannot look into. Beside ORDER BY, a join or in LIMIT it would look at the value of a
 * plain `?`, and SQLite then prepares the statement anew for every value: ten times the cost of executing it (docs/adr/0012).
 */
export const BOUND = '(SELECT ?)'

/** Before every time: where no lower bound is meant. */
export const EVER = Number.MIN_SAFE_INTEGER
