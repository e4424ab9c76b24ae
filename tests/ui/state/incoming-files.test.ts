import { kindOf, sharedAddress } from '#ui/state/incoming-files.svelte.ts'
import { expect, test } from 'vitest'

test('a file goes to the screen that its name speaks for', () => {
  expect(kindOf('holdfast-2026-11-18.SQLITE')).toBe('backup')
  expect(kindOf('triage.workflow.json')).toBe('workflow')
})

test('a shared link to a workflow is found, alone or inside of a text', () => {
  const link = 'https://holdfast.example/app/#/import?w=abc'
  expect(sharedAddress(`?url=${encodeURIComponent(link)}`)).toBe('#/import?w=abc')
  expect(sharedAddress(`?text=${encodeURIComponent(`Look at this: ${link}`)}`)).toBe('#/import?w=abc')
})

test('what is shared and is no workflow leads nowhere', () => {
  expect(sharedAddress('?url=https%3A%2F%2Fother.example%2F%23%2Fsettings')).toBeNull()
  expect(sharedAddress('?title=Hello')).toBeNull()
})
