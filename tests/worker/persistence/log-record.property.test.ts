import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PAGE_BYTES } from '#worker/persistence/dirty-lines.ts'
import { FileMirror } from '#worker/persistence/file-mirror.ts'
import { MAX_RECORD_BYTES, applyRecord, decodeRecord, encodeChanges } from '#worker/persistence/log-record.ts'

const PAGES = 40
const change = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      at: fc.integer({ min: 0, max: PAGES * PAGE_BYTES - 1 }),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 300 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ pages: fc.integer({ min: 1, max: PAGES }) }) },
)
const changes = fc.array(change, { maxLength: 30 })

const put = (mirror: FileMirror, at: number, bytes: Uint8Array) => {
  mirror.compare(at, bytes)
  mirror.absorb(at, bytes)
}

const replay = (chunks: { bytes: ArrayBuffer }[], onto: FileMirror) => {
  for (const { bytes } of chunks) {
    const record = decodeRecord(bytes)
    if ('fault' in record) throw new Error(record.fault)
    applyRecord(record, onto)
  }
}

describe('log records', () => {
  test('replayed over an older copy they give the newer one, whatever was written and cut off', () => {
    fc.assert(
      fc.property(fc.array(changes, { minLength: 1, maxLength: 4 }), (flushes) => {
        const mirror = new FileMirror()
        const copy = new FileMirror()
        for (const [index, flush] of flushes.entries()) {
          for (const each of flush) {
            if ('bytes' in each) put(mirror, each.at, each.bytes)
            else mirror.setSize(Math.min(mirror.size, each.pages * PAGE_BYTES))
          }
          mirror.setSize(Math.ceil(mirror.size / PAGE_BYTES) * PAGE_BYTES)
          replay(encodeChanges(mirror, { sequence: index, epoch: 1 }), copy)
          expect(mirror.hasChanges).toBe(false)
          expect(Buffer.compare(copy.view(), mirror.view())).toBe(0)
        }
      }),
    )
  })

  test('a whole file is cut into records that each stay below the limit, and only the last says it is the last', () => {
    const mirror = new FileMirror()
    mirror.begin(new Uint8Array(PAGES * PAGE_BYTES).fill(7))
    const chunks = encodeChanges(mirror, { sequence: 100, epoch: 3 })
    const heads = chunks.map(({ bytes }) => {
      expect(bytes.byteLength).toBeLessThanOrEqual(MAX_RECORD_BYTES)
      const record = decodeRecord(bytes)
      if ('fault' in record) throw new Error(record.fault)
      return record.head
    })
    expect(heads.map(({ sequence }) => sequence)).toEqual(chunks.map((_, index) => 100 + index))
    expect(heads.map(({ isLast }) => isLast)).toEqual(chunks.map((_, index) => index === chunks.length - 1))
    expect(heads[0]).toMatchObject({ filePages: PAGES, epoch: 3 })
  })

  test('only the lines that changed are written', () => {
    const mirror = new FileMirror()
    mirror.load(0, new Uint8Array(PAGES * PAGE_BYTES))
    const page = new Uint8Array(PAGE_BYTES)
    page[130] = 1
    put(mirror, 5 * PAGE_BYTES, page)
    const [chunk] = encodeChanges(mirror, { sequence: 1, epoch: 1 })
    expect(chunk?.bytes.byteLength).toBe(32 + 12 + 64)
  })

  test('what was cut off reads as zeros when the file grows over it again', () => {
    const mirror = new FileMirror()
    mirror.begin(new Uint8Array(2 * PAGE_BYTES).fill(7))
    mirror.setSize(PAGE_BYTES)
    mirror.setSize(2 * PAGE_BYTES)
    expect(mirror.view(PAGE_BYTES).every((byte) => byte === 0)).toBe(true)
    const copy = new FileMirror()
    copy.load(0, new Uint8Array(2 * PAGE_BYTES).fill(7))
    replay(encodeChanges(mirror, { sequence: 1, epoch: 1 }), copy)
    expect(Buffer.compare(copy.view(), mirror.view())).toBe(0)
  })

  test('sequence numbers beyond 32 bits survive', () => {
    const mirror = new FileMirror()
    mirror.begin(new Uint8Array(PAGE_BYTES))
    const [chunk] = encodeChanges(mirror, { sequence: 2 ** 40 + 5, epoch: 1 })
    const record = decodeRecord(chunk?.bytes ?? new ArrayBuffer(0))
    expect('head' in record && record.head.sequence).toBe(2 ** 40 + 5)
  })

  test('any flipped bit is noticed', () => {
    const mirror = new FileMirror()
    mirror.begin(crypto.getRandomValues(new Uint8Array(PAGE_BYTES)))
    const [chunk] = encodeChanges(mirror, { sequence: 1, epoch: 1 })
    const stored = chunk?.bytes ?? new ArrayBuffer(0)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: stored.byteLength * 8 - 1 }), (bit) => {
        const damaged = new Uint8Array(stored.slice(0))
        damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        expect(decodeRecord(damaged.buffer)).toHaveProperty('fault')
      }),
    )
  })

  test('what is too short to be a record is noticed', () => {
    expect(decodeRecord(new ArrayBuffer(0))).toEqual({ fault: 'short' })
    expect(decodeRecord(new ArrayBuffer(31))).toEqual({ fault: 'short' })
  })
})
