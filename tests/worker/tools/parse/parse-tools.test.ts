import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '#engine/model/json.ts'
import { createParseTools } from '#worker/tools/parse/parse-tools.ts'
import { callTool, methodOf, paramsOf, valueOf } from '../../../support/call-tool.ts'
import { finderOf } from '../../../support/tool-kit.ts'

const tools = finderOf(createParseTools())
const parse = (what: string, ...args: Json[]) => valueOf(tools, `parse.${what}`, args)

describe('every parser', () => {
  it('needs no permission, because it reaches nothing', () => {
    for (const method of createParseTools()) {
      const params = paramsOf(tools, `parse.${method.method}`, '')
      expect(method.permissionsFor(params)).toEqual([])
    }
  })

  it('answers whatever text it is given, however long and broken', async () => {
    // Each of them takes minutes for a parser that looks at the same characters again and again.
    const nasty = [
      '<',
      '<a ',
      '<a b="',
      '<a b=c ',
      '</a',
      '<b>',
      '</b>',
      '<script',
      '<script>',
      '&#',
      '"',
      '<!--',
      '<![CDATA[',
      '<?',
    ].map((piece) => piece.repeat(50_000))
    for (const method of ['feed', 'csv', 'html', 'jsonLines']) {
      for (const text of nasty) expect(await callTool(tools, `parse.${method}`, [text])).toHaveProperty('kind')
    }
  }, 60_000)
})

describe('parse.feed', () => {
  it('reads RSS 2.0', async () => {
    const rss = `<?xml version="1.0"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>
      <title>News &amp; more</title><link>https://news.example/</link>
      <item><title><![CDATA[First <b>item</b>]]></title><link>https://news.example/1</link><guid isPermaLink="false">n-1</guid>
        <pubDate>Mon, 05 Jan 2026 09:00:00 GMT</pubDate><dc:creator>Ada</dc:creator>
        <description>&lt;p&gt;Hello&lt;br&gt;world&lt;/p&gt;</description></item>
      <item><title>Second</title><link>https://news.example/2</link></item>
    </channel></rss>`
    expect(await parse('feed', rss)).toEqual({
      title: 'News & more',
      link: 'https://news.example/',
      items: [
        {
          id: 'n-1',
          title: 'First item',
          link: 'https://news.example/1',
          summary: 'Hello\nworld',
          author: 'Ada',
          publishedAt: '2026-01-05T09:00:00.000Z',
        },
        {
          id: 'https://news.example/2',
          title: 'Second',
          link: 'https://news.example/2',
          summary: '',
          author: '',
          publishedAt: null,
        },
      ],
    })
  })

  it('reads Atom', async () => {
    const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><title>Log</title><link rel="self" href="https://x.example/atom"/>
      <link href="https://x.example/"/>
      <entry><id>urn:1</id><title type="html">A &amp;lt;b&amp;gt;</title><link rel="edit" href="https://x.example/edit"/>
        <link rel="alternate" href="https://x.example/1?a=1&amp;b=2"/><author><name>Ben</name></author>
        <updated>2026-01-05T10:00:00+01:00</updated><content type="xhtml"><div>Some <em>text</em></div></content></entry></feed>`
    expect(await parse('feed', atom)).toMatchObject({
      title: 'Log',
      link: 'https://x.example/',
      items: [
        {
          id: 'urn:1',
          link: 'https://x.example/1?a=1&b=2',
          author: 'Ben',
          publishedAt: '2026-01-05T09:00:00.000Z',
          summary: 'Some text',
        },
      ],
    })
  })

  it('reads RSS 1.0, whose items stand beside the channel', async () => {
    const rdf = `<rdf:RDF xmlns:rdf="x"><channel><title>Old</title></channel><item><title>One</title><link>https://o/1</link></item></rdf:RDF>`
    expect(await parse('feed', rdf)).toMatchObject({ title: 'Old', items: [{ title: 'One', id: 'https://o/1' }] })
  })

  it('says what it got when it is no feed', async () => {
    expect(await callTool(tools, 'parse.feed', ['<html>Sign in</html>'])).toMatchObject({
      kind: 'failed',
      failure: { type: 'logic', message: 'This is neither RSS nor Atom; it begins with "<html>Sign in</html>"' },
    })
  })
})

describe('parse.csv', () => {
  it.each<[string, Json, Json]>([
    ['a,b\n1,2\n', {}, [{ a: '1', b: '2' }]],
    ['\ufeffa;b\r\n1;"2;3"\r\n', { delimiter: ';' }, [{ a: '1', b: '2;3' }]],
    ['a\n"say ""hi""\nthere"', {}, [{ a: 'say "hi"\nthere' }]],
    ['1,2\n\n3', { header: false }, [['1', '2'], ['3']]],
    ['a,b\n1', {}, [{ a: '1', b: '' }]],
    ['', {}, []],
  ])('reads %j with %j', async (text, options, rows) => {
    expect(await parse('csv', text, options)).toEqual(rows)
  })

  it('reads back whatever a spreadsheet would write', async () => {
    const field = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', 'ü') })
    const rows = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(rows, async (table) => {
        const text = table.map((row) => row.map((value) => `"${value.replaceAll('"', '""')}"`).join(',')).join('\r\n')
        expect(await parse('csv', text, { header: false })).toEqual(table)
      }),
    )
  })
})

describe('parse.html', () => {
  it('gives the title, the visible text and the links', async () => {
    const html = `<!doctype html><html><head><title>The &quot;page&quot;</title><style>p { color: red }</style></head>
      <body><script>if (1 < 2) alert("<p>no</p>")</script><h1>Head</h1><p>One&nbsp;two   three<br>four</p>
      <table><tr><td>a</td><td>b</td></tr></table><a href='/x?a=1&amp;b=2'>A <b>link</b></a><!-- not this --></body></html>`
    const page = await parse('html', html)
    expect(page).toMatchObject({ title: 'The "page"', links: [{ href: '/x?a=1&b=2', text: 'A link' }] })
    expect(page).toHaveProperty('text', 'Head\n\nOne two three\nfour\n\na b\n\nA link')
  })

  it('keeps text that only looks like mark-up', async () => {
    expect(await parse('html', 'a < b &amp;&amp; c > d &unknown; &#x41;&#0;')).toHaveProperty(
      'text',
      'a < b && c > d &unknown; A\ufffd',
    )
  })
})

describe('parse.jsonLines', () => {
  it('reads one value per line', async () => {
    expect(await parse('jsonLines', '{"a":1}\r\n\n[2]\nnull')).toEqual([{ a: 1 }, [2], null])
  })

  it('names the line that is none', async () => {
    expect(await callTool(tools, 'parse.jsonLines', ['1\n{oops'])).toHaveProperty(
      'failure.message',
      'Line 2 is not JSON; it begins with "{oops"',
    )
  })

  it('is refused when it is not given a text', () => {
    const parsed = methodOf(tools, 'parse.jsonLines').parse([{ a: 1 }])
    expect(parsed.ok ? '' : parsed.error).toContain('`text`: Invalid type: Expected string')
  })
})
