import { attribute, tokens } from './markup.ts'

export interface Page {
  title: string
  text: string
  links: { href: string; text: string }[]
}

const INVISIBLE = new Set(['script', 'style', 'template', 'noscript', 'textarea', 'svg', 'head'])
const BREAKS = new Set(
  'address article aside blockquote br dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tr ul'.split(
    ' ',
  ),
)
/** Inside of these `<` begins no tag. */
const RAW: ReadonlySet<string> = new Set(['script', 'style', 'textarea'])

/** What a reader would see: no mark-up, scripts or styles; one line per block. */
export function parsePage(html: string): Page {
  let text = ''
  let title = ''
  const links: Page['links'] = []
  let link: Page['links'][number] | undefined
  let hidden = 0
  let isTitle = false
  for (const token of tokens(html, RAW)) {
    if (token.kind === 'text') {
      if (isTitle) title += token.text
      else if (hidden === 0) {
        text += token.text.replace(/\s+/g, ' ')
        if (link) link.text += token.text
      }
      continue
    }
    const name = token.name.toLowerCase()
    if (name === 'title') isTitle = token.kind === 'open'
    if (INVISIBLE.has(name)) hidden = Math.max(0, hidden + (token.kind === 'close' ? -1 : token.isEmpty ? 0 : 1))
    if (name === 'body') hidden = 0
    if (BREAKS.has(name)) text += '\n'
    if (name === 'td' || name === 'th') text += ' '
    if (name === 'a') {
      const href = token.kind === 'open' ? attribute(token.attributes, 'href') : undefined
      link = href === undefined ? undefined : { href, text: '' }
      if (link) links.push(link)
    }
  }
  return {
    title: oneLine(title),
    text: tidy(text),
    links: links.map(({ href, text: words }) => ({ href, text: oneLine(words) })),
  }
}

export const htmlToText = (html: string): string => (/[<&]/.test(html) ? parsePage(html).text : tidy(html))

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
const tidy = (text: string): string =>
  text
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
