/** `URL` and `URLSearchParams`. The parsing is the host's own, so that a script and the fetch after it mean the same address. */
export const urlSource = String.raw`(function ({ hostCall, parse, stringify, defineHidden, StringOf, TypeErrorOf }) {
const partsOf = (request) => {
  const question = stringify(request)
  const text = question.length > 2e6 ? undefined : hostCall(0, 'url', question)
  return text === undefined ? undefined : parse(text)
}
const decode = (text) => {
  const spaced = text.replace(/\+/g, ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    const bytes = []
    const encoded = new TextEncoder().encode(spaced)
    for (let i = 0; i < encoded.length; i += 1) {
      const hex = encoded[i] === 37 ? StringOf.fromCharCode(encoded[i + 1], encoded[i + 2]) : ''
      if (/^[0-9a-f]{2}$/i.test(hex)) {
        bytes.push(parseInt(hex, 16))
        i += 2
      } else bytes.push(encoded[i])
    }
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(new Uint8Array(bytes))
  }
}
const encode = (text) =>
  encodeURIComponent(text.toWellFormed())
    .replace(/%20/g, '+')
    .replace(/[!'()~]/g, (char) => '%' + char.charCodeAt(0).toString(16).toUpperCase())

class URLSearchParams {
  #pairs = []
  #changed = () => {}
  constructor(init = '') {
    if (typeof init === 'object' && init !== null) {
      const entries = typeof init[Symbol.iterator] === 'function' ? [...init] : Object.entries(init)
      for (const entry of entries) {
        const [name, value, ...rest] = entry
        if (value === undefined || rest.length > 0) throw new TypeErrorOf('URLSearchParams: each entry is a pair of name and value.')
        this.#pairs.push([StringOf(name), StringOf(value)])
      }
    } else this.#read(StringOf(init))
  }
  #read(text) {
    this.#pairs = []
    for (const part of text.replace(/^\?/, '').split('&')) {
      if (part === '') continue
      const at = part.indexOf('=')
      this.#pairs.push(at < 0 ? [decode(part), ''] : [decode(part.slice(0, at)), decode(part.slice(at + 1))])
    }
  }
  static follow(search, changed) {
    const params = new URLSearchParams(search)
    params.#changed = changed
    return params
  }
  static refresh(params, search) {
    params.#read(search)
  }
  append(name, value) {
    this.#pairs.push([StringOf(name), StringOf(value)])
    this.#changed()
  }
  delete(name, value) {
    this.#pairs = this.#pairs.filter((pair) => pair[0] !== StringOf(name) || (value !== undefined && pair[1] !== StringOf(value)))
    this.#changed()
  }
  get(name) {
    return this.#pairs.find((pair) => pair[0] === StringOf(name))?.[1] ?? null
  }
  getAll(name) {
    return this.#pairs.filter((pair) => pair[0] === StringOf(name)).map((pair) => pair[1])
  }
  has(name, value) {
    return this.#pairs.some((pair) => pair[0] === StringOf(name) && (value === undefined || pair[1] === StringOf(value)))
  }
  set(name, value) {
    const at = this.#pairs.findIndex((pair) => pair[0] === StringOf(name))
    if (at < 0) this.#pairs.push([StringOf(name), StringOf(value)])
    else {
      this.#pairs[at][1] = StringOf(value)
      this.#pairs = this.#pairs.filter((pair, i) => i <= at || pair[0] !== StringOf(name))
    }
    this.#changed()
  }
  sort() {
    this.#pairs.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0))
    this.#changed()
  }
  forEach(visit, self) {
    for (const [name, value] of this) visit.call(self, value, name, this)
  }
  *entries() {
    for (let i = 0; i < this.#pairs.length; i += 1) yield [this.#pairs[i][0], this.#pairs[i][1]]
  }
  *keys() {
    for (const [name] of this.entries()) yield name
  }
  *values() {
    for (const [, value] of this.entries()) yield value
  }
  get size() {
    return this.#pairs.length
  }
  toString() {
    return this.#pairs.map(([name, value]) => encode(name) + '=' + encode(value)).join('&')
  }
}
defineHidden(URLSearchParams.prototype, Symbol.iterator, URLSearchParams.prototype.entries)
defineHidden(URLSearchParams.prototype, Symbol.toStringTag, 'URLSearchParams')
const { follow, refresh } = URLSearchParams
delete URLSearchParams.follow
delete URLSearchParams.refresh

class URL {
  #parts
  #params
  constructor(href, base) {
    this.#parts = partsOf(base === undefined ? ['parse', StringOf(href)] : ['parse', StringOf(href), StringOf(base)])
    if (this.#parts === undefined) throw new TypeErrorOf('Invalid URL: ' + StringOf(href))
  }
  #set(name, value) {
    const parts = partsOf(['set', this.#parts.href, name, StringOf(value)])
    if (parts === undefined) throw new TypeErrorOf('Invalid URL: ' + StringOf(value))
    this.#parts = parts
  }
  static #define(name) {
    Object.defineProperty(URL.prototype, name, {
      configurable: true,
      enumerable: true,
      get() {
        return this.#parts[name]
      },
      set(value) {
        this.#set(name, value)
        if (this.#params !== undefined) refresh(this.#params, this.#parts.search)
      },
    })
  }
  static {
    for (const name of ['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash']) {
      URL.#define(name)
    }
  }
  get origin() {
    return this.#parts.origin
  }
  get searchParams() {
    this.#params ??= follow(this.#parts.search, () => this.#set('search', this.#params.toString()))
    return this.#params
  }
  toString() {
    return this.#parts.href
  }
  toJSON() {
    return this.#parts.href
  }
  static canParse(href, base) {
    return URL.parse(href, base) !== null
  }
  static parse(href, base) {
    try {
      return new URL(href, base)
    } catch {
      return null
    }
  }
}
defineHidden(URL.prototype, Symbol.toStringTag, 'URL')
defineHidden(globalThis, 'URL', URL)
defineHidden(globalThis, 'URLSearchParams', URLSearchParams)
})`
