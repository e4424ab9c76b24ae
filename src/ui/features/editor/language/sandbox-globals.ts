/** What a script finds on its global object besides the language itself, as the language service reads it. */
export const sandboxGlobals = `
import type * as holdfast from 'holdfast'

declare global {
  const defineWorkflow: typeof holdfast.defineWorkflow
  const defineAgent: typeof holdfast.defineAgent

  /** Written into the log of the run. */
  const console: {
    log(...values: unknown[]): void
    debug(...values: unknown[]): void
    info(...values: unknown[]): void
    warn(...values: unknown[]): void
    error(...values: unknown[]): void
  }

  function structuredClone<T>(value: T): T
  const crypto: { randomUUID(): string }
  function atob(base64: string): string
  function btoa(text: string): string

  class TextEncoder {
    readonly encoding: 'utf-8'
    encode(text?: string): Uint8Array<ArrayBuffer>
    encodeInto(text: string, bytes: Uint8Array): { read: number; written: number }
  }
  class TextDecoder {
    constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean })
    readonly encoding: 'utf-8'
    decode(bytes?: ArrayBuffer | ArrayBufferView): string
  }

  class URLSearchParams implements Iterable<[string, string]> {
    constructor(init?: string | Record<string, string> | Iterable<[string, string]>)
    readonly size: number
    append(name: string, value: string): void
    delete(name: string, value?: string): void
    get(name: string): string | null
    getAll(name: string): string[]
    has(name: string, value?: string): boolean
    set(name: string, value: string): void
    sort(): void
    forEach(visit: (value: string, name: string, params: URLSearchParams) => void): void
    entries(): IterableIterator<[string, string]>
    keys(): IterableIterator<string>
    values(): IterableIterator<string>
    [Symbol.iterator](): IterableIterator<[string, string]>
    toString(): string
  }
  class URL {
    constructor(href: string | URL, base?: string | URL)
    static canParse(href: string, base?: string): boolean
    static parse(href: string, base?: string): URL | null
    href: string
    readonly origin: string
    protocol: string
    username: string
    password: string
    host: string
    hostname: string
    port: string
    pathname: string
    search: string
    hash: string
    readonly searchParams: URLSearchParams
    toString(): string
    toJSON(): string
  }
}
`
