import type { Database } from 'sql.js'
import { filenameOf, type FileCalls } from './calibrate.ts'
import type { FileMirror } from './file-mirror.ts'
import { gather, isFileName, textAt } from './wasm-arguments.ts'
import type { WatchedImports } from './watched-imports.ts'

export interface TappedFile {
  readonly mirror: FileMirror
  /** Set once something was seen that the tap does not understand: from then on the mirror cannot be trusted. */
  readonly fault: string | null
  /** Called within COMMIT, for every write. */
  onWrite: (() => void) | null
}

class OpenFile implements TappedFile {
  readonly mirror: FileMirror
  fault: string | null = null
  onWrite: (() => void) | null = null
  filename = ''
  /** Known between a seek and the write after it. SQLite seeks before each write. */
  position: number | undefined

  constructor(mirror: FileMirror) {
    this.mirror = mirror
  }
}

/** Sees every change of the main file of the databases opened through it, and repeats it on their mirror. */
export interface Tap {
  /** `create` must open exactly one database on the bytes it is given. */
  open(mirror: FileMirror, create: (bytes: Uint8Array) => Database): { database: Database; file: TappedFile }
  /** After the database was closed: its number may be given to another file. */
  release(file: TappedFile): void
}

export class WriteTap implements Tap {
  readonly #imports: WatchedImports
  readonly #files = new Map<unknown, OpenFile>()
  #opening: OpenFile | null = null

  constructor(imports: WatchedImports, calls: FileCalls) {
    this.#imports = imports
    imports.watch(calls.open, (args, call) => this.#open(args, call))
    imports.watch(calls.seek, (args, call) => this.#seek(args, call))
    imports.watch(calls.write, (args, call) => this.#write(args, call))
    imports.watch(calls.truncate, (args, call) => this.#truncate(args, call))
  }

  open(mirror: FileMirror, create: (bytes: Uint8Array) => Database): { database: Database; file: TappedFile } {
    const file = new OpenFile(mirror)
    this.#opening = file
    try {
      const database = create(mirror.offer())
      if (!isFileName(file.filename, filenameOf(database))) file.fault = 'The opening of the main file was not seen.'
      return { database, file }
    } finally {
      this.#opening = null
    }
  }

  release(file: TappedFile): void {
    for (const [number, open] of this.#files) if (open === file) this.#files.delete(number)
  }

  #open(args: unknown[], call: () => unknown): unknown {
    const file = this.#opening
    const path = args
      .map((arg) => textAt(this.#imports.memory, arg))
      .find((text) => /(^|\/)dbfile_\d+$/.test(text ?? ''))
    const number = call()
    if (file && path !== undefined && typeof number === 'number' && number >= 0) {
      file.filename = path
      this.#files.set(number, file)
    }
    return number
  }

  #seek(args: unknown[], call: () => unknown): unknown {
    const result = call()
    const file = this.#files.get(args[0])
    if (file) file.position = args[2] === 0 && result === 0 ? Number(args[1]) : undefined
    return result
  }

  #write(args: unknown[], call: () => unknown): unknown {
    const file = this.#files.get(args[0])
    if (!file) return call()
    const at = file.position
    const bytes = gather(this.#imports.memory, args[1], args[2])
    file.position = undefined
    if (at === undefined || !bytes) {
      file.fault = 'A write of the main file came without a position or without bytes.'
      return call()
    }
    file.mirror.compare(at, bytes)
    const result = call()
    const written = wordAt(this.#imports, args[3])
    if (result !== 0 || written !== bytes.length) file.fault = 'A write of the main file was cut short.'
    file.mirror.absorb(at, bytes)
    file.onWrite?.()
    return result
  }

  #truncate(args: unknown[], call: () => unknown): unknown {
    const result = call()
    const file = this.#files.get(args[0])
    if (file && result === 0) {
      file.mirror.setSize(Number(args[1]))
      file.onWrite?.()
    }
    return result
  }
}

const wordAt = (imports: WatchedImports, pointer: unknown): number | undefined =>
  typeof pointer === 'number' ? new DataView(imports.memory.buffer).getUint32(pointer, true) : undefined
