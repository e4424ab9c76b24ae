import { test } from 'vitest'
import { checkRecovery, inDatabase, inFiles } from '../../support/recovery-property.ts'

test('thousands of random lives lose nothing that was acknowledged', async () => {
  await checkRecovery(5000, inDatabase)
  await checkRecovery(5000, inFiles)
  await checkRecovery(5000, inFiles, { mayLoseDatabase: true })
})
