import type { Compression } from '#engine/ports/compression.ts'
import type { Space } from '#engine/ports/space.ts'
import type { Database } from '#worker/sqlite/database.ts'
import { createFileSpace } from '#worker/sqlite/file-space.ts'

/** Answers in the same turn, so that a simulated life is the same every time. */
const uncompressed: Compression = {
  compress: (text) => Promise.resolve(new TextEncoder().encode(text)),
  decompress: (bytes) => Promise.resolve(new TextDecoder().decode(bytes)),
}

export const upkeepPorts = (database: Database): { compression: Compression; space: Space } => ({
  compression: uncompressed,
  space: createFileSpace(database, { barrier: () => Promise.resolve() }, () => undefined),
})
