import { describe, expect, test } from 'vitest'
import { calibrate } from '#worker/persistence/calibrate.ts'
import { proveTap } from '#worker/persistence/prove-tap.ts'
import { WatchedImports } from '#worker/persistence/watched-imports.ts'
import { WriteTap } from '#worker/persistence/write-tap.ts'
import { importsForTests, sqliteForTests } from '../../support/sqlite-for-tests.ts'

describe('calibration', () => {
  test('a tap that listens to the wrong calls is refused by the proof, the right one passes', async () => {
    const { sqlJs, emptyImage } = await sqliteForTests()
    const imports = await importsForTests()
    const right = calibrate(sqlJs, imports)
    const wrong = [
      { ...right, truncate: right.open },
      { ...right, seek: right.truncate, truncate: right.seek },
      { ...right, open: right.write, write: right.open },
    ]
    for (const calls of wrong) {
      expect(() => proveTap(sqlJs, new WriteTap(imports, calls), emptyImage)).toThrow()
      for (const name of imports.names) imports.watch(name, (_, call) => call())
    }
    proveTap(sqlJs, new WriteTap(imports, right), emptyImage)
  })

  test('fails with a reason where nothing can be watched', async () => {
    const { sqlJs } = await sqliteForTests()
    expect(() => calibrate(sqlJs, new WatchedImports())).toThrow('exactly one must')
  })
})
