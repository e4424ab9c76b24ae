import { describe, expect, it } from 'vitest'
import { withAddress } from '#ui/features/gallery/with-address.ts'
import { workflowTemplates } from '#ui/features/gallery/workflow-templates.ts'

const feedReader = workflowTemplates.find(({ id }) => id === 'feed-reader')
const fill = (address: string) => {
  if (!feedReader) throw new Error('The gallery has no feed reader.')
  return withAddress(feedReader, address)
}

describe('a template that reads an address', () => {
  it('asks for the host of that address and for no other', () => {
    const filled = fill(' https://news.example:8443/all.xml?a=$& ')
    expect(filled.ok && filled.value).toContain(`const FEED = 'https://news.example:8443/all.xml?a=$&'`)
    expect(filled.ok && filled.value).toContain(`permissions: ['demo', 'http:news.example:8443']`)
    expect(filled.ok && filled.value).not.toContain('example.com')
  })

  it('cannot be broken out of by an address', () => {
    const address = "https://news.example/'+alert(1)+'?q='\\#'"
    const filled = fill(address)
    const literal = filled.ok && /const FEED = '(.*)'\n/.exec(filled.value)?.[1]
    expect(literal).toBe("https://news.example/\\'+alert(1)+\\'?q=%27\\\\#\\'")
  })

  it.each([
    ['news', 'not an address'],
    ['', 'not an address'],
    ['javascript:alert(1)', 'begins with https'],
    ['https://me:secret@news.example', 'user name and password'],
  ])('says what is wrong with %j', (address, sentence) => {
    expect(fill(address)).toMatchObject({ ok: false, error: expect.stringContaining(sentence) as string })
  })
})
