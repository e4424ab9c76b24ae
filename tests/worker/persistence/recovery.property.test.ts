import { test } from 'vitest'
import { checkRecovery } from '../../support/recovery-property.ts'

test('whatever happens in several lives, what is found is a prefix of what was committed with all that was acknowledged', async () => {
  await checkRecovery(120)
}, 60_000)
