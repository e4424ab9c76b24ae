/**
 * What capturing relies on. With the journal in memory and no spilling the file is written only inside COMMIT, so whatever
 * has been captured when JavaScript gets its turn again is a whole number of transactions. Exclusive locking spares a write
 * of the change counter to page 1 in every commit; without auto-vacuum the file shrinks only in VACUUM.
 */
export const capturePragmas = `
  PRAGMA page_size = 4096;
  PRAGMA auto_vacuum = 0;
  PRAGMA journal_mode = MEMORY;
  PRAGMA synchronous = OFF;
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA temp_store = MEMORY;
  PRAGMA cache_spill = OFF;
`
