import { test } from 'vitest'
import { checkRecovery, inDatabase, inFiles } from '../../support/recovery-property.ts'

test('whatever happens in several lives, what is found is a prefix of what was committed with all that was acknowledged', async () => {
  await checkRecovery(120, inDatabase)
}, 60_000)

test('the same with the log in files, in the database and in files again', async () => {
  await checkRecovery(120, inFiles)
}, 60_000)

test('the same where the browser throws its database away: it is put together again from files, or the loss is told', async () => {
  await checkRecovery(200, inFiles, { mayLoseDatabase: true })
}, 60_000)
