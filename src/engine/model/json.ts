/** What may cross the sandbox, the database and the worker boundary: plain JSON and nothing else. */
export type Json = null | boolean | number | string | Json[] | JsonObject
export interface JsonObject {
  [key: string]: Json
}

/** A string that holds JSON. Kept as text where nobody looks inside, so that it is not parsed and printed again on its way. */
export type JsonText = string
