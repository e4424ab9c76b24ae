import { KeySequences, spellKey } from '#ui/client/key-sequences.ts'
import { describe, expect, it } from 'vitest'

const known = ['mod+k', '?', 'g w', 'g i']
const bare = { ctrlKey: false, metaKey: false, altKey: false }

describe('keys', () => {
  it('are spelled alike for Control and Command', () => {
    expect(spellKey({ ...bare, key: 'K', metaKey: true })).toBe('mod+k')
    expect(spellKey({ ...bare, key: 'k', ctrlKey: true })).toBe('mod+k')
    expect(spellKey({ ...bare, key: 'Shift' })).toBeNull()
  })

  it('complete a sequence in its order and within its time', () => {
    const keys = new KeySequences()
    expect(keys.press('g', 0, known)).toBeNull()
    expect(keys.press('w', 500, known)).toBe('g w')
    expect(keys.press('w', 600, known)).toBeNull()
  })

  it('that come too late begin anew', () => {
    const keys = new KeySequences()
    keys.press('g', 0, known)
    expect(keys.press('i', 5_000, known)).toBeNull()
  })

  it('that fit no sequence still count alone', () => {
    const keys = new KeySequences()
    keys.press('g', 0, known)
    expect(keys.press('?', 10, known)).toBe('?')
  })

  it('may start a sequence twice', () => {
    const keys = new KeySequences()
    keys.press('g', 0, known)
    keys.press('g', 10, known)
    expect(keys.press('i', 20, known)).toBe('g i')
  })
})
