/** `TextEncoder`, `TextDecoder` (UTF-8 only), `atob`, `btoa`: QuickJS has none of them. */
export const encodingSource = String.raw`(function ({ defineHidden, method, StringOf, TypeErrorOf }) {
const charCodeAt = method(StringOf.prototype.charCodeAt), codePointAt = method(StringOf.prototype.codePointAt)
const { fromCharCode, fromCodePoint } = StringOf
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const REPLACEMENT = 0xfffd

function codePointsOf(text, visit) {
  for (let i = 0; i < text.length; i += 1) {
    const code = codePointAt(text, i)
    if (code > 0xffff) i += 1
    if (visit(code >= 0xd800 && code <= 0xdfff ? REPLACEMENT : code, i + 1) === false) return
  }
}
const utf8Length = (code) => (code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4)
function writeUtf8(bytes, at, code) {
  const length = utf8Length(code)
  if (length === 1) {
    bytes[at] = code
    return 1
  }
  for (let i = length - 1; i > 0; i -= 1) {
    bytes[at + i] = 0x80 | (code & 0x3f)
    code >>= 6
  }
  bytes[at] = (length === 2 ? 0xc0 : length === 3 ? 0xe0 : 0xf0) | code
  return length
}

class TextEncoder {
  get encoding() {
    return 'utf-8'
  }
  encode(input = '') {
    const text = StringOf(input)
    let length = 0
    codePointsOf(text, (code) => void (length += utf8Length(code)))
    const bytes = new Uint8Array(length)
    let at = 0
    codePointsOf(text, (code) => void (at += writeUtf8(bytes, at, code)))
    return bytes
  }
  encodeInto(input, bytes) {
    let read = 0, written = 0
    codePointsOf(StringOf(input), (code, end) => {
      if (written + utf8Length(code) > bytes.length) return false
      written += writeUtf8(bytes, written, code)
      read = end
    })
    return { read, written }
  }
}

function bytesOf(input) {
  if (input === undefined) return new Uint8Array(0)
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
  if (input instanceof ArrayBuffer) return new Uint8Array(input)
  throw new TypeErrorOf('TextDecoder.decode takes an ArrayBuffer or a view of one.')
}

class TextDecoder {
  #fatal
  #ignoreBOM
  constructor(label = 'utf-8', options = {}) {
    if (!/^\s*(utf-?8|unicode-1-1-utf-8)\s*$/i.test(label)) throw new RangeError('TextDecoder: only utf-8 is supported, not ' + label)
    this.#fatal = Boolean(options.fatal)
    this.#ignoreBOM = Boolean(options.ignoreBOM)
  }
  get encoding() {
    return 'utf-8'
  }
  get fatal() {
    return this.#fatal
  }
  get ignoreBOM() {
    return this.#ignoreBOM
  }
  decode(input) {
    const bytes = bytesOf(input)
    let text = '', code = 0, missing = 0, lower = 0x80, upper = 0xbf
    const wrong = () => {
      if (this.#fatal) throw new TypeErrorOf('TextDecoder: the bytes are not valid UTF-8.')
      text += '�'
    }
    const hasBom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
    for (let i = hasBom && !this.#ignoreBOM ? 3 : 0; i < bytes.length; i += 1) {
      const byte = bytes[i]
      if (missing > 0) {
        if (byte < lower || byte > upper) {
          missing = 0
          lower = 0x80
          upper = 0xbf
          wrong()
          i -= 1
          continue
        }
        lower = 0x80
        upper = 0xbf
        code = (code << 6) | (byte & 0x3f)
        missing -= 1
        if (missing === 0) text += fromCodePoint(code)
      } else if (byte < 0x80) {
        text += fromCharCode(byte)
      } else if (byte >= 0xc2 && byte <= 0xdf) {
        missing = 1
        code = byte & 0x1f
      } else if (byte >= 0xe0 && byte <= 0xef) {
        if (byte === 0xe0) lower = 0xa0
        if (byte === 0xed) upper = 0x9f
        missing = 2
        code = byte & 0x0f
      } else if (byte >= 0xf0 && byte <= 0xf4) {
        if (byte === 0xf0) lower = 0x90
        if (byte === 0xf4) upper = 0x8f
        missing = 3
        code = byte & 0x07
      } else {
        wrong()
      }
    }
    if (missing > 0) wrong()
    return text
  }
}

function invalid(message) {
  const error = new Error(message)
  defineHidden(error, 'name', 'InvalidCharacterError')
  return error
}
function btoa(input) {
  const text = StringOf(input)
  let out = ''
  for (let i = 0; i < text.length; i += 3) {
    const a = charCodeAt(text, i)
    const b = i + 1 < text.length ? charCodeAt(text, i + 1) : 0
    const c = i + 2 < text.length ? charCodeAt(text, i + 2) : 0
    if (a > 255 || b > 255 || c > 255) throw invalid('btoa: the text has characters outside of Latin-1.')
    out += ALPHABET[a >> 2] + ALPHABET[((a & 3) << 4) | (b >> 4)]
    out += i + 1 < text.length ? ALPHABET[((b & 15) << 2) | (c >> 6)] : '='
    out += i + 2 < text.length ? ALPHABET[c & 63] : '='
  }
  return out
}
function atob(input) {
  let text = StringOf(input).replace(/[\t\n\f\r ]/g, '')
  if (text.length % 4 === 0) text = text.replace(/={1,2}$/, '')
  if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text)) throw invalid('atob: the text is not base64.')
  let out = '', bits = 0, held = 0
  for (let i = 0; i < text.length; i += 1) {
    held = ((held << 6) | ALPHABET.indexOf(text[i])) & 0xfff
    bits += 6
    if (bits >= 8) {
      bits -= 8
      out += fromCharCode((held >> bits) & 0xff)
    }
  }
  return out
}

defineHidden(globalThis, 'TextEncoder', TextEncoder)
defineHidden(globalThis, 'TextDecoder', TextDecoder)
defineHidden(globalThis, 'btoa', btoa)
defineHidden(globalThis, 'atob', atob)
})`
