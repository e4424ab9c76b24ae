import { test } from 'vitest'
import { checkRecovery } from '../../support/recovery-property.ts'

test('thousands of random lives lose nothing that was acknowledged', async () => {
  await checkRecovery(5000)
})
