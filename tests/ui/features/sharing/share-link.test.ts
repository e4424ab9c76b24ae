import type { Result } from '#engine/model/result.ts'
import { packedToShared, pastedToShared, sharedToAddress } from '#ui/features/sharing/share-link.ts'
import { sharedFileName, sharedToText, textToShared } from '#ui/features/sharing/shared-workflow.ts'
import { deflateRawSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'

const shared = { name: 'Grüße ✓', source: 'export default defineWorkflow({})', budget: 7, timezone: null }

const refusal = (answer: Result<unknown>): string => (answer.ok ? 'It was taken.' : answer.error.message)

describe('a link', () => {
  test('brings back what was shared, from wherever it was served', async () => {
    const address = await sharedToAddress(shared)
    expect(address).toMatch(/^#\/import\?w=[\w-]+$/)
    for (const place of ['https://a.example/', 'http://127.0.0.1:8080/deep/er/index.html']) {
      expect(await pastedToShared(` ${place}${address}\n`)).toEqual({ ok: true, value: shared })
    }
  })

  test('that was cut off, damaged or leads elsewhere says so', async () => {
    const packed = (await sharedToAddress(shared)).split('=')[1] ?? ''
    for (const bad of [packed.slice(0, 20), 'A', '____', packed.slice(4)]) {
      expect(refusal(await packedToShared(bad))).toContain('damaged')
    }
    expect(refusal(await pastedToShared('https://example.com/#/workflows'))).toContain('holds no workflow')
  })

  test('that would become gigabytes is stopped', async () => {
    const bomb = deflateRawSync(Buffer.alloc(200_000_000, 'x')).toString('base64url')
    expect(refusal(await packedToShared(bomb))).toContain('larger than 1 MB')
  })
})

describe('a file', () => {
  test('brings back what was shared, and nothing else that is in it', () => {
    const text = sharedToText(shared).replace(
      '"budget"',
      '"permissions": ["http:*"], "secrets": { "a": "b" }, "budget"',
    )
    expect(textToShared(text)).toEqual({ ok: true, value: shared })
  })

  test('brings its retry policy along, and leaves behind one that could not be followed', () => {
    const retryPolicy = { retries: 3, firstDelayMs: 500, factor: 1.5, longestDelayMs: 9000 }
    const text = sharedToText({ ...shared, retryPolicy })
    expect(textToShared(text)).toEqual({ ok: true, value: { ...shared, retryPolicy } })
    expect(textToShared(text.replace('"retries": 3', '"retries": 1e9'))).toEqual({ ok: true, value: shared })
  })

  test.each([
    ['', 'nothing in it'],
    ['hello', 'no JSON'],
    ['{"name":"x"}', 'not a workflow from Holdfast'],
    ['[]', 'not a workflow from Holdfast'],
    ['{"format":"holdfast.workflow","version":2,"name":"x","source":"y"}', 'newer version'],
    ['{"format":"holdfast.workflow","version":1,"name":"x"}', 'damaged'],
    [' '.repeat(1_000_001), 'larger than 1 MB'],
  ])('%#: is refused with a sentence', (text, sentence) => {
    expect(refusal(textToShared(text))).toContain(sentence)
  })

  test('may be a bare script', () => {
    expect(textToShared(shared.source)).toEqual({ ok: true, value: { name: '', source: shared.source } })
  })

  test('is named after its workflow', () => {
    expect(sharedFileName('Inbox → Triage!')).toBe('inbox-triage.workflow.json')
    expect(sharedFileName('✓')).toBe('workflow.workflow.json')
  })
})
