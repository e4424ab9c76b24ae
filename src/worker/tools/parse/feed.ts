import { attribute, tokens } from './markup.ts'
import { htmlToText } from './html.ts'

export interface FeedItem {
  /** The guid or id the feed gives, else the link: stable, so it serves as the messageId of an event. */
  id: string
  title: string
  link: string
  summary: string
  author: string
  /** ISO 8601, null when there is none that can be read. */
  publishedAt: string | null
}

export interface Feed {
  title: string
  link: string
  items: FeedItem[]
}

interface Element {
  name: string
  attributes: string
  children: Element[]
  text: string
}

/** RSS 0.9x, 1.0 and 2.0, and Atom. Undefined when the text is neither. */
export function parseFeed(source: string): Feed | undefined {
  const root = readTree(source)
  const channel = find(root, 'channel') ?? find(root, 'feed')
  if (!channel) return undefined
  // RSS 1.0 puts its items beside the channel.
  const entries = [
    ...childrenOf(channel, 'item'),
    ...childrenOf(channel, 'entry'),
    ...childrenOf(find(root, 'rdf'), 'item'),
  ]
  return { title: htmlToText(textOf(channel, 'title')), link: linkOf(channel), items: entries.map(readItem) }
}

function readItem(entry: Element): FeedItem {
  const link = linkOf(entry)
  const summary =
    textOf(entry, 'summary') || textOf(entry, 'description') || textOf(entry, 'content') || textOf(entry, 'encoded')
  const author = childrenOf(entry, 'author')[0]
  const title = htmlToText(textOf(entry, 'title'))
  return {
    id: textOf(entry, 'guid') || textOf(entry, 'id') || link || title,
    title,
    link,
    summary: htmlToText(summary),
    author: (author && (textOf(author, 'name') || author.text.trim())) ?? textOf(entry, 'creator'),
    publishedAt: readDate(
      textOf(entry, 'pubdate') || textOf(entry, 'published') || textOf(entry, 'updated') || textOf(entry, 'date'),
    ),
  }
}

function linkOf(element: Element): string {
  const links = childrenOf(element, 'link')
  const alternate = links.find(({ attributes }) => [undefined, 'alternate'].includes(attribute(attributes, 'rel')))
  const chosen = alternate ?? links[0]
  return chosen ? (attribute(chosen.attributes, 'href') ?? chosen.text.trim()) : ''
}

function readDate(text: string): string | null {
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : new Date(at).toISOString()
}

/** Feeds are shallow; the limit keeps a tower of tags from costing more than its length. */
const DEEPEST = 64

function readTree(source: string): Element {
  const root: Element = { name: '', attributes: '', children: [], text: '' }
  const open = [root]
  for (const token of tokens(source)) {
    const current = open.at(-1) ?? root
    if (token.kind === 'text') current.text += token.text
    else if (token.kind === 'open') {
      const element = { name: localName(token.name), attributes: token.attributes, children: [], text: '' }
      current.children.push(element)
      if (!token.isEmpty && open.length < DEEPEST) open.push(element)
    } else {
      const at = open.findLastIndex(({ name }) => name === localName(token.name))
      if (at > 0) open.length = at
    }
  }
  return root
}

/** `dc:creator` and `creator` are the same to us. */
const localName = (name: string): string => name.slice(name.indexOf(':') + 1).toLowerCase()

const childrenOf = (element: Element | undefined, name: string): Element[] =>
  element?.children.filter((child) => child.name === name) ?? []

const textOf = (element: Element, name: string): string =>
  childrenOf(element, name)
    .map(allText)
    .find((text) => text !== '') ?? ''

/** XHTML inside of Atom is elements, not text. */
const allText = (element: Element): string => [element.text, ...element.children.map(allText)].join(' ').trim()

/** Feeds are shallow; what is deeper is content. */
function find(element: Element, name: string, depth = 3): Element | undefined {
  if (depth === 0) return undefined
  for (const child of element.children) {
    const found = child.name === name ? child : find(child, name, depth - 1)
    if (found) return found
  }
  return undefined
}
